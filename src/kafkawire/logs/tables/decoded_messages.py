"""From the bytes of messages, in several versions, to columns and the errors of single rows."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
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
    framed = {code: frame for code, frame in enumerate(frames) if frame is not None}
    if len(framed) == 1 and len(frames) == 1:  # as nearly always; rows without a frame are null
        return decode_framed(columns, octets, framed[0])
    found = [decode_framed(columns, _rows_with(code, codes, octets), frame) for code, frame in framed.items()]
    if not found:
        return DecodedMessages([nulls(len(octets), type_) for type_ in columns.schema.types], {})
    arrays = [pc.coalesce(*each) for each in zip(*(each.arrays for each in found), strict=True)]
    return DecodedMessages(arrays, dict(ChainMap(*(each.faults for each in found))))


def decode_framed(columns: MessageColumns, octets: pa.BinaryArray, frame: Frame) -> DecodedMessages:
    """The messages of one frame as columns; null for rows of nulls."""
    version, start = frame
    found = columns.decode(version, octets, start)
    faults = {row: _fault(columns.message, octets[row].as_py(), frame) for row in found.inexact}
    return DecodedMessages(found.arrays, faults)


def _rows_with(code: int, codes: pa.Int32Array, octets: pa.BinaryArray) -> pa.BinaryArray:
    """The bytes of the rows with a code, and nulls in the other rows."""
    mask = pc.equal(codes, pa.scalar(code, pa.int32()))
    return cast("pa.BinaryArray", pc.if_else(mask, octets, pa.scalar(None, pa.binary())))


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
            rows = pc.indices_nonzero(pc.equal(codes, pa.scalar(code, pa.int32())))
            faults |= dict.fromkeys(cast("list[int]", rows.to_pylist()), fault)
    return faults


def _fault(message: type[Message], octets: bytes, frame: Frame) -> RowFault:
    version, start = frame
    try:
        _, end = message.decode_from(octets, start, version)
    except DecodeError as error:
        return "decode_error", str(error)
    return "trailing_bytes", f"{len(octets) - end} bytes after the record"
