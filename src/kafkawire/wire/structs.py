"""The functions that generated codecs call: cached ``struct`` functions, and the less frequent cases of a value.

All of them expect ``bytes`` as buffer and raise ValueError, IndexError or struct.error without a message: if one fails,
the reference codec repeats the work and reports the error (:mod:`kafkawire.wire.message`). A slice past the end of the
buffer is not checked at once: the position is then past the end, so the next read or the final comparison fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from struct import Struct, calcsize
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

from kafkawire.layout import FIELD_TYPES, Uuid
from kafkawire.wire.varint import write_compact_length, write_uvarint

Item = TypeVar("Item")

Packer = Callable[..., bytes]
"""Writes values of fixed width side by side."""

Unpacker = Callable[[bytes, int], tuple[Any, ...]]
"""Reads such values from a position on."""

ReadMany: TypeAlias = Callable[[bytes, int, int], tuple[tuple[Item, ...], int]]
"""Reads a number of structs from a position on; returns them and the position after them."""

Tags = tuple[tuple[int, bytes], ...]
"""Unknown tagged fields: (tag, raw payload) in ascending order."""

ZERO_UUID = Uuid()

NOTHING = ()
BYTES = tuple(bytes((number,)) for number in range(256))
"""Every single byte, by its number."""

FEW = 127
"""Arrays with fewer elements than this have a compact count of one byte; numbers have ready-made ``struct`` objects."""

SHORT = 64
"""Strings of fewer bytes are packed in pairs: at most SHORT times SHORT ``struct`` objects."""

NULL_TEXT = b"\xff\xff"
NULL_OCTETS = NULL_COUNT = b"\xff\xff\xff\xff"

_MAXIMUM_LENGTH = 0x7FFFFFFF
_MAXIMUM_TEXT = 0x7FFF
_MAXIMUM_TAG = 0x7FFFFFFE


@cache
def unpacker(code: str) -> Unpacker:
    """The function that reads neighbouring big-endian values of the given ``struct`` codes."""
    return Struct(f">{code}").unpack_from


@cache
def packer(code: str) -> Packer:
    """The function that writes neighbouring big-endian values of the given ``struct`` codes."""
    return Struct(f">{code}").pack


@cache
def iterator(code: str) -> Callable[[bytes], Iterator[tuple[Any, ...]]]:
    """The function that reads groups of big-endian values of the given ``struct`` codes until the bytes end."""
    return Struct(f">{code}").iter_unpack


def loader(type_name: str) -> Callable[[Any], Any]:
    """The function that converts what ``struct`` reads to a value of a field type."""
    return cast("Callable[[Any], Any]", FIELD_TYPES[type_name].load)


def dumper(type_name: str) -> Callable[[Any], Any]:
    """The function that converts a value of a field type to what ``struct`` writes."""
    return cast("Callable[[Any], Any]", FIELD_TYPES[type_name].dump)


@cache
def unpackers(code: str) -> tuple[Unpacker, ...]:
    """For each count below FEW the function that reads that number of big-endian numbers of a ``struct`` code."""
    return tuple(Struct(f">{count}{code}").unpack_from for count in range(FEW))


@cache
def packers(code: str) -> list[Packer]:
    """For each count below FEW the function that writes that number of big-endian numbers of a ``struct`` code."""

    def first_call(*numbers: float) -> bytes:
        count = len(numbers)
        made[count] = Struct(f">{count}{code}").pack
        return made[count](*numbers)

    made: list[Packer] = [bytes, *[first_call] * (FEW - 1)]
    return made


@cache
def text_unpackers(code: str) -> list[Unpacker]:
    """For each compact length n of one byte the function that reads n - 1 bytes and the values after them.

    The byte in front of the bytes is their length. A function is made at its first call, because most lengths never
    occur and making all of them would slow down the import.
    """

    def first_call(buffer: bytes, at: int) -> tuple[Any, ...]:
        n = buffer[at - 1]
        made[n] = Struct(f">{n - 1}s{code}").unpack_from
        return made[n](buffer, at)

    made: list[Unpacker] = [first_call] * 128
    return made


@cache
def text_packers(before: str, after: str) -> list[Packer]:
    """For each length below 127 the function that writes values, n + 1 as a byte, n bytes and further values."""
    return _made_when_called(_value_count(before), FEW, lambda n: Struct(f">{before}B{n}s{after}").pack)


@cache
def text_pair_packers(before: str, between: str, after: str) -> list[list[Packer]]:
    """The same for two strings: by the length of the first and then of the second, each below SHORT."""
    at = _value_count(before) + 2 + _value_count(between)

    def row(n: int) -> list[Packer]:
        return _made_when_called(at, SHORT, lambda m: Struct(f">{before}B{n}s{between}B{m}s{after}").pack)

    return [row(n) for n in range(SHORT)]


@cache
def paired_packers(before: str, code: str, after: str) -> list[Packer]:
    """For each count below FEW the function that writes values, twice n + 1 and n packed numbers, and values."""
    size = calcsize(f">{code}")
    return _made_when_called(
        _value_count(before), FEW, lambda n: Struct(f">{before}B{n * size}sB{n * size}s{after}").pack
    )


def _made_when_called(at: int, limit: int, make: Callable[[int], Packer]) -> list[Packer]:
    """A function for each length below the limit, made at its first call, where the length + 1 is argument ``at``."""

    def first_call(*values: int) -> bytes:
        n = values[at] - 1
        made[n] = make(n)
        return made[n](*values)

    made: list[Packer] = [first_call] * limit
    return made


def _value_count(code: str) -> int:
    """How many values a ``struct`` code takes: digits belong to the letter after them, x is a byte without value."""
    return sum(letter not in "0123456789x" for letter in code)


def read_uvarint(buffer: bytes, at: int) -> tuple[int, int]:
    """An unsigned varint below 2^31 and the position after it (wire-uvarint)."""
    first = buffer[at]
    return (first, at + 1) if first < 128 else rest_of_uvarint(buffer, at + 1, first)


def rest_of_uvarint(buffer: bytes, at: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned varint whose first byte has been read; at most four more bytes, below 2^31."""
    second = buffer[at]
    if second < 128:
        return first & 0x7F | second << 7, at + 1
    third = buffer[at + 1]
    if third < 128:
        return first & 0x7F | (second & 0x7F) << 7 | third << 14, at + 2
    value = first & 0x7F | (second & 0x7F) << 7 | (third & 0x7F) << 14
    fourth = buffer[at + 2]
    if fourth < 128:
        return value | fourth << 21, at + 3
    fifth = buffer[at + 3]
    if fifth > 7:
        raise ValueError
    return value | (fourth & 0x7F) << 21 | fifth << 28, at + 4


