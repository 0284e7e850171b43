"""From octets of one message in several versions to columns, and to what is wrong with single rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias, cast

import pyarrow as pa

from kafkawire.columns import MessageColumns, Rows
from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.wire import DecodeError

__all__ = ["DecodedMessages", "Frame", "RowFault", "decode_messages", "decode_repeated", "runs_of"]

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
    columns: MessageColumns, octets: Sequence[bytes | None], runs: Iterable[tuple[Frame | None, int]]
) -> DecodedMessages:
    """The messages as columns.

    Args:
        columns: of the message.
        octets: what the message of each row is in.
        runs: where it is, in a version that the message has, or None for nulls; and for how many rows that is so.
    """
    rows = columns.rows()
    faults: dict[int, RowFault] = {}
    at = 0
    for frame, count in runs:
        if frame is None:
            rows.extend_nulls(count)
        else:
            # Only rows of nulls have no octets.
            _extend(rows, frame, cast("Sequence[bytes]", octets[at : at + count]), at, faults)
        at += count
    arrays, bad_text = rows.take()
    for row in bad_text:
        faults.setdefault(row, ("decode_error", "text that is not UTF-8"))
    return DecodedMessages(arrays, faults)


def decode_repeated(columns: MessageColumns, octets: Sequence[bytes | None], frame: Frame) -> DecodedMessages:
    """As ``decode_messages`` for messages of one version, many of which are the same: each is decoded once."""
    encoded = pa.array(octets, pa.binary()).dictionary_encode()
    distinct = cast("list[bytes]", encoded.dictionary.to_pylist())
    found = decode_messages(columns, distinct, [(frame, len(distinct))])
    faults: dict[int, RowFault] = {}
    if found.faults:
        numbers = cast("list[int]", encoded.indices.to_pylist())
        faults = {row: found.faults[number] for row, number in enumerate(numbers) if number in found.faults}
    return DecodedMessages([each.take(encoded.indices) for each in found.arrays], faults)


def runs_of(frames: Iterable[Frame | None]) -> Iterator[tuple[Frame | None, int]]:
    """The frames of rows, with how many rows in a row have the same."""
    for frame, run in groupby(frames):
        yield frame, sum(1 for _ in run)


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
