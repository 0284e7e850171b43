"""The records of one batch in pieces: a few kilobytes of compressed batch may hold millions of records.

All records of a batch are checked before the first piece is returned, since a batch with a broken record has no rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

import msgspec
import pyarrow.compute as pc

from kafkawire.columns.record_arrays import RecordArrays, arrays_of_records, decode_some_record_arrays
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import LARGE_PAYLOAD, OCTETS_AT_A_TIME, RECORDS_AT_A_TIME
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.wire import DecodeError
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.batches.batch import CODEC_MASK
from kafkawire.wire.batches.reader import decode_some_records
from kafkawire.wire.compression import Codec
from kafkawire.wire.errors import CorruptBatchError, OutputLimitError

_MOST_EXACT_RECORDS: Final = 64
"""Most records of a piece that is decoded record by record, with an object for each."""
_PART_OF_FRAME: Final = 16
_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1


class _RefusedError(Exception):
    """Records that are valid on the wire but exceed a limit of tables.

    Attributes:
        code: one of ``FLAW_CODES``.
    """

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(reason)


def largest_record(file: LogFile, options: ReadOptions) -> int | None:
    """Most bytes of a key or value that is decoded as a message; None in logs whose records are no messages.

    A malicious message can take many times its size in memory. Brokers accept records of 1 MiB by
    default; those of the metadata log are far smaller.
    """
    has_messages = file.topic is None or file.topic == METADATA_TOPIC or file.topic in options.registry.coordinators
    return max(options.max_frame_bytes // _PART_OF_FRAME, LARGE_PAYLOAD) if has_messages else None


def read_in_pieces(
    file: LogFile, batch: RecordBatch, payload: bytes, largest: int | None
) -> Iterator[RecordGroup | Flaw]:
    """The records of a batch, or its flaw.

    Args:
        file: the file of the batch.
        batch: the batch.
        payload: its records, decompressed.
        largest: most bytes of a key or a value; None for any number.
    """
    try:
        pieces = _pieces(file, batch, payload, largest)
        first = next(pieces)
        if len(first) == batch.records_count:
            yield first
            return
        del first
        deque(pieces, maxlen=0)
        yield from _pieces(file, batch, payload, largest)
    except DecodeError as error:
        yield refused(file, batch, error)
    except _RefusedError as error:
        yield flaw_of(file, batch, error.code, str(error))


def _pieces(file: LogFile, batch: RecordBatch, payload: bytes, largest: int | None) -> Iterator[RecordGroup]:
    """The pieces; each is a batch that begins where the one before it ends.

    Raises:
        DecodeError: records are broken.
        _RefusedError: an offset is beyond int64, or a key or value is too large.
    """
    at, read, begin = 0, 0, batch.base_offset
    while True:
        columns, at = _columns(batch, payload, at, read)
        if largest is not None and len(payload) > largest:
            _refuse_larger(columns, largest)
        count = len(columns.offsets)
        first, read = read, read + count
        if read == batch.records_count:
            decode_some_records(batch, payload, at, read, 0)  # nothing is left over
            piece = _part(batch, begin, batch.last_offset, count) if first else batch
            yield RecordGroup(file, [piece], columns)
            return
        end = max(begin - 1, min(pc.max(columns.offsets).as_py(), batch.last_offset))
        yield RecordGroup(file, [_part(batch, begin, end, count)], columns)
        begin = end + 1


def _part(batch: RecordBatch, begin: int, end: int, count: int) -> RecordBatch:
    """A batch with the header that it would have with only some of its records."""
    return msgspec.structs.replace(batch, base_offset=begin, last_offset_delta=end - begin, records_count=count)


def _columns(batch: RecordBatch, payload: bytes, at: int, first: int) -> tuple[RecordArrays, int]:
    """Some records from a position on, and the position where they end.

    Raises:
        DecodeError, _RefusedError: as ``_pieces``.
    """
    left = batch.records_count - first
    found = decode_some_record_arrays(batch, payload, at, min(left, RECORDS_AT_A_TIME), OCTETS_AT_A_TIME)
    return found or _exact_columns(batch, payload, at, first, min(left, _MOST_EXACT_RECORDS))


def _exact_columns(batch: RecordBatch, payload: bytes, at: int, first: int, count: int) -> tuple[RecordArrays, int]:
    """As ``_columns``, record by record.

    Raises:
        DecodeError, _RefusedError: as ``_pieces``.
    """
    records, end = decode_some_records(batch, payload, at, first, count)
    offsets = [record.offset for record in records]
    if records and not _LOWEST <= min(offsets) <= max(offsets) <= _HIGHEST:
        raise _RefusedError("bad_records", "offsets beyond int64")
    times = [min(max(record.timestamp, _LOWEST), _HIGHEST) for record in records]
    inside = [msgspec.structs.replace(record, timestamp=time) for record, time in zip(records, times, strict=True)]
    return arrays_of_records([batch] * len(inside), inside), end


def _refuse_larger(columns: RecordArrays, largest: int) -> None:
    for octets in (columns.keys, columns.values):
        size = pc.max(pc.binary_length(octets)).as_py() or 0
        if size > largest:
            reason = f"a record with {size} bytes; at most {largest}, a sixteenth of the largest batch, are decoded"
            raise _RefusedError("too_large", reason)


def refused(file: LogFile, batch: RecordBatch, error: CorruptBatchError | DecodeError) -> Flaw:
    """The flaw of a batch whose records raised an error."""
    if isinstance(error, CorruptBatchError):
        return flaw_of(file, batch, _compression_code(batch, error), error.reason)
    return flaw_of(file, batch, "bad_records", f"{error.path}: {error.reason}")


def flaw_of(file: LogFile, batch: RecordBatch, code: str, reason: str) -> Flaw:
    """A flaw of a whole batch."""
    return Flaw(code, file, batch.position, batch.size, batch.to_bytes(), reason, batch.base_offset)


def _compression_code(batch: RecordBatch, error: CorruptBatchError) -> str:
    if batch.attributes & CODEC_MASK > max(Codec):
        return "bad_codec"
    return "too_large" if isinstance(error, OutputLimitError) else "bad_compression"
