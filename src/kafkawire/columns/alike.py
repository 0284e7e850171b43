"""Which of many messages have the same shape, and their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.columns.shapes import MessageShape, shape_of
from kafkawire.layout import StructLayout
from kafkawire.wire import Message
from kafkawire.wire.message import FAST_PATH_FAILS

__all__ = ["WORTHWHILE", "AlikeMessages", "decode_alike"]

WORTHWHILE: Final = 256
"""Fewer messages of a shape are not worth the calls of Arrow's kernels."""

_MOST_SHAPES: Final = 4
"""Most shapes of messages of one length that are tried."""


class AlikeMessages(NamedTuple):
    """Messages of one shape.

    Attributes:
        numbers: which of all messages they are, in order.
        arrays: a column for each field.
    """

    numbers: pa.UInt64Array
    arrays: list[ArrowArray]


def decode_alike(
    message: type[Message],
    version: int,
    octets: pa.BinaryArray,
    start: int,
    *,
    types: Sequence[pa.DataType],
    least: int,
) -> Iterator[AlikeMessages]:
    """The columns of messages that many others are alike.

    Args:
        message: the class of the messages.
        version: of all of them.
        octets: binary without nulls; a message in each, from ``start`` to the end.
        start: where messages begin.
        types: of the columns.
        least: fewer messages of a shape are left alone.

    What is in none of the results is to be decoded by other means, malformed messages among it.
    """
    layout = message.layouts().of_version(version)
    lengths = pc.binary_length(octets)
    for length in _frequent(lengths, least):
        if length.as_py() < start:
            continue
        numbers = pc.indices_nonzero(pc.equal(lengths, length))
        for _ in range(_MOST_SHAPES):
            left = octets.take(numbers)
            shape = _shape(message, version, layout, left[0].as_py(), start)
            if shape is None:
                break
            mask = shape.mask(left)
            try:
                arrays = shape.columns(left.filter(mask), types)
            except pa.ArrowInvalid:
                break
            yield AlikeMessages(numbers.filter(mask), arrays)
            numbers = numbers.filter(pc.invert(mask))
            if len(numbers) < least:
                break


def _frequent(lengths: pa.Int32Array, least: int) -> Iterator[pa.Int32Scalar]:
    """The lengths that many have."""
    counted = pc.value_counts(lengths)
    return (length for length, count in zip(counted.field(0), counted.field(1), strict=True) if count.as_py() >= least)


def _shape(
    message: type[Message], version: int, layout: StructLayout, octets: bytes, start: int
) -> MessageShape | None:
    """The shape of a message, if it is one and has one."""
    try:
        _, end = message.fast_reader(version)(octets, start)
    except FAST_PATH_FAILS:
        return None
    return shape_of(layout, octets, start) if end == len(octets) else None
