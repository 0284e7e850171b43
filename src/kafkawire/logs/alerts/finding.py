"""Finds alerts in the turns of histories, in the order of the log. It holds no more than rules have to know."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

import msgspec

from kafkawire.logs.alerts.changes import (
    AclChange,
    AnyChange,
    ConfigChange,
    CredentialChange,
    KnownState,
    TopicChange,
)
from kafkawire.logs.alerts.rules import ALERT_RULES, AlertRule, AlertSeverity
from kafkawire.logs.folding.intervals import Moment, Values
from kafkawire.logs.folding.journaled_ledger import Turn
from kafkawire.logs.histories.acl import binding_of
from kafkawire.logs.histories.config import ConfigKey
from kafkawire.logs.histories.scram import CredentialKey
from kafkawire.logs.tables.enum_names import MECHANISMS
from kafkawire.logs.times import datetime_of
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.tolerant_enums import MembersByCode

WATCHED: Final = ("acl_history", "config_history", "scram_history", "topic_history")
"""The histories that rules look at. At one place of the log, ACLs change before topics."""

_CONFIG_TYPES: Final = MembersByCode(ConfigResourceType)


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


class HistoryTurn(NamedTuple):
    """A turn of a history.

    Attributes:
        history: its name.
        turn: the beginning or the end of an interval.
    """

    history: str
    turn: Turn[Any]

    @property
    def place(self) -> tuple[int, int]:
        """The order of turns: by the place in the log, and topics after ACLs. Turns of one history stay in order."""
        _, offset = self.turn.at
        return -1 if offset is None else offset, WATCHED.index(self.history)


class AlertFinder:
    """Applies rules to turns. It takes those of a log in their order, in any number of portions.

    Args:
        rules: which rules; all by default.
    """

    def __init__(self, rules: Iterable[AlertRule] = tuple(ALERT_RULES.values())) -> None:
        self._rules = list(rules)
        self._state = KnownState()
        self._ended: dict[tuple[str, Hashable], Values | None] = {}
        self._ended_at: int | None = None

    def find(self, turns: Sequence[HistoryTurn]) -> Iterator[Alert]:
        """The alerts of the next turns; in a portion, their order does not matter between histories."""
        for history, turn in sorted(turns, key=lambda each: each.place):
            for change in self._changes(history, turn):
                yield from self._alerts(history, change, turn.at)
                self._state.apply(change)

    def _alerts(self, history: str, change: AnyChange, at: Moment) -> Iterator[Alert]:
        time, offset = at
        for rule in self._rules:
            if rule.looks_at == history:
                for found in rule.find(change, self._state):
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

    def _changes(self, history: str, turn: Turn[Any]) -> Iterator[AnyChange]:
        """The change that a turn is. Of two that follow each other at one place, the second one has both values."""
        interval = turn.interval
        if interval.values is None:
            return
        time, _ = turn.at
        match history:
            case "acl_history":
                yield AclChange(interval.key, binding_of(cast("bytes", interval.values)), is_removal=turn.is_end)
            case "topic_history":
                name, _ = cast("tuple[str, int]", interval.values)
                yield TopicChange(interval.key, name, is_deletion=turn.is_end, time=time)
            case _ if turn.is_end:
                self._note_end(history, turn)
            case "config_history":
                yield _config_change(interval.key, self._values_before(history, turn), interval.values, time)
            case "scram_history":
                before = self._values_before(history, turn)
                if before is not None:
                    yield _credential_change(interval.key, before, interval.values)

    def _note_end(self, history: str, turn: Turn[Any]) -> None:
        _, offset = turn.at
        if offset != self._ended_at:
            self._ended.clear()
            self._ended_at = offset
        self._ended[history, turn.interval.key] = turn.interval.values

    def _values_before(self, history: str, turn: Turn[Any]) -> Values | None:
        """The values of the key until the same place of the log; None if it had none."""
        _, offset = turn.at
        return self._ended.get((history, turn.interval.key)) if offset == self._ended_at else None


def _config_change(key: ConfigKey, before: Values | None, after: Values, time: int | None) -> ConfigChange:
    code, resource, name = key
    one, other = (None if each is None else cast("tuple[str | None]", each)[0] for each in (before, after))
    return ConfigChange(ConfigResource(_CONFIG_TYPES[code], resource), name, one, other, time)


def _credential_change(key: CredentialKey, before: Values, after: Values) -> CredentialChange:
    user, code = key
    iterations = [cast("tuple[int, object, object]", each)[0] for each in (before, after)]
    return CredentialChange(user, MECHANISMS[code] or "", *iterations)
