"""The batches of a range of a file with their records, one batch after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, OpenedBatch, RecordColumns, RecordGroup, ScannedBatch
from kafkawire.logs.scanning.record_groups import read_batch, scan_groups

__all__ = ["open_batch", "scan_records"]


def scan_records(
    file_range: FileRange,
    options: ReadOptions = DEFAULT_OPTIONS,
    accounts: Accounts | None = None,
    store: FileStore = LOCAL,
) -> Iterator[OpenedBatch | Flaw]:
    """As ``scan_batches``, with the records of each batch. Limits within a batch are the caller's to apply.

    A batch of very many records comes in pieces, each of which is a batch that goes on where the one before it ends.

    Raises:
        LogReadError: as ``scan_batches``.
    """
    for found in scan_groups(file_range, options, Accounts() if accounts is None else accounts, store):
        if isinstance(found, Flaw):
            yield found
        else:
            yield from _opened(found)


def open_batch(scanned: ScannedBatch, options: ReadOptions) -> Iterator[OpenedBatch | Flaw]:
    """A batch with its records, in pieces if they are many, or what is wrong with them; nothing is booked."""
    for found in read_batch(scanned, options):
        if isinstance(found, Flaw):
            yield found
        else:
            yield from _opened(found)


def _opened(group: RecordGroup) -> Iterator[OpenedBatch]:
    offsets = cast("list[int]", group.offsets.to_pylist())
    timestamps = cast("list[int]", group.timestamps.to_pylist())
    keys, values = group.keys.to_pylist(), group.values.to_pylist()
    start = 0
    for scanned in group.batches:
        end = start + scanned.batch.records_count
        columns = RecordColumns(offsets[start:end], timestamps[start:end], keys[start:end], values[start:end])
        yield OpenedBatch(scanned.file, scanned.position, scanned.batch, columns)
        start = end
