"""The records of batches. Small batches are decoded together, since each call of an Arrow kernel has a fixed cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from kafkawire.columns.record_arrays import LARGEST_PAYLOADS, decode_record_arrays
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch, count_flaw, scan_runs
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import GATHERED_OCTETS, LARGE_PAYLOAD, RECORDS_AT_A_TIME
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.records.batch_records import OpenedBatch, RecordColumns, RecordGroup
from kafkawire.logs.records.pieces import flaw_of, largest_record, read_in_pieces, refused
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.framing import HEADER_SIZE
from kafkawire.wire.batches.reader import open_payload
from kafkawire.wire.errors import CorruptBatchError


def scan_groups(
    file_range: FileRange, options: ReadOptions, accounts: Accounts, store: FileStore
) -> Iterator[RecordGroup | Flaw]:
    """As ``scan_batches``, with the records as Arrow arrays. The caller applies limits within a batch.

    Raises:
        LogReadError: as ``scan_batches``.
    """
    reader = _Reader(file_range.file, options, accounts)
    for found in scan_runs(file_range, options, accounts, store):
        if isinstance(found, Flaw):
            yield from reader.take()
            yield found
        else:
            yield from reader.add(found)
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
    opened = _opened(scanned.file, scanned.batch, options.max_frame_bytes)
    if isinstance(opened, Flaw):
        yield opened
        return
    for found in read_in_pieces(scanned.file, scanned.batch, opened, largest_record(scanned.file, options)):
        if isinstance(found, Flaw):
            yield found
        else:
            yield from _batches_of(found)


def _batches_of(group: RecordGroup) -> Iterator[OpenedBatch]:
    records = group.records
    offsets = cast("list[int]", records.offsets.to_pylist())
    timestamps = cast("list[int]", records.timestamps.to_pylist())
    keys, values = records.keys.to_pylist(), records.values.to_pylist()
    start = 0
    for batch in group.batches:
        end = start + batch.records_count
        columns = RecordColumns(offsets[start:end], timestamps[start:end], keys[start:end], values[start:end])
        yield OpenedBatch(group.file, batch.position, batch, columns)
        start = end


class _Reader:
    """Collects batches until there are enough, and decodes their records."""

    def __init__(self, file: LogFile, options: ReadOptions, accounts: Accounts) -> None:
        self._file = file
        self._largest = largest_record(file, options)
        self._options = options
        self._accounts = accounts
        self._limit = min(options.max_frame_bytes, LARGEST_PAYLOADS - GATHERED_OCTETS)
        self._clear()

    def _clear(self) -> None:
        self._batches: list[RecordBatch] = []
        self._payloads: list[bytes] = []
        self._records = 0
        self._octets = 0

    def add(self, batches: Sequence[RecordBatch]) -> Iterator[RecordGroup | Flaw]:
        """Decompress more batches; returns the collected ones once they are enough, and before a broken one."""
        for batch in batches:
            payload = _opened(self._file, batch, self._limit)
            if isinstance(payload, Flaw):
                yield from self._before(iter((payload,)))
                continue
            count, size = batch.records_count, len(payload)
            if count > RECORDS_AT_A_TIME or size > LARGE_PAYLOAD:
                yield from self._before(read_in_pieces(self._file, batch, payload, self._largest))
                continue
            self._batches.append(batch)
            self._payloads.append(payload)
            # A batch without records takes memory too, and its payload may have bytes all the same.
            self._records += count or 1
            self._octets += HEADER_SIZE + (size or len(batch.payload))
            if self._records >= RECORDS_AT_A_TIME or self._octets >= GATHERED_OCTETS:
                yield from self.take()

    def take(self) -> Iterator[RecordGroup | Flaw]:
        """The collected batches with their records; the collection is then empty."""
        batches, payloads = self._batches, self._payloads
        self._clear()
        if not batches:
            return
        records = decode_record_arrays(batches, payloads)
        if records is not None:
            yield RecordGroup(self._file, batches, records)
            return
        for batch, payload in zip(batches, payloads, strict=True):  # one of them needs the exact decoder
            yield from self._counted(read_in_pieces(self._file, batch, payload, self._largest))

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


def _opened(file: LogFile, batch: RecordBatch, limit: int) -> bytes | Flaw:
    """The decompressed records of a batch, or the flaw."""
    if not batch.records_count:
        return b""
    try:
        payload = open_payload(batch, limit)
    except (CorruptBatchError, DecodeError) as error:
        return refused(file, batch, error)
    if len(payload) > limit:
        return flaw_of(file, batch, "too_large", f"{len(payload)} bytes of records")
    return payload
