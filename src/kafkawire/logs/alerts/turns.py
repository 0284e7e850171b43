"""The beginnings and ends of intervals that rules look at: from the folds of a log, and from rows of histories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

import msgspec

from kafkawire.logs.folding.intervals import Interval, Moment
from kafkawire.logs.folding.journaled_ledger import Turn
from kafkawire.logs.histories.acl import acl_of, binding_of
from kafkawire.logs.tables.enum_names import MECHANISMS
from kafkawire.logs.times import milliseconds
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.tolerant_enums import MembersByCode

WATCHED: Final = ("acl_history", "config_history", "scram_history", "topic_history")
"""The histories that rules look at. At one place of the log, ACLs change before topics."""

Row: TypeAlias = Mapping[str, object]
"""A row of a history, by the names of its columns; times are datetimes."""

_CONFIG_TYPES: Final = MembersByCode(ConfigResourceType)
_ACL: Final = (
    *("principal", "host", "resource_type_code", "resource_name", "pattern_type_code"),
    *("operation_code", "permission_code"),
)
_PLACES: Final = ("valid_from", "from_offset"), ("valid_to", "to_offset")


class Acl(msgspec.Struct, frozen=True, gc=False):
    """An ACL by its id."""

    acl_id: str
    acl: AclBinding

    @property
    def key(self) -> Hashable:
        """What identifies it in its history."""
        return self.acl_id


class Topic(msgspec.Struct, frozen=True, gc=False):
    """A topic by its id."""

    topic_id: str
    name: str

    @property
    def key(self) -> Hashable:
        """What identifies it in its history."""
        return self.topic_id


class Config(msgspec.Struct, frozen=True, gc=False):
    """A config of a resource, and its value; None where it was unset."""

    resource: ConfigResource
    name: str
    value: str | None

    @property
    def key(self) -> Hashable:
        """What identifies it in its history."""
        return self.resource, self.name


class Credential(msgspec.Struct, frozen=True, gc=False):
    """A SCRAM credential of a user, and its iterations."""

    user: str
    mechanism: str
    iterations: int

    @property
    def key(self) -> Hashable:
        """What identifies it in its history."""
        return self.user, self.mechanism


Subject: TypeAlias = Acl | Topic | Config | Credential


class HistoryTurn(msgspec.Struct, frozen=True, gc=False):
    """The beginning or the end of an interval of a history.

    Attributes:
        history: name of the history.
        subject: what held during the interval.
        at: when: time in milliseconds, and offset of the record; None for what was there at the beginning.
        is_end: whether it ended.
    """

    history: str
    subject: Subject
    at: Moment
    is_end: bool


def turns_of_fold(history: str, turns: Iterable[Turn[Any]]) -> Iterator[HistoryTurn]:
    """The turns of the fold of a history; those of which only the end is known are left out."""
    for turn in turns:
        if turn.interval.values is not None:
            yield HistoryTurn(history, _OF_INTERVAL[history](turn.interval), turn.at, turn.is_end)


def turns_of_rows(history: str, rows: Iterable[Row], after: int | None = None) -> Iterator[HistoryTurn]:
    """The turns of rows of a history.

    Args:
        history: name of the history.
        rows: of one log, in any order, with ``from_offset`` and ``to_offset``.
        after: only turns after this offset, where rows come in portions: a row that is closed now began before.

    Raises:
        KeyError: a row lacks a column.
    """
    rows_of: dict[Hashable, list[tuple[Subject, Row]]] = defaultdict(list)
    for row in rows:
        subject = _OF_ROW[history](row)
        if subject is not None:
            rows_of[subject.key].append((subject, row))
    for same in rows_of.values():
        for subject, row in sorted(same, key=lambda each: _order(each[1])):
            for is_end, (time_column, offset_column) in enumerate(_PLACES):
                time, offset = row[time_column], cast("int | None", row[offset_column])
                is_still_open = is_end and offset is None
                is_new = after is None or (offset is not None and offset > after)
                if is_new and not is_still_open:
                    at = milliseconds(time) if isinstance(time, datetime) else None, offset
                    yield HistoryTurn(history, subject, at, bool(is_end))


def _order(row: Row) -> tuple[float, float]:
    """The rows of a key follow each other; one may begin and end at the offset of a snapshot."""
    begin, end = row["from_offset"], row["to_offset"]
    return begin if isinstance(begin, int) else -1, end if isinstance(end, int) else float("inf")


def _config(interval: Interval[Any]) -> Config:
    code, resource, name = interval.key
    (value,) = cast("tuple[str | None]", interval.values)
    return Config(ConfigResource(_CONFIG_TYPES[code], resource), name, value)


def _credential(interval: Interval[Any]) -> Credential:
    user, code = interval.key
    iterations, *_ = cast("tuple[int, object, object]", interval.values)
    return Credential(user, MECHANISMS[code] or "", iterations)


def _topic(interval: Interval[Any]) -> Topic:
    name, _ = cast("tuple[str, int]", interval.values)
    return Topic(interval.key, name)


_OF_INTERVAL: Final[Mapping[str, Callable[[Interval[Any]], Subject]]] = {
    "acl_history": lambda interval: Acl(interval.key, binding_of(cast("bytes", interval.values))),
    "config_history": _config,
    "scram_history": _credential,
    "topic_history": _topic,
}


def _acl_of_row(row: Row) -> Acl | None:
    """The ACL; None where the log has only its removal."""
    return None if row["principal"] is None else Acl(str(row["acl_id"]), acl_of([row[name] for name in _ACL]))


def _config_of_row(row: Row) -> Config:
    resource = ConfigResource(_CONFIG_TYPES[cast("int", row["resource_type_code"])], str(row["resource_name"]))
    return Config(resource, str(row["name"]), cast("str | None", row["value"]))


def _credential_of_row(row: Row) -> Credential | None:
    iterations = row["iterations"]
    return Credential(str(row["user"]), str(row["mechanism"]), iterations) if isinstance(iterations, int) else None


def _topic_of_row(row: Row) -> Topic | None:
    return None if row["name"] is None else Topic(str(row["topic_id"]), str(row["name"]))


_OF_ROW: Final[Mapping[str, Callable[[Row], Subject | None]]] = {
    "acl_history": _acl_of_row,
    "config_history": _config_of_row,
    "scram_history": _credential_of_row,
    "topic_history": _topic_of_row,
}
