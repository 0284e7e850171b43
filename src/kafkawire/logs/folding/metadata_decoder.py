"""The metadata records that a history needs, decoded; the others are skipped by their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.message_decoder import MessageDecoder, Reader
from kafkawire.logs.frames.flaws import code_of
from kafkawire.logs.registry import RecordRegistry
from kafkawire.logs.tables.rows import RawRows
from kafkawire.records.framed_records import FRAME_VERSION, METADATA_RECORD, read_frame
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message_codec import FAST_PATH_FAILS
from kafkawire.wire.varint import write_uvarint

_FRAME_SIZE: Final = 3
"""Frame version, record id and record version, a byte each: so far no record has a longer frame."""


class MetadataDecoder:
    """Decodes the records of batches.

    Args:
        needed: names of the messages that the history needs.
        registry: all record types.
        failed: called for each malformed record, with the arguments of ``FoldSource.failed``.

    Attributes:
        lost_some: whether a needed record could not be decoded. The caller resets it.
    """

    def __init__(
        self,
        needed: frozenset[str],
        registry: RecordRegistry,
        failed: Callable[[str, str, LogFile, int, int], None],
    ) -> None:
        self.lost_some: bool = False
        self._failed = failed
        self._known = frozenset(registry.metadata)
        self._needed = {
            number: MessageDecoder(name, registry) for number, name in registry.metadata.items() if name in needed
        }
        others = self._known - self._needed.keys()
        heads = [bytes((FRAME_VERSION,)) + write_uvarint(number) for number in sorted(others)]
        by_length = (list(same) for _, same in groupby(sorted(heads, key=len), key=len))
        self._skipped = [pa.array(same, pa.binary()) for same in by_length]
        self._readers: dict[bytes, Reader] = {
            bytes((FRAME_VERSION,)) + write_uvarint(number) + write_uvarint(version): reader
            for number, kind in self._needed.items()
            for version, reader in kind.readers.items()
        }

    def records_of(self, rows: RawRows, first: int, limit: int | None) -> Iterator[tuple[Message, int, int]]:
        """The needed records among some rows, with timestamp and offset.

        Args:
            rows: records of a log, control records included.
            first: records before this offset are skipped.
            limit: records from this offset on are skipped; None for no limit.
        """
        needed, readers = self._needed_rows(rows, first, limit), self._readers
        offsets, timestamps = (
            cast("list[int]", needed.columns.column(name).to_pylist()) for name in ("log_offset", "timestamp")
        )
        values = needed.values.to_pylist()
        for row, (value, timestamp, offset) in enumerate(zip(values, timestamps, offsets, strict=True)):
            reader = None if value is None else readers.get(value[:_FRAME_SIZE])
            message: Message | None = None
            if reader is not None and value is not None:
                try:
                    message, end = reader(value, _FRAME_SIZE)
                except FAST_PATH_FAILS:
                    end = -1
                if end != len(value):
                    message = self._exactly(value, needed, row, offset)
            else:
                message = self._exactly(value, needed, row, offset)
            if message is not None:
                yield message, timestamp, offset

    def _needed_rows(self, rows: RawRows, first: int, limit: int | None) -> RawRows:
        """The rows within the limits, without control records and those of other types, which are most of a log."""
        offsets = cast("pa.Int64Array", rows.columns.column("log_offset"))
        wanted = pc.and_not(pc.greater_equal(offsets, pa.scalar(first, pa.int64())), rows.control)
        if limit is not None:
            wanted = pc.and_(wanted, pc.less(offsets, pa.scalar(limit, pa.int64())))
        for skipped in self._skipped:
            length = len(skipped[0].as_py())
            wanted = pc.and_not(wanted, pc.is_in(pc.binary_slice(rows.values, 0, length), skipped))
        return rows.where(wanted)

    def _exactly(self, value: bytes | None, rows: RawRows, row: int, offset: int) -> Message | None:
        """Decode a record that the fast path refused, or report its error."""
        octets = value or b""
        position = cast("int", rows.columns.column("batch_position")[row].as_py())
        try:
            number, version, start = read_frame(octets, METADATA_RECORD)
            if number not in self._known:
                self._failed("unknown_type", f"no record has the id {number}", rows.file, position, offset)
                return None
            if number not in self._needed:
                return None
            message, end = self._needed[number].decode_from(octets, start, version)
        except DecodeError as error:
            self.lost_some = True
            self._failed(code_of(error), str(error), rows.file, position, offset)
            return None
        if end < len(octets):
            reason = f"{len(octets) - end} bytes are left after {message.NAME}"
            self._failed("trailing_bytes", reason, rows.file, position, offset)
        return message
