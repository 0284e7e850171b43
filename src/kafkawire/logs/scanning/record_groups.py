"""Batches that follow each other, and their records as Arrow arrays: many batches at a time, for they may be small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.columns.record_arrays import LARGEST_PAYLOADS, RecordArrays, decode_record_arrays
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.batches import book_flaw, scan_batches
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, ScannedBatch
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch, decode_records
from kafkawire.wire.batches.batch import CODEC_MASK, LOG_APPEND_TIME
from kafkawire.wire.batches.reader import open_payload
from kafkawire.wire.compression import Codec
from kafkawire.wire.errors import CorruptBatchError, OutputLimitError

__all__ = ["RecordGroup", "read_exactly", "scan_groups"]

_ENOUGH_RECORDS: Final = 16384
_ENOUGH_OCTETS: Final = 16 * 1024 * 1024
_FAR_FROM_ALL_LIMITS: Final = (1 << 63) - (1 << 32)
_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1


@dataclass(frozen=True)
class RecordGroup:
    """Batches and their records.

    Attributes:
        batches: some may have no records.
        numbers: int32; of the batch of each record, in ``batches``.
        offsets: int64; of each record of all batches, in the log.
        timestamps: int64; milliseconds since the epoch, -1 for none.
        keys: binary; null for records without key.
        values: binary; null for tombstones.
    """

    batches: Sequence[ScannedBatch]
    numbers: pa.Int32Array
    offsets: pa.Int64Array
    timestamps: pa.Int64Array
    keys: pa.BinaryArray
    values: pa.BinaryArray

    def __len__(self) -> int:
        return len(self.offsets)

    def spread(self, of_batches: Sequence[object], kind: pa.DataType) -> ArrowArray:
        """For each record what is given for its batch."""
        spread: ArrowArray = pa.array(of_batches, kind).take(self.numbers)
        return spread


def scan_groups(
    file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore
) -> Iterator[RecordGroup | Flaw]:
    """As ``scan_batches``, with the records of the batches. Limits within a batch are the caller's to apply.

    Raises:
        LogReadError: as ``scan_batches``.
    """
    reader = _Reader(options, accounts)
    for found in scan_batches(file_range, options, accounts, store):
        if isinstance(found, Flaw):
            yield from reader.take()
            yield found
        elif (flaw := reader.add(found)) is not None:
            yield from reader.take()
            yield flaw
        elif reader.has_enough:
            yield from reader.take()
    yield from reader.take()


class _Reader:
    """Gathers batches until there are enough, and reads their records."""

    def __init__(self, options: ReadOptions, accounts: Accounts) -> None:
        self._options = options
        self._accounts = accounts
        self._limit = min(options.max_frame_bytes, LARGEST_PAYLOADS - _ENOUGH_OCTETS)
        self._clear()

    def _clear(self) -> None:
        self._batches: list[ScannedBatch] = []
        self._payloads: list[bytes] = []
        self._counts: list[int] = []
        self._records = 0
        self._octets = 0

    @property
    def has_enough(self) -> bool:
        return self._records >= _ENOUGH_RECORDS or self._octets >= _ENOUGH_OCTETS

    def add(self, scanned: ScannedBatch) -> Flaw | None:
        """Decompress one more batch. A flaw says why that cannot be done."""
        batch = scanned.batch
        count = batch.records_count
        payload = b""
        if count:
            try:
                payload = open_payload(batch, self._limit)
            except (CorruptBatchError, DecodeError) as error:
                return self._booked(_refused(scanned, error))
            if len(payload) > self._limit:
                return self._booked(_flaw(scanned, "too_large", f"{len(payload)} bytes of records"))
        self._batches.append(scanned)
        self._payloads.append(payload)
        self._counts.append(count)
        # A batch without records takes memory too, and may have octets that nobody reads.
        self._records += max(count, 1)
        self._octets += max(len(payload), batch.size)
        return None

    def take(self) -> Iterator[RecordGroup | Flaw]:
        """The batches gathered so far with their records; then it begins anew."""
        batches, payloads, counts = self._batches, self._payloads, self._counts
        self._clear()
        if not batches:
            return
        group = _usual_group(batches, payloads, counts)
        if group is not None:
            yield group
        else:
            for scanned in batches:
                found = read_exactly(scanned, self._limit)
                yield self._booked(found) if isinstance(found, Flaw) else found

    def _booked(self, flaw: Flaw) -> Flaw:
        """Count a batch that was taken for decoded."""
        self._accounts.not_decoded_after_all(flaw.code, flaw.size)
        book_flaw(flaw, self._options, self._accounts)
        return flaw


def read_exactly(scanned: ScannedBatch, limit: int) -> RecordGroup | Flaw:
    """A batch and its records one by one, or what is wrong with it.

    Args:
        scanned: the batch.
        limit: most bytes of records, decompressed.
    """
    try:
        records = decode_records(scanned.batch, limit=limit)
    except (CorruptBatchError, DecodeError) as error:
        return _refused(scanned, error)
    offsets = [record.offset for record in records]
    if records and not _LOWEST <= min(offsets) <= max(offsets) <= _HIGHEST:
        return _flaw(scanned, "bad_records", "offsets beyond int64")
    times = [min(max(record.timestamp, _LOWEST), _HIGHEST) for record in records]
    return RecordGroup(
        [scanned],
        pa.array([0] * len(records), pa.int32()),
        pa.array(offsets, pa.int64()),
        pa.array(times, pa.int64()),
        pa.array([record.key for record in records], pa.binary()),
        pa.array([record.value for record in records], pa.binary()),
    )


def _usual_group(
    batches: Sequence[ScannedBatch], payloads: Sequence[bytes], counts: Sequence[int]
) -> RecordGroup | None:
    """Batches and their records; None unless all are as nearly all are."""
    headers = [each.batch for each in batches]
    arrays = decode_record_arrays(payloads, counts)
    if arrays is None or any(abs(each.base_offset) > _FAR_FROM_ALL_LIMITS for each in headers):
        return None
    of_each = chain.from_iterable(map(repeat, range(len(counts)), counts))
    numbers: pa.Int32Array = pa.array(list(of_each), pa.int32())
    bases: pa.Int64Array = pa.array([each.base_offset for each in headers], pa.int64())
    offsets = pc.add(bases.take(numbers), arrays.offset_deltas)
    try:
        times = _times(headers, numbers, arrays)
    except pa.ArrowInvalid:
        return None
    return RecordGroup(batches, numbers, offsets, times, arrays.keys, arrays.values)


def _times(batches: Sequence[RecordBatch], numbers: pa.Int32Array, arrays: RecordArrays) -> pa.Int64Array:
    """The timestamps of records.

    Raises:
        ArrowInvalid: one is beyond int64.
    """
    bases: pa.Int64Array = pa.array([each.base_timestamp for each in batches], pa.int64())
    times: pa.Int64Array = pc.add_checked(bases.take(numbers), arrays.timestamp_deltas)
    appended = [bool(each.attributes & LOG_APPEND_TIME) for each in batches]
    if any(appended):
        latest: pa.Int64Array = pa.array([each.max_timestamp for each in batches], pa.int64())
        times = pc.if_else(pa.array(appended).take(numbers), latest.take(numbers), times)
    return times


def _refused(scanned: ScannedBatch, error: CorruptBatchError | DecodeError) -> Flaw:
    if isinstance(error, CorruptBatchError):
        return _flaw(scanned, _compression_code(scanned.batch, error), error.reason)
    return _flaw(scanned, "bad_records", f"{error.path}: {error.reason}")


def _flaw(scanned: ScannedBatch, code: str, reason: str) -> Flaw:
    batch = scanned.batch
    return Flaw(code, scanned.file, scanned.position, batch.size, batch.to_bytes(), reason, batch.base_offset)


def _compression_code(batch: RecordBatch, error: CorruptBatchError) -> str:
    if batch.attributes & CODEC_MASK > max(Codec):
        return "bad_codec"
    return "too_large" if isinstance(error, OutputLimitError) else "bad_compression"
