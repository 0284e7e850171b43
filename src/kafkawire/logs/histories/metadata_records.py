"""The metadata records of a batch that a history wants, decoded; the others are passed over by their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.protocol import message_class
from kafkawire.protocol.record_registries import METADATA_RECORDS
from kafkawire.records.framed_records import FRAME_VERSION
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.wire import DecodeError, Message, UnsupportedVersionError

__all__ = ["FAILURE_CODES", "MetadataRecords"]

FAILURE_CODES: Final = {
    "record_type": "unknown_type",
    "version": "unsupported_version",
    "trailing": "trailing_bytes",
}
"""Kind of a ``DecodeError`` to the code of what is wrong; any other is a ``decode_error``."""

_LARGEST_OF_ONE_BYTE: Final = 0x7F
_FRAME_SIZE: Final = 3


class MetadataRecords:
    """Decodes records.

    Args:
        wanted: names of the messages that are wanted.
        failed: hears of records that are not as they should be.

    Attributes:
        lost_some: whether wanted records could not be decoded. Whoever looks resets it.
    """

    def __init__(self, wanted: frozenset[str], failed: Callable[[str, str, OpenedBatch, int], None]) -> None:
        self.lost_some = False
        self._failed = failed
        self._wanted = {number: message_class(name) for number, name in METADATA_RECORDS.items() if name in wanted}
        self._others = frozenset(METADATA_RECORDS) - frozenset(self._wanted)

    def of(self, found: OpenedBatch, first: int, limit: int | None) -> Iterator[tuple[Message, int, int]]:
        """The wanted records of a batch, with timestamp and offset.

        Args:
            found: the batch.
            first: records below this offset are left out.
            limit: records at this offset and after it are left out.
        """
        records = found.records
        for offset, timestamp, value in zip(records.offsets, records.timestamps, records.values, strict=True):
            if offset < first:
                continue
            if limit is not None and offset >= limit:
                return
            number = _number(value)
            if number in self._others:
                continue
            message = self._decoded(number, value, found, offset)
            if message is not None:
                yield message, timestamp, offset

    def _decoded(self, number: int | None, value: bytes | None, found: OpenedBatch, offset: int) -> Message | None:
        wanted = None if number is None else self._wanted.get(number)
        if wanted is None or value is None:
            return self._exactly(value, found, offset)
        version = value[2]
        try:
            message, end = wanted.decode_from(value, _FRAME_SIZE, version)
        except (DecodeError, UnsupportedVersionError):
            return self._exactly(value, found, offset)
        if end < len(value):
            reason = f"{len(value) - end} bytes are left after {wanted.NAME} {version}"
            self._failed("trailing_bytes", reason, found, offset)
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


def _number(value: bytes | None) -> int | None:
    """The record type, if it and the version are written in a byte each, as all are so far."""
    if value is None or len(value) < _FRAME_SIZE or value[0] != FRAME_VERSION:
        return None
    number, version = value[1], value[2]
    return None if number > _LARGEST_OF_ONE_BYTE or version > _LARGEST_OF_ONE_BYTE else number
