"""The sound batches of a replica in the order of their offsets, and the damage between them.

The CRC does not cover the first bytes of a batch: its offset and the epoch of the leader. So a batch is sound only if
both fit those beside it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Final

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange, scan_runs
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.replicas.finding import Replica, ReplicatedLog
from kafkawire.logs.replicas.salvage import salvaged_batches
from kafkawire.wire.batches import RecordBatch

_LOOKED_AHEAD: Final = 4
"""How many batches and damages after a batch decide whether its offset fits."""

_OFFSETS_OF_A_SEGMENT: Final = 1 << 31
"""Kafka's indexes have offsets relative to the segment as int32."""


@dataclass(frozen=True)
class Damage:
    """Bytes of a replica that are no sound batch.

    Attributes:
        file: the segment.
        position: of the first byte.
        size: how many bytes.
        code: of the first flaw in them.
        reason: the flaw in words.
        is_expected: whether it is an incomplete batch at the end of the log, which a broker may be writing.
    """

    file: LogFile
    position: int
    size: int
    code: str
    reason: str
    is_expected: bool = False

    @property
    def shown(self) -> str:
        """The damage in words."""
        return f"{self.code} at byte {self.position} of {self.file.shown_path}: {self.reason}"


@dataclass(frozen=True)
class SoundBatch:
    """A sound batch of a replica.

    Attributes:
        file: the segment.
        batch: header and payload.
        is_salvaged: whether it was found by searching damaged bytes.
        is_confirmed: whether a sound batch beside it confirms its offset; not so between damaged bytes.
        after: the damage between the sound batch before it and this one.
    """

    file: LogFile
    batch: RecordBatch
    is_salvaged: bool = False
    is_confirmed: bool = True
    after: tuple[Damage, ...] = ()

    @property
    def offset(self) -> int:
        """Its base offset."""
        return self.batch.base_offset


@dataclass
class Batches:
    """The sound batches of a replica, to iterate over once.

    Attributes:
        replica: which one.
        is_compacted: whether Kafka compacts its log.
        options: how to read.
        count: how many there were so far.
        first_offset, last_offset, last_epoch: of those; None if there were none.
        damaged: how many bytes are damaged.
        at_end: the damage after the last batch; complete after the iteration.
    """

    replica: Replica
    is_compacted: bool
    options: ReadOptions
    count: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    last_epoch: int | None = None
    damaged: int = 0
    at_end: tuple[Damage, ...] = ()

    def __iter__(self) -> Iterator[SoundBatch]:
        """The batches.

        Raises:
            LogReadError: a file cannot be read.
        """
        pending: list[Damage] = []
        for found in self._items():
            if isinstance(found, Damage):
                pending.append(found)
                if not found.is_expected:
                    self.damaged += found.size
            else:
                self._count(found.batch)
                yield replace(found, after=tuple(pending))
                pending = []
        self.at_end = tuple(each for each in pending if not each.is_expected)

    def _count(self, batch: RecordBatch) -> None:
        self.count += 1
        self.first_offset = batch.base_offset if self.first_offset is None else self.first_offset
        self.last_offset = batch.last_offset
        self.last_epoch = batch.partition_leader_epoch

    def _items(self) -> Iterator[SoundBatch | Damage]:
        segments = self.replica.segments
        ends = [file.base_offset + _OFFSETS_OF_A_SEGMENT for file in segments]
        begins_of_next = [*(file.base_offset for file in segments[1:]), ends[-1]]
        offsets = {
            file.path: range(file.base_offset, min(end, begin))
            for file, end, begin in zip(segments, ends, begins_of_next, strict=True)
        }
        store, options = self.replica.store, self.options
        scanned = (_scanned(file, store, options, offsets[file.path]) for file in segments)
        return _Fitting(offsets, is_compacted=self.is_compacted).of(chain.from_iterable(scanned))


def looks_compacted(log: ReplicatedLog, options: ReadOptions) -> bool:
    """Whether the batches of a log have offsets without records, or delete horizons (KIP-534), as compaction leaves."""
    if log.is_metadata:
        return False
    return any(_has_holes(each, options) for each in log.replicas)


def _has_holes(replica: Replica, options: ReadOptions) -> bool:
    """Whether records are missing in batches, between them or where a segment begins."""
    segments = replica.segments
    ends = [*(file.base_offset for file in segments[1:]), None]
    return any(
        _segment_has_holes(_plain_batches(file, replica.store, options), file.base_offset, end)
        for file, end in zip(segments, ends, strict=True)
    )


def _segment_has_holes(batches: Iterable[RecordBatch | None], begin: int, end: int | None) -> bool:
    """One wrong offset is damage, and no hole: the batch after a hole is followed by its successor."""
    expected: int | None = begin
    for each, following in pairwise(chain(batches, [None])):
        if each is None:
            expected = None
            continue
        if each.records_count <= each.last_offset_delta or each.delete_horizon_ms is not None:
            return True
        successor = end if following is None else following.base_offset
        if expected is not None and each.base_offset > expected and successor == each.last_offset + 1:
            return True
        expected = each.last_offset + 1
    return False


def _plain_batches(file: LogFile, store: FileStore, options: ReadOptions) -> Iterator[RecordBatch | None]:
    """The batches with a right CRC; None for a flaw."""
    for found in scan_runs(FileRange(file, 0, file.size), options, Accounts(), store):
        if isinstance(found, Flaw):
            yield None
        else:
            yield from found


