"""Reading message sets of magic 0 and 1 (legacy-message-set). Brokers no longer write them since 4.0.

A compressed set is one wrapper message whose value holds the messages. Inner offsets are absolute in magic 0 and
relative in magic 1.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

from kafkawire.wire.batches.batch import CODEC_MASK, LOG_APPEND_TIME, NO_TIMESTAMP, Record
from kafkawire.wire.batches.framing import (
    LEGACY_ATTRIBUTES_OFFSET,
    LEGACY_BODY_OFFSET,
    LEGACY_CRC_OFFSET,
    EntryFrame,
    frame_at,
)
from kafkawire.wire.compression import Codec, decompress
from kafkawire.wire.errors import CorruptBatchError
from kafkawire.wire.message import Octets, Struct

_CRC: Final = struct.Struct(">I")
_TIMESTAMP: Final = struct.Struct(">q")
_LENGTH: Final = struct.Struct(">i")


class LegacyMessage(Struct, frozen=True, gc=False, kw_only=True):
    """One message of a set, or a wrapper.

    Attributes:
        offset: of the message, or of the last message inside a wrapper.
        magic: 0 or 1.
        crc: the CRC-32 in the message.
        codec: of a wrapper; ``NONE`` for a plain message.
        log_append_time: whether the timestamp is from the broker (magic 1 only).
        timestamp: milliseconds, -1 for none and in magic 0.
        key: may be null.
        value: may be null; of a wrapper, the compressed messages.
        position: where the message begins in its buffer.
        size: all its bytes.
    """

    offset: int
    magic: int
    crc: int
    codec: Codec
    log_append_time: bool
    timestamp: int
    key: bytes | None
    value: bytes | None
    position: int
    size: int


def legacy_message_at(buffer: Octets, frame: EntryFrame, *, check_crc: bool = True) -> LegacyMessage:
    """The message of a frame.

    Raises:
        CorruptBatchError: kind ``crc``, ``compression`` (codec code), ``truncated``, ``length`` or ``trailing``.
    """
    start, end = frame.position, frame.position + frame.size
    (crc,) = _CRC.unpack_from(buffer, start + LEGACY_CRC_OFFSET)
    if check_crc and crc != (actual := zlib.crc32(buffer[start + LEGACY_CRC_OFFSET + _CRC.size : end])):
        reason = f"the message states CRC {crc:#010x}, its bytes have {actual:#010x}"
        raise _corrupt(frame.magic, "crc", reason, start + LEGACY_CRC_OFFSET)
    attributes = buffer[start + LEGACY_ATTRIBUTES_OFFSET]
    timestamp, at = NO_TIMESTAMP, start + LEGACY_BODY_OFFSET
    if frame.magic == 1:
        (timestamp,) = _TIMESTAMP.unpack_from(buffer, at)
        at += _TIMESTAMP.size
    key, at = _read_bytes(buffer, at, end, frame.magic)
    value, at = _read_bytes(buffer, at, end, frame.magic)
    if at != end:
        raise _corrupt(frame.magic, "trailing", f"{end - at} bytes of the message are left", at)
    return LegacyMessage(
        offset=frame.offset,
        magic=frame.magic,
        crc=crc,
        codec=_codec_of(attributes, frame),
        log_append_time=frame.magic == 1 and bool(attributes & LOG_APPEND_TIME),
        timestamp=timestamp,
        key=key,
        value=value,
        position=start,
        size=frame.size,
    )


def legacy_records(message: LegacyMessage, *, limit: int, check_crc: bool = True) -> tuple[Record, ...]:
    """The records of a message: itself, or the messages inside a wrapper, with absolute offsets.

    Args:
        message: a plain message or a wrapper.
        limit: largest decompressed size of a wrapper, in bytes.
        check_crc: whether a wrong CRC of an inner message is an error.

    Raises:
        CorruptBatchError: a wrapper without value, without messages, with an inner message that is cut off, compressed
            or of another magic, with broken compression, or with an offset below that of its last message.
    """
    if message.codec is Codec.NONE:
        return (Record(message.offset, message.timestamp, message.key, message.value),)
    if message.value is None:
        raise _corrupt(message.magic, "null", "a compressed message set without value", message.position)
    data = decompress(message.codec, message.value, limit=limit, verify_lz4_header=message.magic != 0)
    inner = tuple(_inner_messages(message, data, check_crc))
    if not inner:
        raise _corrupt(message.magic, "truncated", "a compressed message set without messages", message.position)
    base_offset = _base_offset(message, inner[-1].offset)
    return tuple(
        Record(
            base_offset + each.offset,
            message.timestamp if message.log_append_time else each.timestamp,
            each.key,
            each.value,
        )
        for each in inner
    )


def _inner_messages(wrapper: LegacyMessage, data: bytes, check_crc: bool) -> Iterator[LegacyMessage]:
    position = 0
    while position < len(data):
        frame = frame_at(data, position)
        if frame is None:
            raise _corrupt(wrapper.magic, "truncated", "a message inside the wrapper is cut off", position)
        if frame.magic != wrapper.magic:
            reason = f"a message of magic {frame.magic} in a wrapper of magic {wrapper.magic}"
            raise _corrupt(wrapper.magic, "version", reason, position)
        message = legacy_message_at(data, frame, check_crc=check_crc)
        if message.codec is not Codec.NONE:
            raise _corrupt(wrapper.magic, "compression", "a compressed message inside a wrapper", position)
        yield message
        position += frame.size


def _base_offset(wrapper: LegacyMessage, last_inner_offset: int) -> int:
    """The number to add to the offsets inside a wrapper."""
    # Some producers leave the offset of a wrapper at 0 in magic 1; then only the relative offsets are known.
    if wrapper.magic == 0 or wrapper.offset == 0:
        return 0
    if wrapper.offset < last_inner_offset:
        reason = f"the wrapper's offset {wrapper.offset} is below its last message's, {last_inner_offset}"
        raise _corrupt(wrapper.magic, "length", reason, wrapper.position)
    return wrapper.offset - last_inner_offset


def _codec_of(attributes: int, frame: EntryFrame) -> Codec:
    code = attributes & CODEC_MASK
    if code > Codec.LZ4:
        reason = f"compression codec {code}; 0 to 3 are legal in magic {frame.magic}"
        raise _corrupt(frame.magic, "compression", reason, frame.position + LEGACY_ATTRIBUTES_OFFSET)
    return Codec(code)


def _read_bytes(buffer: Octets, at: int, end: int, magic: int) -> tuple[bytes | None, int]:
    start = at + _LENGTH.size
    if start > end:
        raise _corrupt(magic, "truncated", f"needs {_LENGTH.size} bytes, {end - at} are left", at)
    (size,) = _LENGTH.unpack_from(buffer, at)
    if size < 0:  # wire-negative-length: writers use -1, readers treat all negative lengths as null
        return None, start
    if size > end - start:
        raise _corrupt(magic, "truncated", f"needs {size} bytes, {end - start} are left", at)
    return bytes(buffer[start : start + size]), start + size


def _corrupt(magic: int, kind: str, reason: str, offset: int) -> CorruptBatchError:
    return CorruptBatchError(kind, reason, message_name="message set", version=magic, offset=offset)
