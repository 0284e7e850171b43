"""Finds alerts in the turns of histories, in the order of the log. It holds no more than rules have to know."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import datetime

import msgspec

from kafkawire.logs.alert_rules.changes import (
    AclChange,
    AnyChange,
    ConfigChange,
    CredentialChange,
    KnownState,
    TopicChange,
)
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule, AlertSeverity
from kafkawire.logs.alerts.turns import (
    WATCHED,
    Acl,
    Config,
    Credential,
    HistoryTurn,
    Row,
    Subject,
    Topic,
    turns_of_rows,
)
from kafkawire.logs.times import datetime_of


class Alert(msgspec.Struct, frozen=True):
    """What a rule found in a log.

    Attributes:
        rule: id of the rule.
        severity: of the rule.
        time: of the change; None if unknown.
        log_offset: of the record; the end offset of a snapshot, if the change is known from a snapshot alone.
        resource_type, resource_name: what it happened to.
        principal: who it is about; None for none.
        message: what happened.
    """

    rule: str
    severity: AlertSeverity
    time: datetime | None
    log_offset: int | None
    resource_type: str
    resource_name: str
    principal: str | None
    message: str


class AlertFinder:
    """Applies rules to the changes of one log, which come in their order, in any number of portions.

    Memory holds the ACLs of topics by name, the topics, and the configs of all brokers.

    Args:
        rules: which rules; all by default.

    Attributes:
        known: what rules know so far.

    Example:
        ```python
        from kafkawire.logs import AlertFinder

        row = {
            "acl_id": "1f2e",
            "principal": "User:*",
            "host": "*",
            "resource_type_code": 2,
            "resource_name": "orders",
            "pattern_type_code": 3,
            "operation_code": 3,
            "permission_code": 3,
            "valid_from": None,
            "valid_to": None,
            "from_offset": 17,
            "to_offset": None,
        }
        (alert,) = AlertFinder().find_in_rows({"acl_history": [row]})
        print(alert.rule, alert.message)
        ```
    """

    def __init__(self, rules: Iterable[AlertRule] = tuple(ALERT_RULES.values())) -> None:
        chosen = list(rules)
        self._rules = {name: [rule for rule in chosen if rule.looks_at == name] for name in WATCHED}
        self.known = KnownState()
        self._ended: dict[tuple[str, Hashable], HistoryTurn] = {}
        self._ended_at: int | None = None
        self._last: int | None = None

    def find_in_rows(self, histories: Mapping[str, Iterable[Row]]) -> list[Alert]:
        """The alerts of rows of histories, such as a job wrote or a stream brings.

        A row may come again when it is closed: what was found in it before is not found again.

        Args:
            histories: rows of one log by the name of their table; those of other tables are left out. Times are
                datetimes, and ``from_offset`` and ``to_offset`` must be there.

        Raises:
            KeyError: a row lacks a column.
        """
        turns = [turn for name in WATCHED for turn in turns_of_rows(name, histories.get(name, ()), self._last)]
        return list(self.find(turns))

    def find(self, turns: Iterable[HistoryTurn]) -> Iterator[Alert]:
        """The alerts of the next turns. Those of one history are in order; between histories it does not matter."""
        for turn in sorted(turns, key=_place):
            change = self._change(turn)
            _, offset = turn.at
            if offset is not None:
                self._last = offset
            if change is None:
                continue
            if offset is not None:  # else it was there at the beginning, which is no change
                yield from self._alerts(turn, change)
            self.known.apply(change)

    def _alerts(self, turn: HistoryTurn, change: AnyChange) -> Iterator[Alert]:
        time, offset = turn.at
        for rule in self._rules[turn.history]:
            for found in rule.find(change, self.known):
                yield Alert(
                    rule.id,
                    rule.severity,
                    None if time is None else datetime_of(time),
                    offset,
                    found.resource_type,
                    found.resource_name,
                    found.principal,
                    found.message,
                )

    def _change(self, turn: HistoryTurn) -> AnyChange | None:
        """The change that a turn is. Of an end and a beginning at one place, the beginning is the change."""
        time, _ = turn.at
        match turn.subject:
            case Acl(acl_id, acl):
                return AclChange(acl_id, acl, turn.is_end)
            case Topic(topic_id, name):
                return TopicChange(topic_id, name, turn.is_end, time)
            case _ if turn.is_end:
                self._note_end(turn)
            case Config(resource, name, value):
                before = self._before(turn)
                return ConfigChange(resource, name, before.value if isinstance(before, Config) else None, value, time)
            case Credential(user, mechanism, iterations):
                before = self._before(turn)
                if isinstance(before, Credential):
                    return CredentialChange(user, mechanism, before.iterations, iterations)
        return None

    def _note_end(self, turn: HistoryTurn) -> None:
        _, offset = turn.at
        if offset != self._ended_at:
            self._ended.clear()
            self._ended_at = offset
        self._ended[turn.history, turn.subject.key] = turn

    def _before(self, turn: HistoryTurn) -> Subject | None:
        """What the key had until the same place of the log; None if it had nothing."""
        _, offset = turn.at
        ended = self._ended.get((turn.history, turn.subject.key)) if offset == self._ended_at else None
        return None if ended is None else ended.subject


def _place(turn: HistoryTurn) -> tuple[int, int]:
    """The order of turns: by the place in the log, and topics after ACLs."""
    _, offset = turn.at
    return -1 if offset is None else offset, WATCHED.index(turn.history)
