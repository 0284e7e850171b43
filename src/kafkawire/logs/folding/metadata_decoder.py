"""The metadata records that a history needs, decoded; the others are skipped by their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafkawire.logs.folding.message_decoder import MessageDecoder, Reader
from kafkawire.logs.frames.flaws import code_of
from kafkawire.logs.records.batch_records import OpenedBatch
from kafkawire.logs.registry import RecordRegistry
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
        failed: called with the code, the reason, the batch and the offset of each malformed record.

    Attributes:
        lost_some: whether a needed record could not be decoded. The caller resets it.
    """

    def __init__(
        self,
        needed: frozenset[str],
        registry: RecordRegistry,
        failed: Callable[[str, str, OpenedBatch, int], None],
    ) -> None:
        self.lost_some = False
        self._failed = failed
        self._known = frozenset(registry.metadata)
        self._needed = {
            number: MessageDecoder(name, registry) for number, name in registry.metadata.items() if name in needed
        }
        others = self._known - self._needed.keys()
        self._skipped = frozenset(bytes((FRAME_VERSION,)) + write_uvarint(number) for number in others)
        self._readers: dict[bytes, Reader] = {
            bytes((FRAME_VERSION,)) + write_uvarint(number) + write_uvarint(version): reader
            for number, kind in self._needed.items()
            for version, reader in kind.readers.items()
        }

    def records_of(self, found: OpenedBatch, first: int, limit: int | None) -> Iterator[tuple[Message, int, int]]:
        """The needed records of a batch, with timestamp and offset.

        Args:
            found: the batch.
            first: records before this offset are skipped.
            limit: records from this offset on are skipped; None for no limit.
        """
        records, readers = found.records, self._readers
        for offset, timestamp, value in zip(records.offsets, records.timestamps, records.values, strict=True):
            if offset < first:
                continue
            if limit is not None and offset >= limit:
                return
            reader = None if value is None else readers.get(value[:_FRAME_SIZE])
            message: Message | None = None
            if reader is not None and value is not None:
                try:
                    message, end = reader(value, _FRAME_SIZE)
                except FAST_PATH_FAILS:
                    end = -1
                if end != len(value):
                    message = self._exactly(value, found, offset)
            elif value is None or self._skipped.isdisjoint((value[:2], value[:3])):
                message = self._exactly(value, found, offset)
            if message is not None:
                yield message, timestamp, offset

    def _exactly(self, value: bytes | None, found: OpenedBatch, offset: int) -> Message | None:
        """Decode a record that the fast path refused, or report its error."""
        octets = value or b""
        try:
            number, version, start = read_frame(octets, METADATA_RECORD)
            if number not in self._known:
                self._failed("unknown_type", f"no record has the id {number}", found, offset)
                return None
            if number not in self._needed:
                return None
            message, end = self._needed[number].decode_from(octets, start, version)
        except DecodeError as error:
            self.lost_some = True
            self._failed(code_of(error), str(error), found, offset)
            return None
        if end < len(octets):
            self._failed("trailing_bytes", f"{len(octets) - end} bytes are left after {message.NAME}", found, offset)
        return message
