"""From the payloads of batches to their records as Arrow arrays (record-exact).

The native engine makes no object for a record; without it the records are decoded one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa

from kafkawire.columns.native_arrays import flat_array
from kafkawire.wire.batches import Record, RecordBatch
from kafkawire.wire.batches.native_records import native_record_codec
from kafkawire.wire.batches.reader import run_of_records
from kafkawire.wire.engine import by_engine_in_use
from kafkawire.wire.message_codec import FAST_PATH_FAILS
from kafkawire.wire.varint import read_varint

if TYPE_CHECKING:
    from kafkawire._native import NativeColumn, RecordCodec

LARGEST_PAYLOADS: Final = 1 << 30
"""Most bytes of records in one set of arrays: positions are numbers of 31 bits."""


class RecordArrays(NamedTuple):
    """An array for each attribute of the records, in the order of the payloads.

    Attributes:
        positions: int64; of the record's batch in the file.
        leader_epochs: int32; of the batch.
        attributes: int16; of the batch.
        producer_ids: int64; of the batch.
        offsets: int64; in the log.
        timestamps: int64; milliseconds since the epoch, -1 for none.
        keys: binary; null for records without key.
        values: binary; null for tombstones.
    """

    positions: pa.Int64Array
    leader_epochs: pa.Int32Array
    attributes: pa.Int16Array
    producer_ids: pa.Int64Array
    offsets: pa.Int64Array
    timestamps: pa.Int64Array
    keys: pa.BinaryArray
    values: pa.BinaryArray


_TYPES: Final = (
    pa.int64(), pa.int32(), pa.int16(), pa.int64(), pa.int64(), pa.int64(), pa.binary(), pa.binary()
)  # fmt: skip


def decode_record_arrays(batches: Sequence[RecordBatch], payloads: Sequence[bytes]) -> RecordArrays | None:
    """The records of batches.

    Args:
        batches: the batches.
        payloads: of each, decompressed; of ``LARGEST_PAYLOADS`` bytes together at most.

    Returns:
        The records; None if one is malformed, or has an offset or a timestamp beyond int64. Then ``decode_records``
        reads the batches, and reports what is malformed.
    """
    try:
        return by_engine_in_use(
            lambda: _decode_each(batches, payloads),
            native_record_codec(),
            lambda native: _arrays(native.columns(tuple(batches), tuple(payloads))),
        )
    except FAST_PATH_FAILS:
        return None


def decode_some_record_arrays(
    batch: RecordBatch, payload: bytes, start: int, most_records: int, most_octets: int
) -> tuple[RecordArrays, int] | None:
    """Some of the records of a batch.

    Args:
        batch: the batch.
        payload: its records, decompressed, of ``LARGEST_PAYLOADS`` bytes at most.
        start: position of the first record.
        most_records: the limit of records; without room for one there is no array.
        most_octets: the limit of bytes; the last record may exceed it.

    Returns:
        At least one record, and the end of the last one; None as for ``decode_record_arrays``.
    """

    def decode_natively(native: RecordCodec) -> tuple[RecordArrays, int]:
        columns, end = native.some_columns(batch, payload, start, most_records, most_octets)
        return _arrays(columns), end

    try:
        return by_engine_in_use(
            lambda: _decode_some(batch, payload, start, most_records, most_octets),
            native_record_codec(),
            decode_natively,
        )
    except FAST_PATH_FAILS:
        return None


def arrays_of_records(batches: Sequence[RecordBatch], records: Sequence[Record]) -> RecordArrays:
    """The arrays of decoded records.

    Args:
        batches: the batch of each record.
        records: the records.

    Raises:
        OverflowError: an offset or a timestamp is beyond int64.
    """
    values = (
        [batch.position for batch in batches],
        [batch.partition_leader_epoch for batch in batches],
        [batch.attributes for batch in batches],
        [batch.producer_id for batch in batches],
        [record.offset for record in records],
        [record.timestamp for record in records],
        [record.key for record in records],
        [record.value for record in records],
    )
    return RecordArrays(*map(pa.array, values, _TYPES))  # type: ignore[arg-type]


def _arrays(columns: Sequence[NativeColumn]) -> RecordArrays:
    return RecordArrays(*map(flat_array, columns, _TYPES))  # type: ignore[arg-type]


def _decode_each(batches: Sequence[RecordBatch], payloads: Sequence[bytes]) -> RecordArrays:
    """The records of batches, one by one.

    Raises:
        FAST_PATH_FAILS: as ``decode_record_arrays`` returns None.
    """
    batch_of_each: list[RecordBatch] = []
    records: list[Record] = []
    for batch, payload in zip(batches, payloads, strict=True):
        own, end = run_of_records(batch, payload, 0, batch.records_count)
        if len(own) != batch.records_count or end != len(payload):
            raise ValueError
        batch_of_each += repeat(batch, len(own))
        records += own
    return arrays_of_records(batch_of_each, records)


def _decode_some(
    batch: RecordBatch, payload: bytes, start: int, most_records: int, most_octets: int
) -> tuple[RecordArrays, int]:
    count = _records_within(payload, start, most_records, most_octets)
    if not count:
        raise ValueError
    records, end = run_of_records(batch, payload, start, count)
    return arrays_of_records([batch] * count, records), end


def _records_within(payload: bytes, start: int, most_records: int, most_octets: int) -> int:
    """How many records there are in a part of a payload, by the lengths before them."""
    at, count = start, 0
    while count < most_records and at < len(payload) and at - start < most_octets:
        size, at = read_varint(payload, at)
        at += size
        count += 1
    return count
