"""Recovery of a log: its end is found, and an incomplete write is cut off.

A batch is written only when everything before it is durable. So damage without a valid batch after it is an incomplete
last write, and is cut off. Damage before a valid batch was durable once, and the log is refused.
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
from kafkawire.broker.storage.files import naming, open_file, sync_folder
from kafkawire.broker.storage.segments import SegmentFile
from kafkawire.wire.batches import RecordBatch, read_batches
from kafkawire.wire.errors import CorruptBatchError

_log = logging.getLogger(__name__)
_MAGIC_OFFSET: Final = 16
_MAGIC: Final = b"\2"
_HIGHEST_OFFSET: Final = (1 << 63) - 1


class LogEnd(msgspec.Struct, frozen=True):
    """The end of a log.

    Attributes:
        segments: its segments, in order.
        offset: of the next record.
        leader_epoch: of the last batch; -1 if there is none.
        timestamp: of the last batch, in milliseconds since the epoch; -1 if there is none.
    """

    segments: Sequence[SegmentFile]
    offset: int
    leader_epoch: int
    timestamp: int


class IncompleteWrite(msgspec.Struct, frozen=True):
    """Bytes at the end of a log that are not a batch.

    Attributes:
        segment: index of the segment.
        position: in its file.
        size: how many bytes.
        offset: of the record that should begin there.
        reason: why they are not a batch.
    """

    segment: int
    position: int
    size: int
    offset: int
    reason: str


def recover(segments: Sequence[SegmentFile], *, durable_offset: int = 0, compacted: bool = False) -> LogEnd:
    """Read a log to its end, and cut off an incomplete write.

    Args:
        segments: from the first needed one to the last one.
        durable_offset: all records below it were durable, so they cannot be an incomplete write.
        compacted: whether offsets may be missing between batches, as Kafka's log cleaner leaves them.

    Raises:
        CorruptLogError: a durable record is missing or damaged.
        OSError: a file cannot be read or cut.
    """
    end, incomplete = find_end(segments, durable_offset=durable_offset, compacted=compacted)
    if incomplete is None:
        return end
    return msgspec.structs.replace(end, segments=_cut(segments, incomplete))


def find_end(
    segments: Sequence[SegmentFile], *, durable_offset: int = 0, compacted: bool = False
) -> tuple[LogEnd, IncompleteWrite | None]:
    """The end of a log, and the incomplete write after it, if there is one; this only reads.

    Args:
        segments, durable_offset, compacted: as for ``recover``.

    Raises:
        CorruptLogError: a durable record is missing or damaged.
        OSError: a file cannot be read.
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
            left = len(content) - batches.position
            damage = IncompleteWrite(index, batches.position, left, offset, batches.reason)
            _refuse_damaged_middle(segments, content, damage, compacted=compacted)
            _refuse_damaged_durable(segments, damage, durable_offset)
            return LogEnd(segments[: index + 1], offset, leader_epoch, timestamp), damage
    return LogEnd(segments, offset, leader_epoch, timestamp), None


def has_all(segments: Sequence[SegmentFile], start_offset: int, end_offset: int) -> bool:
    """Whether a log has all records from an offset to below another one; this only reads.

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
    """The valid batches at the start of a segment; afterwards ``position`` is their end, ``reason`` the error there."""

    def __init__(self, content: bytes, offset: int, *, compacted: bool) -> None:
        self._reader = read_batches(content)
        self._compacted = compacted
        self.offset = offset
        self.position = 0
        self.reason = "the batch is truncated"

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
    segments: Sequence[SegmentFile], content: bytes, damage: IncompleteWrite, *, compacted: bool
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
            f"the batch of offset {following[1]} {where} is valid, so this is not an incomplete write: "
            "restore the directory from a backup"
        )


def _refuse_damaged_durable(segments: Sequence[SegmentFile], damage: IncompleteWrite, durable_offset: int) -> None:
    if damage.offset < durable_offset:
        path = segments[damage.segment].path
        raise CorruptLogError(
            f"{path}: damaged at byte {damage.position}, where offset {damage.offset} should be ({damage.reason}); "
            f"all records below {durable_offset} were durable, so this is not an incomplete write: "
            "restore the directory from a backup"
        )


def _next_batch(data: bytes, start: int, lowest_offset: int, *, compacted: bool) -> tuple[int, int] | None:
    """Position and base offset of the first valid batch from a position on that can belong to the log."""
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


def _cut(segments: Sequence[SegmentFile], damage: IncompleteWrite) -> Sequence[SegmentFile]:
    kept, gone = segments[: damage.segment + 1], segments[damage.segment + 1 :]
    path = kept[-1].path
    _log.warning(
        "%s: cut off %d bytes at byte %d, after offset %d: %s, as after an incomplete write",
        path, damage.size, damage.position, damage.offset - 1, damage.reason,
    )  # fmt: skip
    _truncate(path, damage.position)
    for segment in gone:
        _log.warning("%s: removed; it is after the cut and has no valid batch", segment.path)
        segment.path.unlink()
    sync_folder(path.parent)
    return kept


def _truncate(path: Path, size: int) -> None:
    descriptor = open_file(path, os.O_WRONLY)
    try:
        with naming(path):
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