def long_text(buffer: bytes, at: int, n: int) -> tuple[str, int]:
    """A compact string of 127 bytes or more; null is refused (wire-string-limit)."""
    text, at = long_nullable_text(buffer, at, n) if n else (None, at)
    if text is None:
        raise ValueError
    return text, at


def long_nullable_text(buffer: bytes, at: int, n: int) -> tuple[str | None, int]:
    """A compact string of 127 bytes or more, or a padded null."""
    n, at = rest_of_uvarint(buffer, at, n)
    if not n:
        return None, at
    if n > _MAXIMUM_TEXT + 1:
        raise ValueError
    end = at + n - 1
    return buffer[at:end].decode(), end


def long_numbers(buffer: bytes, at: int, n: int, code: str, size: int) -> tuple[tuple[Any, ...], int]:
    """A compact array of numbers that is not short; null is refused."""
    if n > 127:
        n, at = rest_of_uvarint(buffer, at, n)
    return many_numbers(buffer, at, n - 1, code, size)


def long_nullable_numbers(buffer: bytes, at: int, n: int, code: str, size: int) -> tuple[tuple[Any, ...] | None, int]:
    """A compact array of numbers that is not short, or a padded null."""
    if n > 127:
        n, at = rest_of_uvarint(buffer, at, n)
    return many_numbers(buffer, at, n - 1, code, size) if n else (None, at)


def many_numbers(buffer: bytes, at: int, count: int, code: str, size: int) -> tuple[tuple[Any, ...], int]:
    """An array of ``count`` numbers (wire-array-bound); a negative count, which means null, is refused."""
    if not 0 <= count <= (len(buffer) - at) // size:
        raise ValueError
    return Struct(f">{count}{code}").unpack_from(buffer, at), at + count * size


def structs(buffer: bytes, at: int, count: int, read: ReadMany[Item]) -> tuple[tuple[Item, ...], int]:
    """An array of ``count`` structs (wire-array-bound); a negative count, which means null, is refused."""
    if count > 0:
        if count > len(buffer) - at:
            raise ValueError
        return read(buffer, at, count)
    if count:
        raise ValueError
    return NOTHING, at


def nullable_structs(buffer: bytes, at: int, count: int, read: ReadMany[Item]) -> tuple[tuple[Item, ...] | None, int]:
    """The same, where a negative count is null."""
    return structs(buffer, at, count, read) if count >= 0 else (None, at)


def compact_structs(buffer: bytes, at: int, n: int, read: ReadMany[Item]) -> tuple[tuple[Item, ...], int]:
    """A compact array of structs, the first byte of its count read already; null is refused."""
    if n > 127:
        n, at = rest_of_uvarint(buffer, at, n)
    if n > 1:
        if n > len(buffer) - at + 1:
            raise ValueError
        return read(buffer, at, n - 1)
    if not n:
        raise ValueError
    return NOTHING, at


