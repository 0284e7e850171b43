"""From octets of one message in several versions to columns, and to what is wrong with single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import pyarrow as pa

from kafkawire.columns import MessageColumns, Rows
from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.wire import DecodeError

__all__ = ["DecodedMessages", "Frame", "RowFault", "decode_messages", "decode_repeated"]

Frame: TypeAlias = tuple[int, int]
"""The version of a message, and where it begins in its octets."""

RowFault: TypeAlias = tuple[str, str]
"""What is wrong with a row: one of ``FLAW_CODES``, and a sentence."""


@dataclass(frozen=True)
class DecodedMessages:
    """A column for each field of a message, and the faults of some rows."""

    arrays: Sequence[ArrowArray]
    faults: dict[int, RowFault]


def decode_messages(
    columns: MessageColumns, octets: Sequence[bytes | None], frames: Sequence[Frame | None], codes: Sequence[int]
) -> DecodedMessages:
    """The messages as columns.

    Args:
        columns: of the message.
        octets: what the message of each row is in.
        frames: where messages can be, in versions that the message has; None for rows of nulls, which alone may have no
            octets.
        codes: which of the frames each row has.
    """
    rows = columns.rows()
    faults: dict[int, RowFault] = {}
    used = sorted(set(codes))
    # All of one version together, whatever lies between them, and then back into their order.
    order: list[int] = []
    for code in used:
        frame = frames[code]
        if frame is not None:
            numbers = range(len(codes)) if len(used) == 1 else [row for row, each in enumerate(codes) if each == code]
            whole = cast("Sequence[bytes]", octets if len(used) == 1 else [octets[number] for number in numbers])
            _extend(rows, frame, whole, len(order), faults)
            order += numbers
    arrays, bad_text = rows.take()
    for at in bad_text:
        faults.setdefault(at, ("decode_error", "text that is not UTF-8"))
    if len(used) == 1 and order:
        return DecodedMessages(arrays, faults)
    positions: list[int | None] = [None] * len(codes)
    for at, number in enumerate(order):
        positions[number] = at
    back = pa.array(positions, pa.int32())
    return DecodedMessages([each.take(back) for each in arrays], {order[at]: fault for at, fault in faults.items()})


def decode_repeated(columns: MessageColumns, octets: Sequence[bytes | None], frame: Frame) -> DecodedMessages:
    """As ``decode_messages`` for messages of one version, many of which are the same: each is decoded once."""
    encoded = pa.array(octets, pa.binary()).dictionary_encode()
    distinct = cast("list[bytes]", encoded.dictionary.to_pylist())
    found = decode_messages(columns, distinct, [frame], [0] * len(distinct))
    faults: dict[int, RowFault] = {}
    if found.faults:
        numbers = cast("list[int]", encoded.indices.to_pylist())
        faults = {row: found.faults[number] for row, number in enumerate(numbers) if number in found.faults}
    return DecodedMessages([each.take(encoded.indices) for each in found.arrays], faults)


def _extend(rows: Rows, frame: Frame, buffers: Sequence[bytes], first: int, faults: dict[int, RowFault]) -> None:
    """Add a row for each buffer: with its values as far as it is a message, else with nulls."""
    version, start = frame
    done = rows.extend(version, buffers, start)
    while done < len(buffers):
        buffer = buffers[done]
        try:
            end = rows.append(version, buffer, start)
        except DecodeError as error:
            rows.extend_nulls(1)
            faults[first + done] = "decode_error", str(error)
        else:
            if end < len(buffer):
                faults[first + done] = "trailing_bytes", f"{len(buffer) - end} bytes after the record"
        done += 1
        done += rows.extend(version, buffers[done:], start)
