"""``group_history``: a row for each state of a member, and for each state of a group without members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

import msgspec
import pyarrow as pa

from kafkawire.logs.histories.columns import TIMESTAMP, Columns, schema_of
from kafkawire.logs.histories.coordinator_records import DecodedRecord
from kafkawire.logs.histories.group_records import GROUP_RECORDS, GroupRecords, group_of
from kafkawire.logs.histories.group_state import Group
from kafkawire.logs.histories.places import Place
from kafkawire.wire.batches import RecordBatch

__all__ = ["GROUP_SCHEMA", "GroupRow", "GroupsReducer", "group_columns"]

GROUP_SCHEMA: Final = schema_of(
    {
        "group_id": pa.string(),
        "kind": pa.string(),
        "epoch": pa.int32(),
        "protocol": pa.string(),
        "leader": pa.string(),
        "member_id": pa.string(),
        "client_id": pa.string(),
        "client_host": pa.string(),
        "instance_id": pa.string(),
        "topics": pa.list_(pa.string()),
        "assignment": pa.list_(
            pa.struct(
                schema_of(
                    {
                        "topic": pa.string(),
                        "topic_id": pa.string(),
                        "subtopology_id": pa.string(),
                        "role": pa.string(),
                        "partitions": pa.list_(pa.int32()),
                    }
                )
            )
        ),
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    }
)


class GroupRow(msgspec.Struct, gc=False):
    """A state of a member, or of a group without members.

    Attributes:
        place: the record that made it so; of several of one time and batch, the last.
        group_id: the group.
        values: the further columns of ``GROUP_SCHEMA`` up to the assignment; None if they could not be read.
        valid_from, valid_to: milliseconds since the epoch.
        error: what is wrong with the bytes that members put into the record, or with the record, or None.
        corrupt: the bytes, if something is wrong with the record.
        is_lost: whether it stands for bytes that could not be read.
    """

    place: Place
    group_id: str | None = None
    values: tuple[object, ...] | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    error: str | None = None
    corrupt: bytes | None = None
    is_lost: bool = False


_VALUES: Final = tuple(GROUP_SCHEMA.names[1:-2])


class _Touched(msgspec.Struct):
    """What changed in a group: the last record about it, and the members, or None if it may be all."""

    place: Place
    members: set[str] | None


class GroupsReducer:
    """The rows of the groups that there are.

    What records of one batch and time change is one change, for the coordinator writes all of a step at once. Memory
    is bounded by the members of all groups.

    Attributes:
        ended: rows that nothing can change any more. Whoever takes them clears the list.
    """

    RECORDS: ClassVar[frozenset[str]] = GROUP_RECORDS

    def __init__(self) -> None:
        self.ended: list[GroupRow] = []
        self._records = GroupRecords()
        self._rows: dict[str, dict[str | None, GroupRow]] = {}
        self._touched: dict[str, _Touched] = {}
        self._time: int | None = None

    def apply(self, record: DecodedRecord, place: Place, batch: RecordBatch) -> str | None:
        """A record of the coordinator; a null value takes away what the key names."""
        if record.key is None or (record.value is None and not record.is_tombstone):
            row = GroupRow(place, valid_from=place.append_time, valid_to=place.append_time)
            row.group_id = None if record.key is None else group_of(record.key)
            row.error, row.corrupt = record.error, record.raw
            self.ended.append(row)
            return None
        if place.append_time != self._time:
            self.settle()
            self._time = place.append_time
        touched = self._records.apply(record.key, record.value)
        if touched is None:
            return None
        group_id, member_id = touched
        touch = self._touched.setdefault(group_id, _Touched(place, set()))
        touch.place = place
        if member_id is None:
            touch.members = None
        elif touch.members is not None:
            touch.members.add(member_id)
        return self._records.error_of(group_id) if record.type == "GroupMetadata" else None

    def end_transaction(self, producer_id: int, at: int, *, committed: bool) -> None:
        """Groups change outside of transactions."""

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """Bytes could not be read: a row tells."""
        self.ended.append(GroupRow(place, error=code, corrupt=raw, is_lost=True))

    def settle(self) -> None:
        """Make rows of what changed since the last time: the batch, or the records of one time in it, are over."""
        for group_id, touch in self._touched.items():
            self._renew(group_id, touch.members, touch.place)
        self._touched.clear()

    def still_open(self) -> Iterator[GroupRow]:
        """The rows that are valid, in the order of the log."""
        rows = (row for members in self._rows.values() for row in members.values())
        return iter(sorted(rows, key=lambda row: row.place.log_offset))

    def _renew(self, group_id: str, touched: set[str] | None, place: Place) -> None:
        group = self._records.groups.get(group_id)
        rows = self._rows.setdefault(group_id, {})
        for member_id in _concerned(group, rows, touched):
            values = _values(group, member_id)
            held = rows.get(member_id)
            if held is not None and held.values != values:
                held.valid_to = place.append_time
                self.ended.append(rows.pop(member_id))
            if values is not None and member_id not in rows:
                error = None if _error(group, member_id) is None else "decode_error"
                rows[member_id] = GroupRow(place, group_id, values, place.append_time, error=error)
        if not rows:
            del self._rows[group_id]


def _concerned(group: Group | None, rows: dict[str | None, GroupRow], touched: set[str] | None) -> Iterable[str | None]:
    """The members whose rows may change, and None for the row of a group without members; what ends comes first."""
    members = () if group is None else group.members
    if touched is None or None in rows or not members:
        return dict.fromkeys((*rows, *members, None))
    return sorted(touched)


def _values(group: Group | None, member_id: str | None) -> tuple[object, ...] | None:
    """What a row says, or None if there is no such row."""
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


def group_columns(rows: Sequence[GroupRow]) -> Columns:
    """The columns of ``GROUP_SCHEMA``."""
    unknown = (None,) * len(_VALUES)
    values = tuple(zip(*[row.values or unknown for row in rows], strict=True)) or ((),) * len(_VALUES)
    return {
        "group_id": [row.group_id for row in rows],
        **dict(zip(_VALUES, values, strict=True)),
        "valid_from": [row.valid_from for row in rows],
        "valid_to": [row.valid_to for row in rows],
    }
