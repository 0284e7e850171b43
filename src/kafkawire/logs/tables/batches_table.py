"""Table ``batches``: a row for each record batch, from its header."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange, scan_batches
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import LARGEST_ROW_BATCH
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.tables.column_roles import value_roles
from kafkawire.logs.tables.rows import flaw_columns
from kafkawire.logs.tables.table import (
    PROVENANCE,
    PROVENANCE_ROLES,
    Part,
    chosen_schema,
    error_fields,
    last_roles,
)
from kafkawire.logs.times import TIMESTAMP, microseconds
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import CODEC_MASK
from kafkawire.wire.compression import Codec

_CODECS: Final = {codec.value: codec.name.lower() for codec in Codec}

_FIELDS: Final = (
    pa.field("size", pa.int64()),
    pa.field("magic", pa.int8()),
    pa.field("codec", pa.string()),
    pa.field("crc_ok", pa.bool_()),
    pa.field("is_control", pa.bool_()),
    pa.field("is_transactional", pa.bool_()),
    pa.field("producer_id", pa.int64()),
    pa.field("producer_epoch", pa.int16()),
    pa.field("base_sequence", pa.int32()),
    pa.field("record_count", pa.int32()),
    pa.field("first_offset", pa.int64()),
    pa.field("last_offset", pa.int64()),
    pa.field("max_time", TIMESTAMP),
)
_ROLES: Final = {
    "record_count": ColumnRole.KEY,
    "size": ColumnRole.KEY,
    **value_roles(field.name for field in _FIELDS if field.name not in {"record_count", "size"}),
    "magic": ColumnRole.DETAIL,
    "first_offset": ColumnRole.DETAIL,
}
"""``first_offset`` is also the offset of the row, and there is only one ``magic``."""


@dataclass(frozen=True, slots=True)
class _Described:
    """The header of a batch."""

    batch: RecordBatch
    size: int
    crc_ok: bool


_READERS: Final[Mapping[str, Callable[[_Described], object]]] = {
    "batch_position": lambda each: each.batch.position,
    "log_offset": lambda each: each.batch.base_offset,
    "leader_epoch": lambda each: each.batch.partition_leader_epoch,
    "append_time": lambda each: microseconds(
        -1 if each.batch.delete_horizon_ms is not None else each.batch.base_timestamp
    ),
    "size": lambda each: each.size,
    "magic": lambda _: 2,
    "codec": lambda each: _codec_name(each.batch.attributes & CODEC_MASK),
    "crc_ok": lambda each: each.crc_ok,
    "is_control": lambda each: each.batch.is_control,
    "is_transactional": lambda each: each.batch.is_transactional,
    "producer_id": lambda each: each.batch.producer_id,
    "producer_epoch": lambda each: each.batch.producer_epoch,
    "base_sequence": lambda each: each.batch.base_sequence,
    "record_count": lambda each: each.batch.records_count,
    "first_offset": lambda each: each.batch.base_offset,
    "last_offset": lambda each: _last_offset(each.batch),
    "max_time": lambda each: microseconds(each.batch.max_timestamp),
}


class BatchesTable:
    """The headers of batches as a table; records are not decoded.

    ``first_offset`` and ``last_offset`` are those of the batch when it was written; compaction keeps them.
    ``log_offset`` is the first. ``append_time`` is the base timestamp; null if compaction replaced that by a delete
    horizon.
    """

    name = "batches"
    splittable = True
    spans_logs = False
    logs: frozenset[str] = frozenset()

    def __init__(self, options: ReadOptions) -> None:
        self.roles: Mapping[str, ColumnRole] = {**PROVENANCE_ROLES, **_ROLES, **last_roles(options)}
        self.schema: pa.Schema = chosen_schema(self.name, (*PROVENANCE, *_FIELDS, *error_fields(options)), options)

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """See ``Table``."""
        for file_range in part.files:
            yield from self._read_range(file_range, options, accounts, store)

    def _read_range(
        self, file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore
    ) -> Iterator[pa.RecordBatch]:
        pending: list[_Described] = []
        for found in scan_batches(file_range, options, accounts, store):
            if isinstance(found, Flaw):
                yield from self._rows(file_range.file, pending, options, accounts)
                pending = []
                if options.mode is ReadMode.PERMISSIVE:
                    accounts.flaw_rows += 1
                    yield flaw_columns([found], self.schema, options)
                continue
            accounts.records_read += 1
            pending.append(_described(found.batch, verified=options.verify_checksums))
            if len(pending) == LARGEST_ROW_BATCH:
                yield from self._rows(file_range.file, pending, options, accounts)
                pending = []
        yield from self._rows(file_range.file, pending, options, accounts)

    def _rows(
        self, file: LogFile, batches: Sequence[_Described], options: ReadOptions, accounts: Accounts
    ) -> Iterator[pa.RecordBatch]:
        if not batches:
            return
        constants = {"cluster": options.cluster or file.cluster, "file": file.shown_path}
        arrays = [
            pa.array([read(each) for each in batches], field.type)
            if (read := _READERS.get(field.name))
            else pa.array([constants.get(field.name)] * len(batches), field.type)
            for field in self.schema
        ]
        accounts.rows += len(batches)
        yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _described(batch: RecordBatch, *, verified: bool) -> _Described:
    crc_ok = verified or batch.crc_is_valid
    return _Described(msgspec.structs.replace(batch, payload=b""), batch.size, crc_ok)


def _codec_name(code: int) -> str:
    return _CODECS.get(code) or f"UNKNOWN({code})"


def _last_offset(batch: RecordBatch) -> int | None:
    """None if it does not fit into int64, which is possible in a forged batch."""
    return batch.last_offset if -(1 << 63) <= batch.last_offset < 1 << 63 else None
