"""Records of offset commits as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.folding.coordinator_decoder import CoordinatorDecoder, DecodedRecord
from kafkawire.logs.folding.coordinator_log import CONSUMER_OFFSETS
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.tables.decoded_messages import Frame, decode_framed, decode_messages
from kafkawire.logs.tables.rows import RawRows, together
from kafkawire.protocol import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafkawire.records.coordinator_records import COORDINATOR_TOPICS
from kafkawire.records.version_prefix import PREFIX_SIZE

COMMIT_RECORDS: Final[frozenset[str]] = frozenset({"OffsetCommit", "LegacyOffsetCommit"})
"""Names of the record types; the latter is that of Kafka before 0.9, with the same meaning."""


Change: TypeAlias = Literal["pending", "tombstone", "unknown", "none"]
"""What a record does to the offset of its key, unless it sets it at once.

``pending``: it sets it when its transaction is committed. ``tombstone``: it removes it. ``unknown``: its key could not
be decoded. ``none``: it is no row, since its type is not known, and that was counted.
"""


COMMIT_FIELDS: Final[Mapping[str, pa.DataType]] = {
    "group_id": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "committed_offset": pa.int64(),
    "committed_leader_epoch": pa.int32(),
    "metadata": pa.string(),
}
"""The fields of a commit that the table shows as they are."""

_COMMIT_COLUMNS: Final[Mapping[str, pa.DataType]] = {
    "batch_position": pa.int64(),
    "log_offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "append_time": pa.int64(),
    **COMMIT_FIELDS,
    "commit_time": pa.int64(),
    "expire_time": pa.int64(),
    "is_transactional": pa.bool_(),
    "tombstone": pa.bool_(),
    "error": pa.string(),
    "corrupt": pa.binary(),
}
COMMITS: Final[pa.Schema] = pa.schema(_COMMIT_COLUMNS)
"""A commit. Times are in milliseconds since the epoch; ``corrupt`` has the bytes of a record with an error."""

_PLACE: Final = {
    "batch_position": "batch_position",
    "log_offset": "log_offset",
    "leader_epoch": "leader_epoch",
    "append_time": "timestamp",
}
_KEY: Final = {"group_id": "group", "topic": "topic", "partition": "partition"}
_VALUE: Final = {
    "committed_offset": "offset",
    "committed_leader_epoch": "leader_epoch",
    "metadata": "metadata",
    "commit_time": "commit_timestamp",
    "expire_time": "expire_timestamp",
}
_OR_NONE: Final = frozenset({"committed_leader_epoch", "commit_time", "expire_time"})
"""Columns whose negative numbers mean that there is no value."""

_COMMIT: Final = next(each for each in COORDINATOR_TOPICS[CONSUMER_OFFSETS].values() if each.name == "OffsetCommit")
_PREFIX: Final = _COMMIT.number.to_bytes(PREFIX_SIZE, "big")


@dataclass(frozen=True)
class Commits:
    """Records of offset commits.

    Attributes:
        columns: with the schema ``COMMITS``.
        changes: what each record does, by row; those without a change set the offset of their key at once.
        keys: the key of each record in the present form, which old keys are converted to.
    """

    columns: pa.RecordBatch
    changes: Mapping[int, Change]
    keys: Sequence[bytes | None]

    @cached_property
    def moments(self) -> tuple[Sequence[int], Sequence[int]]:
        """The times and the offsets of the records."""
        times, offsets = (self.columns.column(name).to_pylist() for name in ("append_time", "log_offset"))
        return cast("list[int]", times), cast("list[int]", offsets)


class CommitDecoder:
    """Decodes records of offset commits.

    Records of the present type are decoded together. The others, and those with an error, are decoded one by one.

    Args:
        source: counts errors.
    """

    def __init__(self, source: FoldSource) -> None:
        registry = source.options.registry
        self._source = source
        self._each = CoordinatorDecoder(CONSUMER_OFFSETS, COMMIT_RECORDS, registry)
        self._key, self._value = registry.columns(_COMMIT.key), registry.columns(_COMMIT.value)
        # Definitions of the user may lack fields; the decoder of single records knows what to do.
        is_known = registry.coordinators[CONSUMER_OFFSETS].get(_COMMIT.number) == _COMMIT
        self._together = is_known and (self._key.message, self._value.message) == (OffsetCommitKey, OffsetCommitValue)

    def decode(self, records: RawRows) -> Commits:
        """The commits.

        Raises:
            LogReadError: as ``FoldSource.failed``.
        """
        columns: dict[str, ArrowArray] = {name: records.columns.column(raw) for name, raw in _PLACE.items()}
        keys = records.keys.to_pylist()
        tombstone = records.values.is_null()
        columns |= {"tombstone": tombstone, "is_transactional": pc.and_not(records.transactional, tombstone)}
        columns |= {name: pa.nulls(len(records), COMMITS.field(name).type) for name in ("error", "corrupt")}
        decoded, exact = self._decode_together(records)
        columns |= decoded
        changes: dict[int, Change] = dict.fromkeys(_rows_with(columns["is_transactional"]), "pending")
        changes |= dict.fromkeys(_rows_with(tombstone), "tombstone")
        batch = pa.RecordBatch.from_arrays([columns[name] for name in COMMITS.names], schema=COMMITS)
        if not exact:
            return Commits(batch, changes, keys)
        return Commits(self._with_exact(batch, records, exact, changes, keys), changes, keys)

    def _decode_together(self, records: RawRows) -> tuple[Mapping[str, ArrowArray], Sequence[int]]:
        """The columns of the keys and values, and the rows that have to be decoded one by one."""
        raw_keys, raw_values = records.keys, records.values
        exact = set[int]()
        present = self._present(raw_keys)
        if present.true_count < len(records):
            none = pa.scalar(None, pa.binary())
            raw_keys, raw_values = (
                cast("pa.BinaryArray", pc.if_else(present, each, none)) for each in (raw_keys, raw_values)
            )
            exact.update(_rows_with(pc.invert(present)))
        key = decode_framed(self._key, raw_keys, (_COMMIT.key_version, PREFIX_SIZE))
        heads = pc.binary_slice(raw_values, 0, PREFIX_SIZE).dictionary_encode()
        codes = cast("pa.Int32Array", heads.indices)
        frames = [self._frame(head) for head in cast("list[bytes]", heads.dictionary.to_pylist())]
        value = decode_messages(self._value, raw_values, frames, codes)
        for code, frame in enumerate(frames):
            if frame is None:
                exact.update(_rows_with(pc.equal(codes, pa.scalar(code))))
        exact.update(key.faults, value.faults)
        sides = ((_KEY, self._key.schema, key.arrays), (_VALUE, self._value.schema, value.arrays))
        columns = {
            name: _or_none(arrays[schema.get_field_index(field)], name)
            for names, schema, arrays in sides
            for name, field in names.items()
        }
        return columns, sorted(exact)

    def _present(self, keys: pa.BinaryArray) -> pa.BooleanArray:
        """Which records can be decoded together: those of the present type."""
        if not self._together:
            return pa.repeat(pa.scalar(False), len(keys))
        has_type = pc.equal(pc.binary_slice(keys, 0, PREFIX_SIZE), pa.scalar(_PREFIX))
        return cast("pa.BooleanArray", pc.fill_null(has_type, pa.scalar(False)))

    def _frame(self, head: bytes) -> Frame | None:
        version = int.from_bytes(head, "big", signed=True)
        return (version, PREFIX_SIZE) if len(head) == PREFIX_SIZE and version in OffsetCommitValue.VERSIONS else None

    def _with_exact(
        self,
        batch: pa.RecordBatch,
        records: RawRows,
        exact: Sequence[int],
        changes: dict[int, Change],
        keys: list[bytes | None],
    ) -> pa.RecordBatch:
        """The rows with those in place that were decoded one by one; their changes and keys are set too."""
        places = {name: batch.column(name).take(pa.array(exact)).to_pylist() for name in _PLACE}
        cells = []
        for at, row in enumerate(exact):
            place = {name: column[at] for name, column in places.items()}
            value = records.values[row].as_py()
            decoded = self._each.decode(keys[row], value)
            if decoded.type is None:
                changes[row] = "none"
                self._source.accounts.dropped(decoded.error or "decode_error", 1)
            elif decoded.key is None:
                changes[row] = "unknown"
            if decoded.error is not None:
                position, offset = (cast("int", place[name]) for name in ("batch_position", "log_offset"))
                self._source.failed(decoded.error, decoded.reason, records.file, position, offset)
            is_transactional = batch.column("is_transactional")[row].as_py()
            cells.append(place | _cells(decoded) | {"is_transactional": is_transactional})
            keys[row] = _present_key(decoded)
        places_of_exact = {row: batch.num_rows + at for at, row in enumerate(exact)}
        order = pa.array([places_of_exact.get(row, row) for row in range(batch.num_rows)], pa.int64())
        return together([batch, pa.RecordBatch.from_pylist(cells, schema=COMMITS)], COMMITS).take(order)


def _rows_with(mask: ArrowArray) -> list[int]:
    return cast("list[int]", pc.indices_nonzero(mask).to_pylist())


def _or_none(array: ArrowArray, name: str) -> ArrowArray:
    if name not in _OR_NONE:
        return array
    numbers = cast("pa.Int64Array", array)
    negative = pc.less(numbers, pa.scalar(0, numbers.type))
    known: ArrowArray = pc.if_else(negative, pa.scalar(None, numbers.type), numbers)
    return known


def _present_key(decoded: DecodedRecord) -> bytes | None:
    match decoded.key:
        case OffsetCommitKey() | LegacyOffsetCommitKey() as key:
            present = OffsetCommitKey(key.group, key.topic, key.partition)
            return _PREFIX + present.encode(_COMMIT.key_version)
        case _:
            return None


def _cells(decoded: DecodedRecord) -> dict[str, object]:
    """The cells of a record that was decoded by itself, except those of its place."""
    cells: dict[str, object] = {"tombstone": decoded.is_tombstone, "error": decoded.error}
    if decoded.error is not None:
        cells["corrupt"] = decoded.raw
    match decoded.key:
        case OffsetCommitKey() | LegacyOffsetCommitKey() as key:
            cells |= {name: getattr(key, field) for name, field in _KEY.items()}
        case _:
            pass
    match decoded.value:
        case OffsetCommitValue() | LegacyOffsetCommitValue() as value:
            for name, field in _VALUE.items():
                cell = getattr(value, field, None)
                cells[name] = None if name in _OR_NONE and isinstance(cell, int) and cell < 0 else cell
        case _:
            pass
    return cells
