"""From the bytes of messages, in several versions, to columns and the errors of single rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns import MessageColumns
from kafkawire.columns.arrow_types import ArrowArray, nulls
from kafkawire.wire import DecodeError, Message

Frame: TypeAlias = tuple[int, int]
"""The version of a message, and the position where it begins in its bytes."""

RowFault: TypeAlias = tuple[str, str]
"""The error of a row: one of ``FLAW_CODES``, and a sentence."""

_Piece: TypeAlias = tuple["pa.UInt64Array", Sequence[ArrowArray]]
"""Row numbers in order, and the columns of these rows."""


@dataclass(frozen=True)
class DecodedMessages:
    """A column for each field of a message, and the errors of some rows."""

    arrays: Sequence[ArrowArray]
    faults: dict[int, RowFault]


def decode_messages(
    columns: MessageColumns, octets: pa.BinaryArray, frames: Sequence[Frame | None], codes: pa.Int32Array
) -> DecodedMessages:
    """The messages as columns.

    Args:
        columns: of the message.
        octets: binary; the bytes with the message of each row.
        frames: the different frames, in versions that the message has; None for rows of nulls.
        codes: int32; the index in ``frames`` of each row; null for rows of nulls.
    """
    pieces: list[_Piece] = []
    faults: dict[int, RowFault] = {}
    framed = {code: frame for code, frame in enumerate(frames) if frame is not None}
    for code, frame in framed.items():
        numbers = _rows_with(code, codes)
        if len(numbers):
            pieces += _of_frame(columns, frame, octets, numbers, faults)
    unframed = pc.indices_nonzero(pc.invert(pc.is_in(codes, pa.array(list(framed), pa.int32()))))
    if len(unframed):
        pieces.append(_without_values(columns, unframed))
    return DecodedMessages(_in_order(pieces), faults)


def _rows_with(code: int, codes: pa.Int32Array) -> pa.UInt64Array:
    """The numbers of the rows with a code."""
    return pc.indices_nonzero(pc.equal(codes, pa.scalar(code, pa.int32())))


def version_faults(codes: pa.Int32Array, versions: Sequence[int | None], known: range) -> dict[int, RowFault]:
    """The errors of rows with a version that the message does not have.

    Args:
        codes: the index in ``versions`` of each row; null for rows without an error.
        versions: the different versions; None for rows that are too short to have one.
        known: the versions of the message.
    """
    faults: dict[int, RowFault] = {}
    for code, version in enumerate(versions):
        if version not in known:
            fault: RowFault = "unsupported_version", f"version {version}; {known.start} to {known.stop - 1} are known"
            if version is None:
                fault = "decode_error", "the value is too short to have a version"
            faults |= dict.fromkeys(cast("list[int]", _rows_with(code, codes).to_pylist()), fault)
    return faults


def decode_repeated(columns: MessageColumns, octets: pa.BinaryArray, frame: Frame) -> DecodedMessages:
    """As ``decode_messages`` for one version, where many messages are equal: each distinct one is decoded once."""
    encoded = octets.dictionary_encode()
    distinct = cast("pa.BinaryArray", encoded.dictionary)
    found = decode_messages(columns, distinct, [frame], pa.repeat(pa.scalar(0, pa.int32()), len(distinct)))
    faults: dict[int, RowFault] = {}
    if found.faults:
        numbers = cast("list[int]", encoded.indices.to_pylist())
        faults = {row: found.faults[number] for row, number in enumerate(numbers) if number in found.faults}
    return DecodedMessages([each.take(encoded.indices) for each in found.arrays], faults)


def _of_frame(
    columns: MessageColumns, frame: Frame, octets: pa.BinaryArray, numbers: pa.UInt64Array, faults: dict[int, RowFault]
) -> list[_Piece]:
    """Messages of one version: those of the same shape together, the others one by one."""
    version, start = frame
    own = octets if len(numbers) == len(octets) else octets.take(numbers)
    alike = list(columns.of_same_shape(version, own, start))
    pieces: list[_Piece] = [(numbers.take(each.numbers), each.arrays) for each in alike]
    if sum(len(each.numbers) for each in alike) == len(own):
        return pieces
    if alike:
        done = pa.concat_arrays([each for each, _ in pieces])
        numbers = numbers.filter(pc.invert(pc.is_in(numbers, done)))
        own = octets.take(numbers)
    return [*pieces, *_one_by_one(columns, frame, own, numbers, faults)]


def _one_by_one(
    columns: MessageColumns, frame: Frame, octets: pa.BinaryArray, numbers: pa.UInt64Array, faults: dict[int, RowFault]
) -> Iterator[_Piece]:
    """The rows of valid messages, and rows of nulls for malformed ones."""
    version, start = frame
    messages: dict[int, Message] = {}
    malformed = []
    buffers = cast("list[bytes]", octets.to_pylist())
    for number, buffer in zip(cast("list[int]", numbers.to_pylist()), buffers, strict=True):
        try:
            messages[number], end = columns.message.decode_from(buffer, start, version)
        except DecodeError as error:
            faults[number] = "decode_error", str(error)
            malformed.append(number)
        else:
            if end < len(buffer):
                faults[number] = "trailing_bytes", f"{len(buffer) - end} bytes after the record"
    yield pa.array(messages, pa.uint64()), columns.arrays(version, list(messages.values()))
    if malformed:
        yield _without_values(columns, pa.array(malformed, pa.uint64()))


def _without_values(columns: MessageColumns, numbers: pa.UInt64Array) -> _Piece:
    return numbers, [nulls(len(numbers), type_) for type_ in columns.schema.types]


def _in_order(pieces: Sequence[_Piece]) -> Sequence[ArrowArray]:
    """The columns of all rows, from those of the pieces."""
    if len(pieces) == 1:
        return pieces[0][1]
    back = pc.sort_indices(pa.concat_arrays([numbers for numbers, _ in pieces]))
    return [pa.concat_arrays(each).take(back) for each in zip(*(arrays for _, arrays in pieces), strict=True)]
