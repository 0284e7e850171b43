"""From the payloads of many batches to their records as Arrow arrays (record-exact), without an object for each record.

A loop finds the start of each record from the length of the record before. A few of Arrow's kernels then read each
number of all records at once. The rules are those of ``kafkawire.wire.batches``.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Final, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.wire.batches.reader import decode_headers

LARGEST_PAYLOADS: Final = 1 << 30
"""Most bytes of records in one set of arrays: positions are numbers of 31 bits."""

_INT32: Final = pa.int32()
_INT64: Final = pa.int64()
_ONE: Final = pa.scalar(1, _INT32)
_TWO: Final = pa.scalar(2, _INT32)
_THREE: Final = pa.scalar(3, _INT32)
_NONE: Final = pa.scalar(None, _INT32)
_MORE_FOLLOWS: Final = pa.scalar(128, pa.uint8())
_SEVEN_BITS: Final = pa.scalar(127, pa.uint8())
_NO_BITS: Final = pa.scalar(0, pa.uint8())
_SIGN: Final = pa.scalar(1, _INT64)
_NOTHING: Final = pa.scalar(0, _INT64)
_USUAL_BITS: Final = 17
"""The numbers from 0 to 2^17 are made once; nearly all groups of batches need no more."""
_MOST_BYTES_OF_LENGTH: Final = 4
_MOST_BYTES_OF_TIME: Final = 8


class RecordArrays(NamedTuple):
    """An array for each attribute of the records, in the order of the payloads.

    Attributes:
        timestamp_deltas: int64; to the base timestamp of the record's batch, in milliseconds.
        offset_deltas: int64; to the base offset of the record's batch.
        keys: binary; null for records without key.
        values: binary; null for tombstones.
    """

    timestamp_deltas: pa.Int64Array
    offset_deltas: pa.Int64Array
    keys: pa.BinaryArray
    values: pa.BinaryArray


def decode_record_arrays(payloads: Sequence[bytes], counts: Sequence[int]) -> RecordArrays | None:
    """The records of payloads.

    Args:
        payloads: decompressed, of ``LARGEST_PAYLOADS`` bytes together at most.
        counts: number of records in each.

    Returns:
        The records; None if a record is malformed, or has a number of more bytes than a length in such payloads
        needs. Then ``decode_records`` reads the payloads, and reports what is malformed.
    """
    data = payloads[0] if len(payloads) == 1 else b"".join(payloads)
    try:
        edges, _ = _edges(data, 0, sum(counts), len(data))
        ends_of_payloads = list(accumulate(map(len, payloads)))
        if [edges[last] for last in accumulate(counts)] != ends_of_payloads:
            return None
        return _records(data, edges)
    except (IndexError, ValueError):
        return None


def decode_some_record_arrays(
    data: bytes, start: int, most_records: int, most_octets: int
) -> tuple[RecordArrays, int] | None:
    """Some of the records of a payload.

    Args:
        data: the payload, decompressed, of ``LARGEST_PAYLOADS`` bytes at most.
        start: position of the first record.
        most_records: the limit of records.
        most_octets: the limit of bytes; the last record may exceed it.

    Returns:
        At least one record, and the end of the last one; None as for ``decode_record_arrays``.
    """
    try:
        edges, end = _edges(data, start, most_records, most_octets)
        return (_records(data, edges), end) if end <= len(data) else None
    except (IndexError, ValueError):
        return None


def _edges(data: bytes, start: int, most_records: int, most_octets: int) -> tuple[array[int], int]:
    """The start of each record and the end of the last one; also that end by itself.

    Memory is bounded by the limits and by the size of the payload, whatever its records claim.

    Raises:
        IndexError, ValueError: a length is cut off, or too long.
    """
    edges = array("i")
    add = edges.append
    at = start
    enough = min(start + most_octets, len(data))
    for _ in repeat(None, most_records):
        add(at)
        size = data[at]
        if size < 128:
            at += 1 + (size >> 1)
        else:
            high = data[at + 1]
            if high < 128:
                at += 2 + (size - 128 + (high << 7) >> 1)
            else:
                at += _long_step(data, at)
        if at >= enough:
            break
    if at > LARGEST_PAYLOADS:
        raise ValueError
    add(at)
    return edges, at


def _long_step(data: bytes, at: int) -> int:
    """Size of a record whose length takes more than two bytes, the length included."""
    size = 0
    for number in range(_MOST_BYTES_OF_LENGTH):
        octet = data[at + number]
        size |= (octet & 127) << 7 * number
        if octet < 128:
            return number + 1 + (size >> 1)
    raise ValueError


def _records(data: bytes, between: array[int]) -> RecordArrays:
    """The records between edges.

    Raises:
        IndexError, ValueError: a record is malformed, or has a number of too many bytes.
    """
    if len(between) == 1:
        return RecordArrays(
            pa.nulls(0, _INT64), pa.nulls(0, _INT64), pa.nulls(0, pa.binary()), pa.nulls(0, pa.binary())
        )
    edges = _numbers_of(between)
    octets = cast("pa.UInt8Array", pa.UInt8Array.from_buffers(pa.uint8(), len(data), [None, pa.py_buffer(data)]))
    size, at = _varints(octets, edges[:-1], _MOST_BYTES_OF_LENGTH)
    if pc.any(_odd(size)).as_py():
        raise ValueError
    at = pc.add(at, _ONE)  # attributes: unused
    timestamp_deltas, at = _varints(octets, at, _MOST_BYTES_OF_TIME)
    offset_deltas, at = _varints(octets, at, _MOST_BYTES_OF_LENGTH)
    key_length, key_at = _varints(octets, at, _MOST_BYTES_OF_LENGTH)
    key_end = _end(key_at, key_length)
    value_length, value_at = _varints(octets, key_end, _MOST_BYTES_OF_LENGTH)
    value_end = _end(value_at, value_length)
    headers, at = _varints(octets, value_end, _MOST_BYTES_OF_LENGTH)
    if pc.max(headers).as_py():
        at = _after_headers(data, headers, value_end, at, edges)
    if not at.equals(edges[1:]):
        raise ValueError
    cuts = (key_at, key_end, value_at, value_end)
    pieces = _pieces(octets, cuts)
    firsts = pc.shift_left(_numbers(len(key_at)), _TWO)
    keys = pieces.take(pc.if_else(_odd(key_length), _NONE, firsts))
    values = pieces.take(pc.if_else(_odd(value_length), _NONE, pc.add(firsts, _TWO)))
    return RecordArrays(_zig_zag(timestamp_deltas), _zig_zag(offset_deltas), keys, values)


def _after_headers(
    data: bytes, headers: pa.Int64Array, start: pa.Int32Array, at: pa.Int32Array, edges: pa.Int32Array
) -> pa.Int32Array:
    """The ends of records of which some have headers; the headers are checked and dropped.

    Raises:
        IndexError, ValueError: headers are malformed.
    """
    has_some = pc.not_equal(headers, _NOTHING)
    starts = cast("list[int]", start.filter(has_some).to_pylist())
    ends = cast("list[int]", edges[1:].filter(has_some).to_pylist())
    if any(decode_headers(data, start, end, keep=False)[1] != end for start, end in zip(starts, ends, strict=True)):
        raise ValueError
    return cast("pa.Int32Array", pc.if_else(has_some, edges[1:], at))


def _varints(octets: pa.UInt8Array, at: pa.Int32Array, most_bytes: int) -> tuple[pa.Int64Array, pa.Int32Array]:
    """The unsigned varints at positions, and the positions after them (wire-uvarint).

    Raises:
        ValueError: one has more bytes than ``most_bytes``.
        IndexError: one is cut off.
    """
    octet = octets.take(at)
    if pc.max(octet).as_py() < _MORE_FOLLOWS.as_py():
        return cast("pa.Int64Array", octet.cast(_INT64)), pc.add(at, _ONE)
    numbers = pc.bit_wise_and(octet, _SEVEN_BITS).cast(_INT64)
    for number in range(1, most_bytes):
        more_follows = pc.greater_equal(octet, _MORE_FOLLOWS)
        at = pc.add(at, cast("pa.Int32Array", more_follows.cast(_INT32)))
        octet = pc.if_else(more_follows, octets.take(at), _NO_BITS)
        bits = pc.bit_wise_and(octet, _SEVEN_BITS).cast(_INT64)
        numbers = pc.bit_wise_or(numbers, pc.shift_left(bits, pa.scalar(7 * number, _INT64)))
        if pc.max(octet).as_py() < _MORE_FOLLOWS.as_py():
            return numbers, pc.add(at, _ONE)
    raise ValueError


def _zig_zag(numbers: pa.Int64Array) -> pa.Int64Array:
    """Decode the zig-zag form of signed numbers (wire-varint)."""
    return pc.bit_wise_xor(pc.shift_right(numbers, _SIGN), pc.negate(pc.bit_wise_and(numbers, _SIGN)))


def _odd(lengths: pa.Int64Array) -> pa.BooleanArray:
    """True for lengths that are negative in the zig-zag form, which mean null."""
    return pc.equal(pc.bit_wise_and(lengths, _SIGN), _SIGN)


def _end(at: pa.Int32Array, lengths: pa.Int64Array) -> pa.Int32Array:
    """The end of bytes, from their position and length."""
    sizes = pc.if_else(_odd(lengths), _NOTHING, pc.shift_right(lengths, _SIGN))
    return pc.add(at, cast("pa.Int32Array", sizes.cast(_INT32)))


def _pieces(octets: pa.UInt8Array, cuts: Sequence[pa.Int32Array]) -> pa.BinaryArray:
    """The bytes cut at four positions of each record: key, bytes after it, value, bytes after it."""
    count = len(cuts[0])
    number = _numbers(len(cuts) * count)
    turns = pc.multiply(pc.bit_wise_and(number, _THREE), pa.scalar(count, _INT32))
    in_turn = pa.concat_arrays(cuts).take(pc.add(turns, pc.shift_right(number, _TWO)))
    offsets = pa.concat_arrays([in_turn, pa.array([len(octets)], _INT32)])
    buffers = [None, offsets.buffers()[1], octets.buffers()[1]]
    return cast("pa.BinaryArray", pa.BinaryArray.from_buffers(pa.binary(), len(number), buffers))


def _numbers(count: int) -> pa.Int32Array:
    """The numbers from 0 on."""
    return _first_numbers(max(_USUAL_BITS, count.bit_length()))[:count]


@lru_cache(maxsize=1)
def _first_numbers(bits: int) -> pa.Int32Array:
    return _numbers_of(array("i", range(1 << bits)))


def _numbers_of(numbers: array[int]) -> pa.Int32Array:
    return cast("pa.Int32Array", pa.Int32Array.from_buffers(_INT32, len(numbers), [None, pa.py_buffer(numbers)]))
