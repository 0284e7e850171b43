"""The metadata records of a batch that a history wants, decoded; the others are passed over by their number."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.protocol import message_class
from kafkawire.protocol.record_registries import METADATA_RECORDS
from kafkawire.records.framed_records import FRAME_VERSION
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import FAST_PATH_FAILS
from kafkawire.wire.varint import write_uvarint

__all__ = ["FAILURE_CODES", "MetadataRecords"]

FAILURE_CODES: Final = {
    "record_type": "unknown_type",
    "version": "unsupported_version",
    "trailing": "trailing_bytes",
}
"""Kind of a ``DecodeError`` to the code of what is wrong; any other is a ``decode_error``."""

_FRAME_SIZE: Final = 3
"""Frame version, type and version of a record: a byte each, as all are so far."""


class MetadataRecords:
    """Decodes records.

    Args:
        wanted: names of the messages that are wanted.
        known: numbers of all record types, own ones as well; records that nobody wants are passed over.
        failed: hears of records that are not as they should be.

    Attributes:
        lost_some: whether wanted records could not be decoded. Whoever looks resets it.
    """

    def __init__(
        self,
        wanted: frozenset[str],
        known: Collection[int],
        failed: Callable[[str, str, OpenedBatch, int], None],
    ) -> None:
        self.lost_some = False
        self._failed = failed
        kinds = {number: message_class(name) for number, name in METADATA_RECORDS.items() if name in wanted}
        self._wanted = frozenset(kinds)
        others = frozenset(known) - self._wanted
        self._passed_over = frozenset(bytes((FRAME_VERSION,)) + write_uvarint(number) for number in others)
        self._readers: dict[bytes, Callable[[bytes, int], tuple[Message, int]]] = {
            bytes((FRAME_VERSION, number, version)): kind.fast_reader(version)
            for number, kind in kinds.items()
            for version in kind.VERSIONS
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
                    message = self._with_bytes_left(value, found, offset)
            elif value is None or self._passed_over.isdisjoint((value[:2], value[:3])):
                message = self._exactly(value, found, offset)
            if message is not None:
                yield message, timestamp, offset

    def _with_bytes_left(self, value: bytes, found: OpenedBatch, offset: int) -> Message | None:
        """A record that the bytes of its value do not end with, if it is one."""
        kind = message_class(METADATA_RECORDS[value[1]])
        try:
            message, end = kind.decode_from(value, _FRAME_SIZE, value[2])
        except DecodeError:
            return self._exactly(value, found, offset)
        if end < len(value):
            self._failed("trailing_bytes", f"{len(value) - end} bytes are left after {kind.NAME}", found, offset)
        return message

    def _exactly(self, value: bytes | None, found: OpenedBatch, offset: int) -> Message | None:
        """Decode what is not framed as usual, or say what is wrong with it."""
        try:
            message = decode_metadata_record(value).message
        except DecodeError as error:
            code = FAILURE_CODES.get(error.kind, "decode_error")
            self.lost_some = self.lost_some or code != "unknown_type"
            self._failed(code, str(error), found, offset)
            return None
        return message if message.API_KEY in self._wanted else None