def _scanned(file: LogFile, store: FileStore, options: ReadOptions, offsets: range) -> Iterator[SoundBatch | Damage]:
    """The batches of a segment with a right CRC, also those among damaged bytes, and the damage."""
    flaws: list[Flaw] = []
    for found in chain(scan_runs(FileRange(file, 0, file.size), options, Accounts(), store), [None]):
        if isinstance(found, Flaw):
            flaws.append(found)
            continue
        if flaws:
            yield from _searched(flaws, store, offsets, options.max_frame_bytes)
            flaws = []
        yield from (SoundBatch(file, batch) for batch in found or ())


def _searched(flaws: list[Flaw], store: FileStore, offsets: range, largest: int) -> Iterator[SoundBatch | Damage]:
    """The batches in bytes that are skipped together, and the damage before, between and after them."""
    first, last = flaws[0], flaws[-1]
    position, end = first.position, last.position + last.size
    try:
        with store.open(first.file.path) as opened:
            for batch in salvaged_batches(opened, position, end, offsets, largest):
                if batch.position > position:
                    yield Damage(first.file, position, batch.position - position, first.code, first.reason)
                yield SoundBatch(first.file, batch, is_salvaged=True)
                position = batch.position + batch.size
    except OSError as error:
        raise LogReadError("unreadable", first.file.path, system_reason(error)) from None
    if position < end:
        is_expected = len(flaws) == 1 and first.is_expected and position == first.position
        yield Damage(first.file, position, end - position, first.code, first.reason, is_expected)


class _Fitting:
    """Leaves out batches of a replica whose offset or epoch do not fit those beside them."""

    def __init__(self, offsets: Mapping[str, range], *, is_compacted: bool) -> None:
        self._offsets = offsets
        self._is_compacted = is_compacted
        self._file: str | None = None
        self._lowest = 0
        self._epoch = -1
        self._expected: int | None = None
        self._is_sure = True

    def of(self, items: Iterable[SoundBatch | Damage]) -> Iterator[SoundBatch | Damage]:
        """The items, with damage in place of batches that do not fit."""
        source = iter(items)
        ahead = deque[SoundBatch | Damage]()
        while True:
            while len(ahead) <= _LOOKED_AHEAD and (following := next(source, None)) is not None:
                ahead.append(following)
            if not ahead:
                return
            item = ahead.popleft()
            if item.file.path != self._file:
                self._enter(item.file.path)
            if isinstance(item, SoundBatch):
                yield self._judged(item, ahead)
            else:
                self._expected = None
                yield item

    def _enter(self, file: str) -> None:
        """Kafka names a segment by the offset of its first batch; compaction may remove that batch."""
        self._file = file
        self._is_sure = True
        self._expected = self._offsets[file].start
        self._lowest = max(self._lowest, self._expected)

    def _judged(self, item: SoundBatch, ahead: Iterable[SoundBatch | Damage]) -> SoundBatch | Damage:
        batch = item.batch
        following = [each.batch if isinstance(each, SoundBatch) else None for each in ahead]
        is_confirmed = self._is_in_line(batch, following)
        if not is_confirmed and not self._may_fit(batch, following):
            if self._expected is not None:
                self._expected += batch.last_offset_delta + 1
                self._is_sure = False  # others may be lost before it
            return _misfit(item, "bad_offset", f"offset {batch.base_offset} does not fit the batches beside it")
        self._passed(batch)
        if not self._epoch_fits(batch, following[0] if following else None):
            reason = f"leader epoch {batch.partition_leader_epoch} does not fit the batches beside it"
            return _misfit(item, "bad_epoch", reason)
        self._epoch = batch.partition_leader_epoch
        return item if is_confirmed else replace(item, is_confirmed=False)

    def _passed(self, batch: RecordBatch) -> None:
        self._expected = self._lowest = batch.last_offset + 1
        self._is_sure = True

    def _is_in_line(self, batch: RecordBatch, following: Sequence[RecordBatch | None]) -> bool:
        """Whether the batch before or after confirms the offset; without gaps, both are next to it."""
        if not self._is_in_range(batch):
            return False
        if self._is_compacted:
            return self._precedes(batch, following)
        return self._expected == batch.base_offset or _is_successor(batch, following[0] if following else None)

    def _may_fit(self, batch: RecordBatch, following: Sequence[RecordBatch | None]) -> bool:
        """Whether an offset that none confirms is possible: what is before it is damaged, and what follows may be."""
        is_after_damage = self._expected is None or not self._is_sure
        if self._is_compacted or not is_after_damage or not self._is_in_range(batch):
            return False
        if len(following) > 1 and following[0] is not None and _is_successor(following[0], following[1]):
            return False  # the one after it is in line, and this one is not
        return self._precedes(batch, following)

    def _is_in_range(self, batch: RecordBatch) -> bool:
        end = self._offsets[self._file or ""].stop
        return self._lowest <= batch.base_offset <= batch.last_offset < end

    def _precedes(self, batch: RecordBatch, following: Sequence[RecordBatch | None]) -> bool:
        """Whether a batch comes before one of the next: not all of them have a wrong offset."""
        later = [each for each in following if each is not None]
        return not later or any(batch.last_offset < each.base_offset for each in later)

    def _epoch_fits(self, batch: RecordBatch, following: RecordBatch | None) -> bool:
        """Epochs never decrease with the offset (KIP-101)."""
        own = batch.partition_leader_epoch
        if own < self._epoch:
            return False
        return own == self._epoch or following is None or not self._epoch <= following.partition_leader_epoch < own


def _is_successor(batch: RecordBatch, following: RecordBatch | None) -> bool:
    return following is not None and following.base_offset == batch.last_offset + 1


def _misfit(item: SoundBatch, code: str, reason: str) -> Damage:
    return Damage(item.file, item.batch.position, item.batch.size, code, reason)
