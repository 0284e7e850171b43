"""The frame of metadata records (metadata-frame): frame version, record id and record version, then the message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kafkawire.protocol import message_class
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import Octets
from kafkawire.wire.varint import read_uvarint, write_uvarint

FRAME_VERSION: Final = 1
METADATA_RECORD: Final = "metadata record"
"""The name in errors of a record of the metadata log."""
_LARGEST_NUMBER: Final = 32767
_USUAL_SIZE: Final = 3
"""Three numbers of one byte each: so far no record has a longer frame."""


class FramedRecord(msgspec.Struct, frozen=True, gc=False):
    """A message and its version."""

    message: Message
    version: int


def decode_framed(value: Octets | None, names: Mapping[int, str], log: str) -> FramedRecord:
    """The record in a frame (metadata-exact).

    Args:
        value: value of a record of the log.
        names: names of the record messages by id.
        log: the name of the record in errors, such as ``metadata record``.

    Raises:
        DecodeError: kind ``null``, ``version`` (an unknown frame or record version), ``record_type`` (an unknown id),
            ``trailing``, or the error of the message.
    """
    if value is None:
        raise DecodeError("null", "the value is null", message_name=log)
    octets = bytes(value)
    record_id, version, start = read_frame(octets, log)
    if record_id not in names:
        reason = f"no record has the id {record_id}"
        raise DecodeError("record_type", reason, message_name=log, offset=_end_of_numbers(octets, 1))
    found = message_class(names[record_id])
    if version not in found.VERSIONS:
        reason = f"there is no version {version}; versions are {found.VERSIONS.start} to {found.VERSIONS.stop - 1}"
        raise DecodeError("version", reason, message_name=found.NAME, offset=_end_of_numbers(octets, 2))
    message, end = found.decode_from(octets, start, version)
    found.refuse_trailing(octets, end, version)
    return FramedRecord(message, version)


def read_frame(value: bytes, log: str) -> tuple[int, int, int]:
    """Record id, record version, and the position of the message in the value of a record.

    Raises:
        DecodeError: kind ``truncated`` or ``varint``; ``version`` for an unknown frame version, and for numbers beyond
            int16.
    """
    if len(value) >= _USUAL_SIZE and value[0] == FRAME_VERSION and value[1] < 128 and value[2] < 128:
        return value[1], value[2], _USUAL_SIZE
    frame_version, at = _read_number(value, 0, "frame version", log)
    if frame_version != FRAME_VERSION:
        reason = f"frame version {frame_version}; {FRAME_VERSION} is known"
        raise DecodeError("version", reason, message_name=log, offset=0)
    record_id, at = _read_number(value, at, "record id", log)
    version, at = _read_number(value, at, "record version", log)
    return record_id, version, at


def encode_framed(message: Message, version: int, names: Mapping[int, str]) -> bytes:
    """The frame of a record.

    Raises:
        ValueError: the message is not a record of the log.
        UnsupportedVersionError, EncodeError: as ``Message.encode``.
    """
    if message.API_KEY is None or names.get(message.API_KEY) != message.NAME:
        raise ValueError(f"{message.NAME} is not a record of this log")
    body = message.encode(version)
    return write_uvarint(FRAME_VERSION) + write_uvarint(message.API_KEY) + write_uvarint(version) + body


def _read_number(value: Octets, at: int, what: str, log: str) -> tuple[int, int]:
    number, end = read_uvarint(value, at, message_name=log)
    if number > _LARGEST_NUMBER:
        reason = f"{what} {number}; {_LARGEST_NUMBER} is the largest"
        raise DecodeError("version", reason, message_name=log, offset=at)
    return number, end


def _end_of_numbers(octets: bytes, count: int) -> int:
    """The position after the first numbers of a frame."""
    at = 0
    for _ in range(count):
        _, at = read_uvarint(octets, at)
    return at
