"""``group_history``: a row for each state of a member, and for each state of a group without members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

import msgspec
import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.coordinator_decoder import DecodedRecord
from kafkawire.logs.folding.coordinator_fold import HistoryRow, Place, RecordFold
from kafkawire.logs.folding.coordinator_parts import RoutedHistory
from kafkawire.logs.folding.saved_state import decode_saved
from kafkawire.logs.histories.group_records import GROUP_RECORDS, GroupRecords, group_of
from kafkawire.logs.histories.group_state import Group
from kafkawire.logs.times import TIMESTAMP
from kafkawire.wire import Message

_ASSIGNMENT: Final[Mapping[str, pa.DataType]] = {
    "topic": pa.string(),
    "topic_id": pa.string(),
    "subtopology_id": pa.string(),
    "role": pa.string(),
    "partitions": pa.list_(pa.int32()),
}
_VALUES: Final[Mapping[str, pa.DataType]] = {
    "kind": pa.string(),
    "epoch": pa.int32(),
    "protocol": pa.string(),
    "leader": pa.string(),
    "member_id": pa.string(),
    "client_id": pa.string(),
    "client_host": pa.string(),
    "instance_id": pa.string(),
    "topics": pa.list_(pa.string()),
    "assignment": pa.list_(pa.struct(pa.schema(_ASSIGNMENT))),
}

_COLUMNS: Final[Mapping[str, pa.DataType]] = {"group_id": pa.string(), **_VALUES}


class _GroupRow(HistoryRow, gc=False, kw_only=True):
    """A state of a member, or of a group without members.

    Its place is the record that began the state; of several records of one time and batch, the last.

    Attributes:
        group_id: the group.
        values: the columns ``_VALUES``; None if they could not be read.
    """

    group_id: str | None = None
    values: tuple[object, ...] | None = None


class _ChangedGroup(msgspec.Struct):
    """A group that changed: the last record about it, and the members that changed, or None if any may have."""

    place: Place
    members: set[str] | None


class _SavedRow(msgspec.Struct, array_like=True, frozen=True):
    group_id: str
    member_id: str | None
    place: Place
    valid_from: int | None
    error: str | None


class _Saved(msgspec.Struct, array_like=True, frozen=True):
    """The state of all groups, and their rows without the values, which follow from it."""

    groups: dict[str, Group]
    rows: list[_SavedRow]


class _GroupsReducer:
    """The rows of all groups.

    Records of one batch and time are one change, since the coordinator writes all records of a step at once. Memory is
    bounded by the members of all groups.
    """

    RECORDS: ClassVar[frozenset[str]] = GROUP_RECORDS

    def __init__(self) -> None:
        self.ended: list[_GroupRow] = []
        self._records = GroupRecords()
        self._rows: dict[str, dict[str | None, _GroupRow]] = {}
        self._changed: dict[str, _ChangedGroup] = {}

    def owner_of(self, key: Message) -> str | None:
        """See ``RowReducer``."""
        return group_of(key)

    def apply(self, record: DecodedRecord, place: Place) -> str | None:
        """See ``RowReducer``; a null value removes the group, member or assignment of the key."""
        if record.key is None or (record.value is None and not record.is_tombstone):
            self.ended.append(
                _GroupRow(
                    place=place,
                    group_id=None if record.key is None else group_of(record.key),
                    valid_from=place.append_time,
                    valid_to=place.append_time,
                    error=record.error,
                    corrupt=record.raw,
                )
            )
            return None
        changed = self._records.apply(record.key, record.value)
        if changed is None:
            return None
        group_id, member_id = changed
        change = self._changed.setdefault(group_id, _ChangedGroup(place, set()))
        change.place = place
        if member_id is None:
            change.members = None
        elif change.members is not None:
            change.members.add(member_id)
        return self._records.error_of(group_id) if record.type == "GroupMetadata" else None

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """See ``RowReducer``."""
        self.ended.append(_GroupRow(place=place, error=code, corrupt=raw, lost=True))

    def end_step(self) -> None:
        """See ``RowReducer``: make rows of the changes of a step."""
        for group_id, change in self._changed.items():
            self._renew(group_id, change.members, change.place)
        self._changed.clear()

    def still_open(self) -> Iterator[_GroupRow]:
        """The current rows, in the order of the log."""
        rows = (row for members in self._rows.values() for row in members.values())
        return iter(sorted(rows, key=lambda row: row.place.log_offset))

    def save(self) -> bytes:
        """See ``RowReducer``."""
        rows = [
            _SavedRow(group_id, member_id, row.place, row.valid_from, row.error)
            for group_id, members in self._rows.items()
            for member_id, row in members.items()
        ]
        return msgspec.msgpack.encode(_Saved(self._records.groups, rows))

    def resume(self, octets: bytes) -> None:
        """See ``RowReducer``."""
        saved = decode_saved(octets, _Saved)
        self._records.groups = saved.groups
        for row in saved.rows:
            self._rows.setdefault(row.group_id, {})[row.member_id] = _GroupRow(
                place=row.place,
                group_id=row.group_id,
                values=_values(saved.groups.get(row.group_id), row.member_id),
                valid_from=row.valid_from,
                error=row.error,
                is_saved=True,
            )

    def _renew(self, group_id: str, changed: set[str] | None, place: Place) -> None:
        group = self._records.groups.get(group_id)
        rows = self._rows.setdefault(group_id, {})
        for member_id in _affected_members(group, rows, changed):
            values = _values(group, member_id)
            held = rows.get(member_id)
            if held is not None and held.values != values:
                held.valid_to = place.append_time
                self.ended.append(rows.pop(member_id))
            if values is not None and member_id not in rows:
                error = None if _error(group, member_id) is None else "decode_error"
                rows[member_id] = _GroupRow(
                    place=place, group_id=group_id, values=values, valid_from=place.append_time, error=error
                )
        if not rows:
            del self._rows[group_id]


def _affected_members(
    group: Group | None, rows: dict[str | None, _GroupRow], changed: set[str] | None
) -> Iterable[str | None]:
    """The members whose rows may change, and None for the row of a group without members; ending rows come first."""
    members = () if group is None else group.members
    if changed is None or None in rows or not members:
        return dict.fromkeys((*rows, *members, None))
    return sorted(changed)


def _values(group: Group | None, member_id: str | None) -> tuple[object, ...] | None:
    """The values of a row, or None if there is no such row."""
    if group is None:
        return None
    of_group = (group.kind, group.epoch, group.protocol, group.leader, member_id)
    if member_id is None:
        return None if group.members else (*of_group, None, None, None, None, None)
    member = group.members.get(member_id)
    if member is None:
        return None
    kind, epoch, protocol, *rest = of_group
    of_member = (member.client_id, member.client_host, member.instance_id, group.topics_of(member), member.assignment)
    return (kind, epoch, protocol or member.protocol, *rest, *of_member)


def _error(group: Group | None, member_id: str | None) -> str | None:
    member = None if group is None or member_id is None else group.members.get(member_id)
    return None if member is None else member.error


def _cells(rows: Sequence[_GroupRow]) -> Columns:
    columns = value_columns([row.values for row in rows], len(_VALUES))
    return {"group_id": [row.group_id for row in rows], **dict(zip(_VALUES, columns, strict=True))}


HISTORY: Final = RoutedHistory(
    "group_history",
    "groups, their members, subscriptions and assignments",
    {**_COLUMNS, "valid_from": TIMESTAMP, "valid_to": TIMESTAMP},
    lambda source: RecordFold(source, _GroupsReducer(), _COLUMNS, _cells),
    keys=("group_id", "member_id"),
)
