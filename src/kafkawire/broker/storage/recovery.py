"""Finding where a log ends after whatever happened to it.

A batch is written only when everything before it is durable. So damage with nothing whole behind it is what a crash
leaves of the last write, and is cut off; damage with a whole batch behind it was durable once, and nobody may start
without it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.files import naming, sync_folder
from kafkawire.broker.storage.segments import SegmentFile
from kafkawire.wire.batches import RecordBatch, read_batches
from kafkawire.wire.errors import CorruptBatchError

__all__ = ["LogEnd", "has_all", "recover"]

_log = logging.getLogger(__name__)
_MAGIC_OFFSET: Final = 16
_MAGIC: Final = b"\2"
_HIGHEST_OFFSET: Final = (1 << 63) - 1


class LogEnd(msgspec.Struct, frozen=True):
    """Where a log goes on.

    Attributes:
        segments: its segments, in order.
        offset: what the next record will have.
        leader_epoch: of the last batch; -1 if there is none.
        timestamp: of the last batch, in milliseconds since the epoch; -1 if there is none.
    """

    segments: Sequence[SegmentFile]
    offset: int
    leader_epoch: int
    timestamp: int


class _Damage(msgspec.Struct, frozen=True):
    """Bytes that are no batch of the log.

    Attributes:
        segment: index of the segment.
        position: in its file.
        offset: the record that should begin there.
        reason: what is wrong with it.
    """

    segment: int
    position: int
    offset: int
    reason: str


def recover(segments: Sequence[SegmentFile], *, durable_offset: int = 0, compacted: bool = False) -> LogEnd:
    """Read a log to its end, and cut off what a crash has left after it.

    Args:
        segments: from the first one that is needed to the last one.
        durable_offset: all records below it were durable for certain, so no crash can have left them unfinished.
        compacted: whether offsets may be missing between batches, as Kafka's log cleaner leaves them.

    Raises:
        CorruptLogError: something is missing or damaged that was durable.
        OSError: a file cannot be read or cut.
    """
    offset = segments[0].base_offset if segments else 0
    leader_epoch = timestamp = -1
    for index, segment in enumerate(segments):
        if not _follows(segment.base_offset, offset, compacted=compacted):
            raise CorruptLogError(
                f"{segment.path.parent}: the records from offset {offset} on are missing before {segment.path.name}; "
                "put the missing segment back, or restore the directory from a backup"
            )
        offset = segment.base_offset
        content = segment.path.read_bytes()
        batches = _Batches(content, offset, compacted=compacted)
        for batch in batches:
            leader_epoch, timestamp = batch.partition_leader_epoch, batch.max_timestamp
        offset = batches.offset
        if batches.position < len(content):
            damage = _Damage(index, batches.position, offset, batches.reason)
            _refuse_damaged_middle(segments, content, damage, compacted=compacted)
            _refuse_damaged_durable(segments, damage, durable_offset)
            return LogEnd(_cut(segments, len(content), damage), offset, leader_epoch, timestamp)
    return LogEnd(segments, offset, leader_epoch, timestamp)


def has_all(segments: Sequence[SegmentFile], start_offset: int, end_offset: int) -> bool:
    """Whether a log has the whole batches of all records from an offset to below another one; nothing is changed.

    Args:
        segments: all of the log, in order.
        start_offset: of the first record.
        end_offset: the offset after the last record.

    Raises:
        OSError: a file cannot be read.
    """
    offset: int | None = None
    for segment, following in zip_longest(segments, segments[1:]):
        if following is not None and following.base_offset <= start_offset:
            continue
        if segment.base_offset != (min(segment.base_offset, start_offset) if offset is None else offset):
            return False
        batches = _Batches(segment.path.read_bytes(), segment.base_offset, compacted=False)
        for _ in batches:
            if batches.offset >= end_offset:
                return True
        offset = batches.offset
    return False


def _follows(base_offset: int, end_offset: int, *, compacted: bool) -> bool:
    return base_offset == end_offset or (compacted and base_offset > end_offset)


class _Batches:
    """The whole batches that a segment begins with; afterwards ``position`` says where they end, and ``reason`` why."""

    def __init__(self, content: bytes, offset: int, *, compacted: bool) -> None:
        self._reader = read_batches(content)
        self._compacted = compacted
        self.offset = offset
        self.position = 0
        self.reason = "the batch is not whole"

    def __iter__(self) -> Iterator[RecordBatch]:
        try:
            for batch in self._reader:
                follows = _follows(batch.base_offset, self.offset, compacted=self._compacted)
                if not follows or batch.last_offset_delta < 0:
                    self.reason = f"a batch of offsets {batch.base_offset} to {batch.last_offset}"
                    return
                self.offset = batch.last_offset + 1
                self.position += batch.size
                yield batch
        except CorruptBatchError as error:
            self.reason = error.reason


def _refuse_damaged_middle(
    segments: Sequence[SegmentFile], content: bytes, damage: _Damage, *, compacted: bool
) -> None:
    path = segments[damage.segment].path
    following = _next_batch(content, damage.position, damage.offset, compacted=compacted)
    where = f"at byte {following[0]}" if following is not None else ""
    for later in segments[damage.segment + 1 :]:
        if following is None:
            following = _next_batch(later.path.read_bytes(), 0, damage.offset, compacted=compacted)
            where = f"in {later.path.name}"
    if following is not None:
        raise CorruptLogError(
            f"{path}: damaged at byte {damage.position}, where offset {damage.offset} should be ({damage.reason}); "
            f"the batch of offset {following[1]} {where} is whole, so this is no unfinished write: "
            "restore the directory from a backup"
        )


def _refuse_damaged_durable(segments: Sequence[SegmentFile], damage: _Damage, durable_offset: int) -> None:
    if damage.offset < durable_offset:
        path = segments[damage.segment].path
        raise CorruptLogError(
            f"{path}: damaged at byte {damage.position}, where offset {damage.offset} should be ({damage.reason}); "
            f"all records below {durable_offset} were durable once, so this is no unfinished write: "
            "restore the directory from a backup"
        )


def _next_batch(data: bytes, start: int, lowest_offset: int, *, compacted: bool) -> tuple[int, int] | None:
    """Position and base offset of the first whole batch from a position on that can belong to the log."""
    highest_offset = _HIGHEST_OFFSET if compacted else lowest_offset + len(data)
    magic = data.find(_MAGIC, start + _MAGIC_OFFSET)
    while magic >= 0:
        position = magic - _MAGIC_OFFSET
        base_offset = int.from_bytes(data[position : position + 8], "big", signed=True)
        if lowest_offset <= base_offset <= highest_offset and _is_batch(data, position):
            return position, base_offset
        magic = data.find(_MAGIC, magic + 1)
    return None


def _is_batch(data: bytes, position: int) -> bool:
    try:
        return next(read_batches(data, position=position), None) is not None
    except CorruptBatchError:
        return False


def _cut(segments: Sequence[SegmentFile], size: int, damage: _Damage) -> Sequence[SegmentFile]:
    kept, gone = segments[: damage.segment + 1], segments[damage.segment + 1 :]
    path = kept[-1].path
    _log.warning(
        "%s: cut %d bytes at byte %d, behind offset %d: %s, as an unfinished write leaves it",
        path, size - damage.position, damage.position, damage.offset - 1, damage.reason,
    )  # fmt: skip
    _truncate(path, damage.position)
    for segment in gone:
        _log.warning("%s: removed; it lies behind the cut and has no whole batch", segment.path)
        segment.path.unlink()
    sync_folder(path.parent)
    return kept


def _truncate(path: Path, size: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        with naming(path):
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
