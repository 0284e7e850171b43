"""The batches of a range of a file, one after the other, and what cannot be read as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadMode, ReadOptions
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, OpenedBatch, ScannedBatch
from kafkawire.logs.scanning.scan import Scan
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch, decode_columns
from kafkawire.wire.errors import CorruptBatchError, OutputLimitError

__all__ = ["FileRange", "OpenedBatch", "ScannedBatch", "open_batch", "scan_batches", "scan_records"]

_OFFSETS_MAY_OVERFLOW_FROM: Final = (1 << 63) - (1 << 32)
_END_OF_OFFSETS: Final = 1 << 63
_CODEC_MASK: Final = 7
_LAST_CODEC: Final = 4


def scan_batches(
    file_range: FileRange,
    options: ReadOptions = DEFAULT_OPTIONS,
    accounts: Accounts | None = None,
    store: FileStore = LOCAL,
) -> Iterator[ScannedBatch | Flaw]:
    """The batches of a range that the options ask for, and the flaws between them, as they come.

    Raises:
        LogReadError: mode FAILFAST: at the first flaw. Any mode, code ``unreadable``: the file cannot be read.
    """
    booked = Accounts() if accounts is None else accounts
    try:
        for found in Scan(file_range, options, booked, store).run():
            if isinstance(found, Flaw):
                if not found.is_expected:
                    booked.failed(found.code)
                if options.mode is ReadMode.FAILFAST:
                    raise found.error()
            yield found
    except OSError as error:
        raise LogReadError("unreadable", file_range.file.path, str(error)) from None


def scan_records(
    file_range: FileRange,
    options: ReadOptions = DEFAULT_OPTIONS,
    accounts: Accounts | None = None,
    store: FileStore = LOCAL,
) -> Iterator[OpenedBatch | Flaw]:
    """As ``scan_batches``, with the records of each batch. Limits within a batch are the caller's to apply.

    Raises:
        LogReadError: as ``scan_batches``.
    """
    booked = Accounts() if accounts is None else accounts
    for scanned in scan_batches(file_range, options, booked, store):
        if isinstance(scanned, Flaw):
            yield scanned
            continue
        opened = open_batch(scanned, options)
        if isinstance(opened, Flaw):
            booked.not_decoded_after_all(opened.code, opened.size)
            booked.failed(opened.code)
            if options.mode is ReadMode.FAILFAST:
                raise opened.error()
        yield opened


def open_batch(scanned: ScannedBatch, options: ReadOptions) -> OpenedBatch | Flaw:
    """The batch with its records, or what is wrong with them."""
    batch = scanned.batch
    try:
        records = decode_columns(batch, limit=options.max_frame_bytes)
    except CorruptBatchError as error:
        return _flaw(scanned, _compression_code(batch, error), error.reason)
    except DecodeError as error:
        return _flaw(scanned, "bad_records", f"{error.path}: {error.reason}")
    if batch.base_offset > _OFFSETS_MAY_OVERFLOW_FROM and max(records.offsets, default=0) >= _END_OF_OFFSETS:
        return _flaw(scanned, "bad_records", "offsets beyond int64")
    return OpenedBatch(scanned.file, scanned.position, batch, records)


def _compression_code(batch: RecordBatch, error: CorruptBatchError) -> str:
    if batch.attributes & _CODEC_MASK > _LAST_CODEC:
        return "bad_codec"
    return "too_large" if isinstance(error, OutputLimitError) else "bad_compression"


def _flaw(scanned: ScannedBatch, code: str, reason: str) -> Flaw:
    batch = scanned.batch
    return Flaw(code, scanned.file, scanned.position, batch.size, batch.to_bytes(), reason, batch.base_offset)
