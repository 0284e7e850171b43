"""The metadata records of a batch that a history wants, decoded; the others are passed over by their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafkawire.logs.histories.kafkas_messages import KafkasMessage, Reader
from kafkawire.logs.registry import RecordRegistry
from kafkawire.logs.scanning.flaws import code_of
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.logs.tables.record_types import read_metadata_frame
from kafkawire.records.framed_records import FRAME_VERSION
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import FAST_PATH_FAILS
from kafkawire.wire.varint import write_uvarint

__all__ = ["MetadataRecords"]

_FRAME_SIZE: Final = 3
"""Frame version, type and version of a record: a byte each, as all are so far."""


class MetadataRecords:
    """Decodes records.

    Args:
        wanted: names of the messages that are wanted.
        registry: the record types that are known; records that nobody wants are passed over.
        failed: hears of records that are not as they should be.

    Attributes:
        lost_some: whether wanted records could not be decoded. Whoever looks resets it.
    """

    def __init__(
        self,
        wanted: frozenset[str],
        registry: RecordRegistry,
        failed: Callable[[str, str, OpenedBatch, int], None],
    ) -> None:
        self.lost_some = False
        self._failed = failed
        self._known = frozenset(registry.metadata)
        self._wanted = {
            number: KafkasMessage(name, registry) for number, name in registry.metadata.items() if name in wanted
        }
        others = self._known - self._wanted.keys()
        self._passed_over = frozenset(bytes((FRAME_VERSION,)) + write_uvarint(number) for number in others)
        self._readers: dict[bytes, Reader] = {
            bytes((FRAME_VERSION,)) + write_uvarint(number) + write_uvarint(version): reader
            for number, kind in self._wanted.items()
            for version, reader in kind.readers.items()
        }

    def of(self, found: OpenedBatch, first: int, limit: int | None) -> Iterator[tuple[Message, int, int]]:
        """The wanted records of a batch, with timestamp and offset.

        Args:
            found: the batch.
            first: records below this offset are left out.
            limit: records at this offset and after it are left out.
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
            elif value is None or self._passed_over.isdisjoint((value[:2], value[:3])):
                message = self._exactly(value, found, offset)
            if message is not None:
                yield message, timestamp, offset

    def _exactly(self, value: bytes | None, found: OpenedBatch, offset: int) -> Message | None:
        """Decode what is not framed as usual or not as long as it should be, or say what is wrong with it."""
        octets = value or b""
        try:
            number, version, start = read_metadata_frame(octets)
            if number not in self._known:
                self._failed("unknown_type", f"no record has the id {number}", found, offset)
                return None
            if number not in self._wanted:
                return None
            message, end = self._wanted[number].decode_from(octets, start, version)
        except DecodeError as error:
            self.lost_some = True
            self._failed(code_of(error), str(error), found, offset)
            return None
        if end < len(octets):
            self._failed("trailing_bytes", f"{len(octets) - end} bytes are left after {message.NAME}", found, offset)
        return message
