"""Variable-length integers (wire-uvarint, wire-varint, wire-varlong).

Seven bits a byte, least significant group first, the high bit set on all bytes but the last. Writers use the
shortest form; readers accept padded forms. Bits beyond the type's width are dropped, as Kafka's own readers do.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from kafkawire.wire.errors import DecodeError
from kafkawire.wire.message import Octets

_MASK_32: Final = 0xFFFF_FFFF
_MASK_64: Final = 0xFFFF_FFFF_FFFF_FFFF
_BYTES_32: Final = 5
_BYTES_64: Final = 10
_ONE_BYTE: Final = tuple(bytes((value,)) for value in range(128))
_THREE_BYTES: Final = Struct("3B").pack


def read_uvarint(buffer: Octets, offset: int, *, message_name: str = "uvarint") -> tuple[int, int]:
    """Read an unsigned varint of a 32-bit value; returns the value (0 to 2^32 - 1) and where it ends.

    Values of 2^31 and more are not lengths, counts or tags: the caller must refuse them.

    Raises:
        DecodeError: kind ``truncated`` or ``varint`` (more than five bytes).
    """
    value, end = _read_groups(buffer, offset, _BYTES_32, message_name)
    return value & _MASK_32, end


def read_varint(buffer: Octets, offset: int, *, message_name: str = "varint") -> tuple[int, int]:
    """Read a zig-zag varint; returns an int32 and where it ends.

    Raises:
        DecodeError: kind ``truncated`` or ``varint`` (more than five bytes).
    """
    value, end = _read_groups(buffer, offset, _BYTES_32, message_name)
    value &= _MASK_32
    return (value >> 1) ^ -(value & 1), end


def read_varlong(buffer: Octets, offset: int, *, message_name: str = "varlong") -> tuple[int, int]:
    """Read a zig-zag varlong; returns an int64 and where it ends.

    Raises:
        DecodeError: kind ``truncated`` or ``varint`` (more than ten bytes).
    """
    value, end = _read_groups(buffer, offset, _BYTES_64, message_name)
    value &= _MASK_64
    return (value >> 1) ^ -(value & 1), end


def write_uvarint(value: int) -> bytes:
    """The shortest form of an unsigned 32-bit value.

    Raises:
        ValueError: the value is outside 0 to 2^32 - 1.
    """
    if 0 <= value < 128:
        return _ONE_BYTE[value]
    if not 0 <= value <= _MASK_32:
        raise ValueError(f"{value} is not an unsigned 32-bit number")
    return _write_groups(value)


def write_compact_length(length: int) -> bytes:
    """A compact length or count: the shortest varint of one more (wire-uvarint).

    Raises:
        ValueError: the length is outside 0 to 2^31 - 2.
    """
    value = length + 1
    if 0x3FFF < value < 0x20_0000:  # fast path: the length of most record batches
        return _THREE_BYTES(value & 0x7F | 0x80, value >> 7 & 0x7F | 0x80, value >> 14)
    if not 0 < value < 1 << 31:
        raise ValueError(f"{length} is no length")
    return write_uvarint(value)


def write_varint(value: int) -> bytes:
    """The shortest zig-zag form of an int32.

    Raises:
        ValueError: the value is outside int32.
    """
    if -64 <= value < 64:
        return _ONE_BYTE[(value << 1) ^ (value >> 31)]
    if -8192 <= value < 8192:
        value = (value << 1) ^ (value >> 31)
        return bytes((value & 0x7F | 0x80, value >> 7))
    if not -(1 << 31) <= value < 1 << 31:
        raise ValueError(f"{value} is not an int32")
    return _write_groups((value << 1) ^ (value >> 31))


def write_varlong(value: int) -> bytes:
    """The shortest zig-zag form of an int64.

    Raises:
        ValueError: the value is outside int64.
    """
    if -64 <= value < 64:
        return _ONE_BYTE[(value << 1) ^ (value >> 63)]
    if -8192 <= value < 8192:
        value = (value << 1) ^ (value >> 63)
        return bytes((value & 0x7F | 0x80, value >> 7))
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{value} is not an int64")
    return _write_groups((value << 1) ^ (value >> 63))


def _read_groups(buffer: Octets, offset: int, max_bytes: int, message_name: str) -> tuple[int, int]:
    value = shift = 0
    end = offset
    try:
        while True:
            byte = buffer[end]
            end += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, end
            shift += 7
            if end - offset == max_bytes:
                break
    except IndexError:
        reason = f"the number goes on, {len(buffer) - offset} bytes are left"
        raise DecodeError("truncated", reason, message_name=message_name, offset=offset) from None
    reason = f"more than {max_bytes} bytes in one number"
    raise DecodeError("varint", reason, message_name=message_name, offset=offset)


def _write_groups(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
