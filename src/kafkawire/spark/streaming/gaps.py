"""Offsets that no segment of a log has: taken out by cleaning, or in a segment that is still to come.

Copies of logs arrive in any order: rsync, and uploads to object stores, may bring a segment after the one that follows
it. In the log of the cluster's metadata, which is never compacted (KIP-630), a gap is a segment that is missing. In any
other log it may be compaction's, so reading goes on, and the gap is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kafkawire.logs import LogFile

__all__ = ["Gap", "LateSegment", "PassedGap", "Patience", "late_segment", "remembered", "without"]

_MOST_REMEMBERED: Final = 64
"""Gaps of one log in a checkpoint, the latest ones: segments come minutes late, not months."""


class Gap(NamedTuple):
    """Offsets that are missing.

    Attributes:
        start, end: the offsets, the last excluded.
        cut_off: whether a segment ends inside of a batch there, as one does that is being copied.
    """

    start: int
    end: int
    cut_off: bool = False

    def __str__(self) -> str:
        if self.cut_off:
            return f"the segment with offset {self.start} ends inside of a batch"
        return f"there is no segment with the offsets {self.start} to {self.end - 1}"


class PassedGap(NamedTuple):
    """Offsets that were missing when reading went past them.

    Attributes:
        start, end: the offsets, the last excluded.
        before: base offset of the segment before them; -1 if there was none.
        size: of that segment, in bytes. Cleaning makes a segment larger only by merging the next one into it.
    """

    start: int
    end: int
    before: int
    size: int


class LateSegment(NamedTuple):
    """A segment that came, or grew, after later ones were read.

    Attributes:
        gap: where its records are missing.
        file: the segment.
        offset: up to which that is known.
    """

    gap: PassedGap
    file: LogFile
    offset: int


class Patience:
    """How long each gap has been waited for.

    Args:
        seconds: how long a gap is waited for.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: dict[tuple[str, Gap], float] = {}

    def is_new(self, folder: str, gap: Gap) -> bool:
        """Whether waiting for a gap of a log begins now."""
        begins = (folder, gap) not in self._since
        self._since.setdefault((folder, gap), time.monotonic())
        return begins

    def has_ended(self, folder: str, gap: Gap) -> bool:
        """Whether a gap has been waited for long enough."""
        return time.monotonic() - self._since[folder, gap] >= self.seconds


def remembered(gaps: Sequence[PassedGap], gap: PassedGap) -> tuple[PassedGap, ...]:
    """Gaps that reading went past, with one more."""
    return (*gaps, gap)[-_MOST_REMEMBERED:]


def without(gaps: Iterable[PassedGap], late: LateSegment) -> tuple[PassedGap, ...]:
    """The gaps without what a segment that came late has of them."""
    rest = PassedGap(late.offset + 1, late.gap.end, late.file.base_offset, late.file.size)
    cut = (rest if each is late.gap else each for each in gaps)
    return tuple(each for each in cut if each.start < each.end)


def late_segment(gaps: Sequence[PassedGap], segments: Sequence[LogFile]) -> LateSegment | None:
    """The first segment that came, or grew, after later ones were read."""
    for gap in gaps:
        for file, following in zip(segments, (*segments[1:], None), strict=True):
            if gap.start <= file.base_offset < gap.end:
                return LateSegment(gap, file, file.base_offset)
            is_next = following is not None and following.base_offset == gap.end
            if file.base_offset == gap.before and is_next and gap.size < file.size:
                return LateSegment(gap, file, gap.start - 1)
    return None
