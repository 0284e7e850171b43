"""A log as a stream: from the last position to the end, over segments that arrive, are deleted and are compacted."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

from kafkawire.logs import FileKind, FileRange, FileStore, LogFile, LogReadError
from kafkawire.logs.frames.hops import Hop, hops
from kafkawire.logs.frames.windows import FileChangedError
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.spark.streaming.gaps import Gap, PassedGap, late_segment, remembered, without
from kafkawire.spark.streaming.positions import LogPosition

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """Where reading of a log continues.

    Attributes:
        segment: index of the segment.
        position: in it.
    """

    segment: int
    position: int


class Advance(NamedTuple):
    """How far a log may be read.

    Attributes:
        end: up to where.
        taken: the number of bytes up to there.
        gap: the gap for which reading waits there, or None.
    """

    end: LogPosition
    taken: int
    gap: Gap | None


class _Way:
    """How far a log was followed.

    Attributes:
        offset: the next to be read.
        place: the current place; None before the first segment.
        taken: bytes so far.
        following: first offset of the next batch, if it is known.
        gaps: those after which reading continued.
        unread: whether the bytes before the place could not be read.
    """

    def __init__(self, begin: LogPosition, taken: int) -> None:
        self.offset = begin.offset
        self.place: Place | None = None
        self.taken = taken
        self.following: int | None = None
        self.gaps = begin.gaps
        self.unread = begin.unread

    def pass_by(self, hop: Hop, segment: int) -> None:
        """Read a batch, or bytes that are not a batch."""
        self.offset = max(self.offset, hop.next_offset or 0)
        self.unread = hop.next_offset is None
        self.taken += hop.end - hop.start
        self.place = Place(segment, hop.end)


def logs_of(files: Sequence[LogFile]) -> dict[str, list[LogFile]]:
    """Files in the order of their logs, by the folder of their log.

    Raises:
        LogReadError: the name of a segment is not its first offset, so the order is unknown.
    """
    for file in files:
        if file.kind is FileKind.SEGMENT and name_of(file) != f"{file.base_offset:020}.log":
            raise LogReadError("unreadable", file.path, "a stream needs segments named as Kafka names them")
    return {folder: list(members) for folder, members in groupby(files, key=lambda file: file.folder)}


def name_of(file: LogFile) -> str:
    """The name of a file without its folder."""
    return file.path.rpartition("/")[2]


class LogWalk:
    """One log, as it was just listed.

    Args:
        files: its segments and snapshots, in order.
        store: where they are.
        max_frame_bytes: the largest batch; a larger length is damage.
        fail_on_data_loss: whether it is an error when unread records are gone.
    """

    def __init__(
        self, files: Sequence[LogFile], store: FileStore, *, max_frame_bytes: int, fail_on_data_loss: bool
    ) -> None:
        self._segments = [file for file in files if file.kind is FileKind.SEGMENT]
        self._snapshots = [file for file in files if file.kind is FileKind.SNAPSHOT]
        self._is_metadata = any(file.topic == METADATA_TOPIC for file in files)
        self._store = store
        self._max_frame_bytes = max_frame_bytes
        self._fail_on_data_loss = fail_on_data_loss

    def advance(self, begin: LogPosition | None, budget: int | None, *, past: Gap | None = None) -> Advance:
        """The current end of the log, of the budget, or the start of a gap for which reading waits.

        Args:
            begin: the position up to which it was read; None for a new log.
            budget: how many bytes may be read; the last batch is read completely. None for any number.
            past: the gap whose wait has timed out.

        Raises:
            LogReadError: unread records are gone, or a file cannot be read.
        """
        snapshots = tuple(name_of(file) for file in self._snapshots)
        known = begin or LogPosition(0, "", 0)
        way = _Way(known, taken=sum(file.size for file in self._snapshots if name_of(file) not in known.snapshots))
        gap = self._follow(way, known, budget, past) if self._segments else None
        if way.place is None:
            end = LogPosition(known.offset, known.file, known.position, snapshots, known.following, way.gaps)
        else:
            name = name_of(self._segments[way.place.segment])
            end = LogPosition(way.offset, name, way.place.position, snapshots, way.following, way.gaps, way.unread)
        return Advance(end, way.taken, gap)

    def _follow(self, way: _Way, begin: LogPosition, budget: int | None, past: Gap | None) -> Gap | None:
        """Continue from a position. Returns the gap at which reading stops."""
        self._notice_late_segments(way)
        first = self.locate(begin)
        if begin.file and first == Place(0, 0):  # what was deleted before it was read is reported
            way.offset = max(way.offset, self._segments[0].base_offset)
        last = len(self._segments) - 1
        for number in range(first.segment, last + 1):
            file = self._segments[number]
            start = first.position if number == first.segment else 0
            if start == 0 and (gap := self._missing_before(number, way, past)) is not None:
                way.following = file.base_offset
                return gap
            way.place = Place(number, start)
            for hop in self._hops_of(file, start, closed=number < last):
                if budget is not None and way.taken >= budget:
                    way.following = hop.first_offset
                    return None
                torn = Gap(way.offset, way.offset, cut_off=True)
                if hop.cut_off and ((self._is_metadata and torn != past) or self._has_grown(file)):
                    return torn
                way.pass_by(hop, number)
        return None

    def _missing_before(self, number: int, way: _Way, past: Gap | None) -> Gap | None:
        """The gap before a segment if reading waits for it; otherwise reading continues after it."""
        file = self._segments[number]
        gap = Gap(way.offset, file.base_offset)
        is_known, way.unread = not way.unread, False
        if is_known and gap.start < gap.end:
            if number and self._has_grown(self._segments[number - 1]):
                return gap
            if self._is_metadata and not self._is_start_of_log(gap, way):
                if gap != past:
                    return gap
                self._lost(file, f"{gap}")
            before, size = -1, 0
            if number:
                before, size = self._segments[number - 1].base_offset, self._segments[number - 1].size
            way.gaps = remembered(way.gaps, PassedGap(gap.start, gap.end, before, size))
        way.offset = max(gap.start, gap.end)
        return None

    def _has_grown(self, file: LogFile) -> bool:
        """Whether a segment has grown since it was listed: a broker may have started the next one meanwhile."""
        try:
            with self._store.open(file.path) as opened:
                return opened.stamp().size > file.size
        except OSError:
            return False

    def _is_start_of_log(self, gap: Gap, way: _Way) -> bool:
        """Whether brokers deleted the missing records: a snapshot has their effect, and nothing was read before."""
        return way.place is None and not gap.start and any(each.base_offset >= gap.end for each in self._snapshots)

    def _notice_late_segments(self, way: _Way) -> None:
        """Find segments that arrived after reading had passed them."""
        while (late := late_segment(way.gaps, self._segments)) is not None:
            came = "grew" if late.file.base_offset == late.gap.before else "came"
            what = f"segment {name_of(late.file)} {came} after later ones were read, so records of it are missing"
            self._lost(late.file, f"{what}: a query with a new checkpoint reads all")
            way.gaps = without(way.gaps, late)

    def ranges(self, begin: LogPosition | None, end: LogPosition, max_bytes: int) -> Iterator[FileRange]:
        """The bytes between two positions, in pieces of similar size that end at the end of a batch.

        Raises:
            LogReadError: they are gone, or a file cannot be read.
        """
        for file in self._snapshots:
            if name_of(file) in end.snapshots and (begin is None or name_of(file) not in begin.snapshots):
                yield FileRange(file, 0, file.size)
        if not self._segments:
            return
        last = self.locate(end)
        piece: FileRange | None = None
        for segment, hop in self._hops(self.locate(begin), offsets=False):
            if (segment, hop.start) >= (last.segment, last.position):
                break
            file = self._segments[segment]
            if piece is not None and (piece.file is not file or hop.end - piece.start > max_bytes):
                yield piece
                piece = None
            piece = FileRange(file, hop.start if piece is None else piece.start, hop.end)
        if piece is not None:
            yield piece

    def locate(self, position: LogPosition | None) -> Place:
        """The current place of a position.

        Raises:
            LogReadError: unread records are gone, or a file cannot be read.
        """
        if position is None or not position.file:
            return Place(0, 0)
        for number, file in enumerate(self._segments):
            if name_of(file) == position.file and self._is_still_there(number, position):
                return Place(number, position.position)
        return self._search(position.offset)

    def _is_still_there(self, number: int, position: LogPosition) -> bool:
        """Whether the batches that were read still end at that place: compaction moves batches."""
        file = self._segments[number]
        if position.position > file.size:
            return False
        first, following = self._offsets_behind(number, position)
        if following is not None and following <= position.offset:
            return False
        is_known = first is not None and first in (position.offset, position.following)
        return is_known or position.position == 0 or self._is_end_of_what_was_read(file, position)

    def _offsets_behind(self, number: int, position: LogPosition) -> tuple[int | None, int | None]:
        """The first offset of the batch after a place, and the offset after its last; None if unknown."""
        file = self._segments[number]
        if position.position < file.size:
            hop = next(self._hops_of(file, position.position, closed=False), None)
            return (None, None) if hop is None else (hop.first_offset, hop.next_offset)
        if number + 1 < len(self._segments):
            base_offset = self._segments[number + 1].base_offset
            return base_offset, base_offset + 1
        return position.offset, None  # what will be appended

    def _is_end_of_what_was_read(self, file: LogFile, position: LogPosition) -> bool:
        """Whether a batch that was read ends at a place, searched from the beginning of its file."""
        end = 0
        for hop in self._hops_of(file, 0, closed=False):
            if end >= position.position or (hop.next_offset or 0) > position.offset:
                break
            end = hop.end
        return end == position.position

    def _search(self, offset: int) -> Place:
        """The first batch that has the offset, or a later one."""
        if self._segments[0].base_offset > offset:
            first = self._segments[0]
            self._lost(first, f"the records from offset {offset} to {first.base_offset - 1} were deleted unread")
            return Place(0, 0)
        start = max(number for number, file in enumerate(self._segments) if file.base_offset <= offset)
        place, end_offset = Place(start, 0), self._segments[-1].base_offset
        for segment, hop in self._hops(place):
            if hop.next_offset is not None and hop.next_offset > offset:
                return Place(segment, hop.start)
            place, end_offset = Place(segment, hop.end), max(end_offset, hop.next_offset or 0)
        if end_offset < offset:
            self._lost(self._segments[-1], f"the log was cut off at offset {end_offset}, and was read up to {offset}")
        return place

    def _lost(self, file: LogFile, what: str) -> None:
        if self._fail_on_data_loss:
            reason = f"{what}; the option failOnDataLoss=false continues with the remaining records"
            raise LogReadError("data_loss", file.folder, reason)
        _LOG.warning("%s: %s", file.folder, what)

    def _hops(self, place: Place, *, offsets: bool = True) -> Iterator[tuple[int, Hop]]:
        last = len(self._segments) - 1
        for number in range(place.segment, last + 1):
            start = place.position if number == place.segment else 0
            for hop in self._hops_of(self._segments[number], start, closed=number < last, offsets=offsets):
                yield number, hop

    def _hops_of(self, file: LogFile, start: int, *, closed: bool, offsets: bool = True) -> Iterator[Hop]:
        largest = self._max_frame_bytes
        try:
            yield from hops(file, start, self._store, max_frame_bytes=largest, closed=closed, offsets=offsets)
        except FileChangedError:
            raise LogReadError("file_changed", file.path, "it was truncated while it was read") from None
        except OSError as error:
            raise LogReadError("unreadable", file.path, str(error)) from None