def compact_nullable_structs(
    buffer: bytes, at: int, n: int, read: ReadMany[Item]
) -> tuple[tuple[Item, ...] | None, int]:
    """The same, where null is allowed."""
    if n > 127:
        n, at = rest_of_uvarint(buffer, at, n)
    return structs(buffer, at, n - 1, read) if n else (None, at)


def tagged_entries(buffer: bytes, at: int, n: int) -> tuple[list[tuple[int, bytes]], int]:
    """The entries of a tagged-field section, the first byte of its count read already, in strictly ascending order."""
    if n > 127:
        n, at = rest_of_uvarint(buffer, at, n)
    entries = []
    previous = -1
    for _ in range(n):
        tag, end = buffer[at], buffer[at + 1]
        if tag < 128 and end < 128:
            at += 2
            end += at
        else:
            tag, at, end = tagged_entry(buffer, at)
        if tag <= previous or end > len(buffer):
            raise ValueError
        entries.append((tag, buffer[at:end]))
        previous = tag
        at = end
    return entries, at


def tagged_entry(buffer: bytes, at: int) -> tuple[int, int, int]:
    """The tag of an entry, and where its payload begins and ends."""
    tag, at = read_uvarint(buffer, at)
    size, at = read_uvarint(buffer, at)
    if tag > _MAXIMUM_TAG:
        raise ValueError
    return tag, at, at + size


def unknown_tags(buffer: bytes, at: int, n: int) -> tuple[Tags, int]:
    """The tagged-field section of a struct without tagged fields in the version (tagged-unknown-kept)."""
    entries, at = tagged_entries(buffer, at, n)
    return tuple(entries), at


def uvarint(value: int) -> bytes:
    """The shortest unsigned varint of a number below 2^31."""
    if not 0 <= value <= _MAXIMUM_LENGTH:
        raise ValueError
    return write_uvarint(value)


def long_text_length(length: int) -> bytes:
    """The compact length of a string (wire-string-limit)."""
    if length > _MAXIMUM_TEXT:
        raise ValueError
    return uvarint(length + 1)


long_length = write_compact_length
"""The compact length of bytes, or the compact count of an array."""


def differs(value: object, default: object) -> bool:
    """Whether a value is not its default, where an empty list equals an empty tuple (value-equals-default).

    Raises TypeError if the value of an array has no length.
    """
    if isinstance(default, msgspec.Struct):
        names = default.__struct_fields__
        return type(value) is not type(default) or any(
            differs(getattr(value, name), getattr(default, name)) for name in names
        )
    if isinstance(default, tuple) and value is not None:
        return len(cast("Sequence[object]", value)) > 0
    return value != default


def plain_tags(unknown: Tags) -> Tags:
    """Unknown tagged fields of any form that writers accept, as a tuple of pairs of int and bytes."""
    plain = tuple((tag, octets(payload)) for tag, payload in unknown)
    if not all(isinstance(tag, int) for tag, _ in plain):
        raise TypeError
    return plain


def octets(value: object) -> bytes:
    """Octets as bytes; anything that is not a bytes, bytearray or memoryview is refused."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise TypeError


def reduce_views(struct: msgspec.Struct) -> tuple[type[msgspec.Struct], tuple[object, ...]]:
    """The ``__reduce__`` of structs whose fields may be views: these cannot be pickled or copied and become bytes."""
    values = (getattr(struct, name) for name in struct.__struct_fields__)
    return type(struct), tuple(bytes(value) if isinstance(value, memoryview) else value for value in values)


def sequence(values: Sequence[Item]) -> Sequence[Item]:
    """Any sequence except a string or octets, as a tuple: ``("a")`` without its comma must not become an array."""
    if type(values) is tuple:
        return values
    if isinstance(values, (str, bytes, bytearray, memoryview)) or not isinstance(values, Sequence):
        raise TypeError
    return tuple(values)


def pack_numbers(code: str, values: Sequence[float]) -> bytes:
    """Adjacent numbers."""
    return Struct(f">{len(values)}{code}").pack(*values)


def tagged_section(known: Sequence[tuple[int, bytes]], unknown: Tags, declared: tuple[int, ...]) -> bytes:
    """A tagged-field section in ascending tag order.

    ``declared`` are the tags of the struct's own fields in the version; an unknown entry must not have one of them,
    and unknown entries must ascend (tagged-order, tagged-conflict).
    """
    previous = -1
    for tag, _ in unknown:
        if not previous < tag <= _MAXIMUM_TAG or tag in declared:
            raise ValueError
        previous = tag
    entries = sorted((*known, *unknown), key=lambda entry: entry[0])
    pieces = [uvarint(len(entries))]
    for tag, payload in entries:
        pieces += (uvarint(tag), uvarint(len(payload)), octets(payload))
    return b"".join(pieces)
