"""Messages with an int16 version prefix, which is how Kafka frames most messages outside of requests."""

from __future__ import annotations

import struct
from typing import Final, TypeVar

from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import Octets

M = TypeVar("M", bound=Message)
_PREFIX: Final = struct.Struct(">h")
PREFIX_SIZE: Final = _PREFIX.size


def read_prefix(data: Octets, message_name: str, *, offset: int = 0) -> int:
    """The int16 at an offset.

    Raises:
        DecodeError: kind ``truncated``.
    """
    left = len(data) - offset
    if left < PREFIX_SIZE:
        reason = f"needs {PREFIX_SIZE} bytes, {left} are left"
        raise DecodeError("truncated", reason, message_name=message_name, path="version", offset=offset)
    number: int = _PREFIX.unpack_from(data, offset)[0]
    return number


def decode_prefixed(message_class: type[M], data: Octets, *, newer_as_highest: bool = False) -> tuple[M, int]:
    """The message and the version that was used to decode it. Bytes after the message are ignored.

    Args:
        message_class: the message.
        data: the version and the body.
        newer_as_highest: whether to decode a newer version as the newest known one, for messages whose later versions
            only append fields.

    Raises:
        DecodeError: kind ``version``, or the error of the body.
    """
    version = _version(message_class, data, newer_as_highest=newer_as_highest)
    message, _ = message_class.decode_from(data, PREFIX_SIZE, version)
    return message, version


def decode_whole(message_class: type[M], data: Octets) -> tuple[M, int]:
    """As ``decode_prefixed``, for messages that must fill the data.

    Raises:
        DecodeError: kind ``trailing`` too.
    """
    octets = bytes(data)
    version = _version(message_class, octets, newer_as_highest=False)
    message, end = message_class.decode_from(octets, PREFIX_SIZE, version)
    message_class.refuse_trailing(octets, end, version)
    return message, version


def encode_prefixed(message: Message, version: int) -> bytes:
    """The version and the body.

    Raises:
        UnsupportedVersionError, EncodeError: as ``Message.encode``.
    """
    return _PREFIX.pack(version) + message.encode(version)


def _version(message_class: type[Message], data: Octets, *, newer_as_highest: bool) -> int:
    stated = read_prefix(data, message_class.NAME)
    highest = message_class.VERSIONS.stop - 1
    version = highest if newer_as_highest and stated > highest else stated
    if version not in message_class.VERSIONS:
        lowest = message_class.VERSIONS.start
        reason = f"there is no version {stated}; versions are {lowest} to {highest}"
        raise DecodeError("version", reason, message_name=message_class.NAME, path="version", offset=0)
    return version
