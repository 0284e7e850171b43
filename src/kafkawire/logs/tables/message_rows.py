"""From octets of one message in several versions to columns, and to what is wrong with single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from kafkawire.columns import MessageColumns, Rows
from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.wire import DecodeError

__all__ = ["DecodedMessages", "Frame", "RowFault", "decode_messages"]

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
    columns: MessageColumns, octets: Sequence[bytes | None], frames: Sequence[Frame | None]
) -> DecodedMessages:
    """The messages as columns.

    Args:
        columns: of the message.
        octets: what the message of each row is in.
        frames: where it is, in a version that the message has; None for a row of nulls.
    """
    rows = columns.rows()
    faults: dict[int, RowFault] = {}
    at = 0
    for frame, run in groupby(frames):
        count = sum(1 for _ in run)
        if frame is None:
            rows.extend_nulls(count)
        else:
            buffers = [each for each in octets[at : at + count] if each is not None]
            _extend(rows, frame, buffers, at, faults)
        at += count
    arrays, bad_text = rows.take()
    for row in bad_text:
        faults.setdefault(row, ("decode_error", "text that is not UTF-8"))
    return DecodedMessages(arrays, faults)


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
