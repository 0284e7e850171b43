"""Batches that follow each other, and their records as Arrow arrays: many batches at a time, for they may be small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.record_arrays import LARGEST_PAYLOADS, decode_record_arrays
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.limits import GATHERED_OCTETS, LARGE_PAYLOAD, RECORDS_AT_A_TIME
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.batches import book_flaw, scan_batches
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, RecordGroup, ScannedBatch
from kafkawire.logs.scanning.pieces import flaw_of, largest_record, read_in_pieces, refused, times_of
from kafkawire.wire import DecodeError
from kafkawire.wire.batches.reader import open_payload
from kafkawire.wire.errors import CorruptBatchError

__all__ = ["read_batch", "scan_groups"]

_FAR_FROM_ALL_LIMITS: Final = (1 << 63) - (1 << 32)


def scan_groups(
    file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore
) -> Iterator[RecordGroup | Flaw]:
    """As ``scan_batches``, with the records of the batches. Limits within a batch are the caller's to apply.

    Raises:
        LogReadError: as ``scan_batches``.
    """
    reader = _Reader(file_range.file, options, accounts)
    for found in scan_batches(file_range, options, accounts, store):
        if isinstance(found, Flaw):
            yield from reader.take()
            yield found
        else:
            yield from reader.add(found)
    yield from reader.take()


class _Reader:
    """Gathers batches until there are enough, and reads their records."""

    def __init__(self, file: LogFile, options: ReadOptions, accounts: Accounts) -> None:
        self._largest = largest_record(file, options)
        self._options = options
        self._accounts = accounts
        self._limit = min(options.max_frame_bytes, LARGEST_PAYLOADS - GATHERED_OCTETS)
        self._clear()

    def _clear(self) -> None:
        self._batches: list[ScannedBatch] = []
        self._payloads: list[bytes] = []
        self._counts: list[int] = []
        self._records = 0
        self._octets = 0

    def add(self, scanned: ScannedBatch) -> Iterator[RecordGroup | Flaw]:
        """Decompress one more batch. Returns those that were gathered, if it is broken or they are enough now."""
        batch = scanned.batch
        count = batch.records_count
        payload = b""
        if count:
            opened = _opened(scanned, self._limit)
            if isinstance(opened, Flaw):
                yield from self.take()
                yield self._booked(opened)
                return
            payload = opened
        if count > RECORDS_AT_A_TIME or len(payload) > LARGE_PAYLOAD:
            yield from self.take()
            yield from self._in_pieces(scanned, payload)
            return
        self._batches.append(scanned)
        self._payloads.append(payload)
        self._counts.append(count)
        # A batch without records takes memory too, and may have octets that nobody reads.
        self._records += max(count, 1)
        self._octets += max(len(payload), batch.size)
        if self._records >= RECORDS_AT_A_TIME or self._octets >= GATHERED_OCTETS:
            yield from self.take()

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
            for scanned, payload in zip(batches, payloads, strict=True):
                yield from self._in_pieces(scanned, payload)

    def _in_pieces(self, scanned: ScannedBatch, payload: bytes) -> Iterator[RecordGroup | Flaw]:
        for found in read_in_pieces(scanned, payload, self._largest):
            yield self._booked(found) if isinstance(found, Flaw) else found

    def _booked(self, flaw: Flaw) -> Flaw:
        """Count a batch that was taken for decoded."""
        self._accounts.not_decoded_after_all(flaw.code, flaw.size)
        book_flaw(flaw, self._options, self._accounts)
        return flaw


def read_batch(scanned: ScannedBatch, options: ReadOptions) -> Iterator[RecordGroup | Flaw]:
    """A batch and its records in pieces, or what is wrong with it."""
    opened = _opened(scanned, options.max_frame_bytes) if scanned.batch.records_count else b""
    if isinstance(opened, Flaw):
        yield opened
    else:
        yield from read_in_pieces(scanned, opened, largest_record(scanned.file, options))


def _opened(scanned: ScannedBatch, limit: int) -> bytes | Flaw:
    """The records of a batch that states to have some, decompressed, or why that cannot be done."""
    try:
        payload = open_payload(scanned.batch, limit)
    except (CorruptBatchError, DecodeError) as error:
        return refused(scanned, error)
    if len(payload) > limit:
        return flaw_of(scanned, "too_large", f"{len(payload)} bytes of records")
    return payload


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
        times = times_of(headers, numbers, arrays)
    except pa.ArrowInvalid:
        return None
    return RecordGroup(batches, numbers, offsets, times, arrays.keys, arrays.values)
