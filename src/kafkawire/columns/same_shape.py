"""Finds messages of the same shape among many, and decodes each such group with Arrow's kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.columns.message_shape import MessageShape, shape_of
from kafkawire.layout import StructLayout
from kafkawire.wire import Message
from kafkawire.wire.message_codec import FAST_PATH_FAILS

WORTHWHILE: Final = 256
"""For fewer messages the calls of Arrow's kernels cost more than decoding each message."""

_MOST_SHAPES: Final = 4
"""Most shapes that are tried for messages of one length."""


class MessagesOfShape(NamedTuple):
    """Messages of one shape.

    Attributes:
        numbers: positions of these messages among all messages, in order.
        arrays: a column for each field.
    """

    numbers: pa.UInt64Array
    arrays: list[ArrowArray]


def decode_same_shape(
    message: type[Message],
    version: int,
    octets: pa.BinaryArray,
    start: int,
    *,
    types: Sequence[pa.DataType],
    least: int,
) -> Iterator[MessagesOfShape]:
    """The columns of messages that have the same shape as many others.

    Args:
        message: the class of the messages.
        version: of all of them.
        octets: binary without nulls; a message in each, from ``start`` to the end.
        start: where messages begin.
        types: of the columns.
        least: lengths and shapes of fewer messages are left out.

    Messages in none of the results are to be decoded one by one; malformed messages are among them.
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
            yield MessagesOfShape(numbers.filter(mask), arrays)
            numbers = numbers.filter(pc.invert(mask))
            if len(numbers) < least:
                break


def _frequent(lengths: pa.Int32Array, least: int) -> Iterator[pa.Int32Scalar]:
    """The lengths that at least ``least`` messages have."""
    counted = pc.value_counts(lengths)
    return (length for length, count in zip(counted.field(0), counted.field(1), strict=True) if count.as_py() >= least)


def _shape(
    message: type[Message], version: int, layout: StructLayout, octets: bytes, start: int
) -> MessageShape | None:
    """The shape of a message; None if the bytes are malformed, or the message has no shape."""
    try:
        _, end = message.fast_codec(version).read(octets, start)
    except FAST_PATH_FAILS:
        return None
    return shape_of(layout, octets, start) if end == len(octets) else None
