"""The records of batches. Small batches are decoded together, since each call of an Arrow kernel has a fixed cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.record_arrays import LARGEST_PAYLOADS, decode_record_arrays
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch, count_flaw, scan_batches
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import GATHERED_OCTETS, LARGE_PAYLOAD, RECORDS_AT_A_TIME
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.records.batch_records import OpenedBatch, RecordColumns, RecordGroup
from kafkawire.logs.records.pieces import flaw_of, largest_record, read_in_pieces, refused, times_of
from kafkawire.wire import DecodeError
from kafkawire.wire.batches.framing import HEADER_SIZE
from kafkawire.wire.batches.reader import open_payload
from kafkawire.wire.errors import CorruptBatchError

_LARGEST_SAFE_OFFSET: Final = (1 << 63) - (1 << 32)


def scan_groups(
    file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore
) -> Iterator[RecordGroup | Flaw]:
    """As ``scan_batches``, with the records as Arrow arrays. The caller applies limits within a batch.

    Raises:
        LogReadError: as ``scan_batches``.
    """
    reader = _Reader(file_range.file, options, accounts)
    for found in scan_batches(file_range, options, accounts, store):
        if isinstance(found, Flaw):
            yield from reader.take()
            yield found
        elif ready := reader.add(found):
            yield from ready
    yield from reader.take()


def scan_records(
    file_range: FileRange,
    options: ReadOptions = DEFAULT_OPTIONS,
    accounts: Accounts | None = None,
    store: FileStore = LOCAL,
) -> Iterator[OpenedBatch | Flaw]:
    """As ``scan_batches``, with the records of each batch. The caller applies limits within a batch.

    A batch of very many records comes in pieces; each is a batch that begins where the one before it ends.

    Raises:
        LogReadError: as ``scan_batches``.

    Example:
        ```python
        from kafkawire.logs import FileRange, Flaw, find_log_files, scan_records

        for file in find_log_files(["/var/lib/kafka/data/__cluster_metadata-0"]):
            for found in scan_records(FileRange(file, 0, file.size)):
                if isinstance(found, Flaw):
                    print(file.path, found.code, found.reason)
                else:
                    print(found.batch.base_offset, len(found.records.values), "records")
        ```
    """
    for found in scan_groups(file_range, options, Accounts() if accounts is None else accounts, store):
        if isinstance(found, Flaw):
            yield found
        else:
            yield from _batches_of(found)


def open_batch(scanned: ScannedBatch, options: ReadOptions) -> Iterator[OpenedBatch | Flaw]:
    """A batch with its records, in pieces if there are many, or the flaw; nothing is counted."""
    opened = _opened(scanned, options.max_frame_bytes) if scanned.batch.records_count else b""
    if isinstance(opened, Flaw):
        yield opened
        return
    for found in read_in_pieces(scanned, opened, largest_record(scanned.file, options)):
        if isinstance(found, Flaw):
            yield found
        else:
            yield from _batches_of(found)


def _batches_of(group: RecordGroup) -> Iterator[OpenedBatch]:
    offsets = cast("list[int]", group.offsets.to_pylist())
    timestamps = cast("list[int]", group.timestamps.to_pylist())
    keys, values = group.keys.to_pylist(), group.values.to_pylist()
    start = 0
    for scanned in group.batches:
        end = start + scanned.batch.records_count
        columns = RecordColumns(offsets[start:end], timestamps[start:end], keys[start:end], values[start:end])
        yield OpenedBatch(scanned.file, scanned.position, scanned.batch, columns)
        start = end


class _Reader:
    """Collects batches until there are enough, and decodes their records."""

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

    def add(self, scanned: ScannedBatch) -> Iterator[RecordGroup | Flaw] | None:
        """Decompress one more batch. Returns the collected batches once they are enough, and before a broken one."""
        batch = scanned.batch
        count = batch.records_count
        payload = b""
        if count:
            opened = _opened(scanned, self._limit)
            if isinstance(opened, Flaw):
                return self._before(iter((opened,)))
            payload = opened
        if count > RECORDS_AT_A_TIME or len(payload) > LARGE_PAYLOAD:
            return self._before(read_in_pieces(scanned, payload, self._largest))
        self._batches.append(scanned)
        self._payloads.append(payload)
        self._counts.append(count)
        # A batch without records takes memory too, and its payload may have bytes all the same.
        self._records += count or 1
        self._octets += HEADER_SIZE + len(payload or batch.payload)
        if self._records >= RECORDS_AT_A_TIME or self._octets >= GATHERED_OCTETS:
            return self.take()
        return None

    def take(self) -> Iterator[RecordGroup | Flaw]:
        """The collected batches with their records; the collection is then empty."""
        batches, payloads, counts = self._batches, self._payloads, self._counts
        self._clear()
        if not batches:
            return
        group = _usual_group(batches, payloads, counts)
        if group is not None:
            yield group
        else:
            for scanned, payload in zip(batches, payloads, strict=True):
                yield from self._counted(read_in_pieces(scanned, payload, self._largest))

    def _before(self, found: Iterator[RecordGroup | Flaw]) -> Iterator[RecordGroup | Flaw]:
        """The collected batches, then the pieces or the flaw of one more."""
        yield from self.take()
        yield from self._counted(found)

    def _counted(self, found: Iterator[RecordGroup | Flaw]) -> Iterator[RecordGroup | Flaw]:
        """Count flaws of batches that were counted as decoded."""
        for each in found:
            if isinstance(each, Flaw):
                self._accounts.not_decoded_after_all(each.code, each.size)
                count_flaw(each, self._options, self._accounts)
            yield each


def _opened(scanned: ScannedBatch, limit: int) -> bytes | Flaw:
    """The decompressed records of a batch that is not empty, or the flaw."""
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
    """Batches and their records; None if a record needs the exact decoder."""
    headers = [each.batch for each in batches]
    bases: pa.Int64Array = pa.array([each.base_offset for each in headers], pa.int64())
    arrays = decode_record_arrays(payloads, counts)
    ends = cast("dict[str, int]", cast("Any", pc.min_max(bases)).as_py())
    if arrays is None or max(map(abs, ends.values())) > _LARGEST_SAFE_OFFSET:
        return None
    bounds: pa.Int32Array = pa.array(list(accumulate(counts, initial=0)), pa.int32())
    of_each = pa.ListArray.from_arrays(bounds, arrays.offset_deltas)
    numbers = cast("pa.Int32Array", pc.list_parent_indices(of_each).cast(pa.int32()))
    offsets = pc.add(bases.take(numbers), arrays.offset_deltas)
    try:
        times = times_of(headers, numbers, arrays)
    except pa.ArrowInvalid:
        return None
    return RecordGroup(batches, numbers, offsets, times, arrays.keys, arrays.values)
