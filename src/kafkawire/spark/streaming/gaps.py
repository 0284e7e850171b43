"""Offsets that no segment of a log has: removed by compaction, or in a segment that has not arrived yet.

Copies of logs arrive in any order: rsync, and uploads to object stores, may bring a segment after the one that follows
it. The metadata log is never compacted (KIP-630), so a gap there is a missing segment. In any other log compaction may
have caused it, so reading continues, and the gap is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kafkawire.logs import LogFile

_MOST_REMEMBERED: Final = 64
"""Maximum gaps of one log in a checkpoint, the latest ones: segments arrive minutes late, not months."""


class Gap(NamedTuple):
    """Offsets that are missing.

    Attributes:
        start, end: the offsets, the last excluded.
        cut_off: whether a segment ends inside a batch there, as during a copy.
    """

    start: int
    end: int
    cut_off: bool = False

    def __str__(self) -> str:
        if self.cut_off:
            return f"the segment with offset {self.start} ends inside a batch"
        return f"there is no segment with the offsets {self.start} to {self.end - 1}"


class PassedGap(NamedTuple):
    """Offsets that were missing when reading continued after them.

    Attributes:
        start, end: the offsets, the last excluded.
        before: base offset of the segment before them; -1 if there was none. It is ``start`` if compaction has removed
            every batch of that segment: Kafka keeps the empty file.
        size: of that segment, in bytes. Compaction makes a segment larger only by merging the next one into it.
    """

    start: int
    end: int
    before: int
    size: int


class LateSegment(NamedTuple):
    """A segment that arrived or grew after later segments were read.

    Attributes:
        gap: the offsets whose records were missed.
        file: the segment.
        offset: the end of the records that are known to be missed.
    """

    gap: PassedGap
    file: LogFile
    offset: int


class Patience:
    """How long the stream has waited for each gap.

    Args:
        seconds: how long it waits for a gap.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: dict[tuple[str, Gap], float] = {}

    def is_new(self, folder: str, gap: Gap) -> bool:
        """Whether the wait for a gap of a log begins now."""
        begins = (folder, gap) not in self._since
        self._since.setdefault((folder, gap), time.monotonic())
        return begins

    def has_ended(self, folder: str, gap: Gap) -> bool:
        """Whether the wait for a gap has timed out."""
        return time.monotonic() - self._since[folder, gap] >= self.seconds


def remembered(gaps: Sequence[PassedGap], gap: PassedGap) -> tuple[PassedGap, ...]:
    """Passed gaps, with one more."""
    return (*gaps, gap)[-_MOST_REMEMBERED:]


def without(gaps: Iterable[PassedGap], late: LateSegment) -> tuple[PassedGap, ...]:
    """The gaps without the offsets of a segment that arrived late."""
    rest = PassedGap(late.offset + 1, late.gap.end, late.file.base_offset, late.file.size)
    cut = (rest if each is late.gap else each for each in gaps)
    return tuple(each for each in cut if each.start < each.end)


def late_segment(gaps: Sequence[PassedGap], segments: Sequence[LogFile]) -> LateSegment | None:
    """The first segment that arrived or grew after later segments were read."""
    for gap in gaps:
        for file, following in zip(segments, (*segments[1:], None), strict=True):
            if gap.start <= file.base_offset < gap.end and file.base_offset != gap.before:
                return LateSegment(gap, file, file.base_offset)
            is_next = following is not None and following.base_offset == gap.end
            if file.base_offset == gap.before and is_next and gap.size < file.size:
                return LateSegment(gap, file, gap.start - 1)
    return None
