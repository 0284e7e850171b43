"""Reading of a partition's segments at the start, up to where a crash has cut the last write off.

Batches of several requests share an fsync, so a crash of the machine may leave any part of the last write. Records
below the recovery point are durable: damage there is an error. Damage after it ends the log, as in Kafka.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from kafkawire.broker.partitions.file_segment import CLEANED_SUFFIX, SWAP_SUFFIX, FileSegment
from kafkawire.broker.partitions.open_transactions import AbortedTransaction
from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.files import naming, open_file, sync_folder
from kafkawire.broker.storage.segment_reading import whole_batches_of
from kafkawire.broker.storage.segments import SegmentFile, list_segments
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.errors import CorruptBatchError

_log = logging.getLogger(__name__)

See: TypeAlias = Callable[[RecordBatch], AbortedTransaction | None]


def recovered_segments(
    folder: Path, recovery_point: int, now_ms: int, see: See, *, expired_ms: int = 0
) -> Sequence[FileSegment]:
    """The segments of a partition; an incomplete write after the last one is cut off.

    Args:
        folder: of the partition.
        recovery_point: all records below it are durable.
        now_ms: milliseconds since the epoch.
        see: called with each batch, in order; returns the transaction that it aborts.
        expired_ms: producers with older records only are forgotten, so that durable segments with such records need not
            be read; milliseconds since the epoch.

    Raises:
        CorruptLogError: a durable record is missing or damaged.
        OSError: a file cannot be read or cut.
    """
    finish_rewrites(folder)
    files = list_segments(folder)
    segments: list[FileSegment] = []
    offset = files[0].base_offset if files else 0
    for index, file in enumerate(files):
        segment = FileSegment(folder, file.base_offset, now_ms)
        segments.append(segment)
        following = files[index + 1].base_offset if index < len(files) - 1 else None
        if following is not None and following <= recovery_point and segment.take_all(following, expired_ms):
            offset = following
            continue
        reason = _take(segment, file, offset, see)
        offset = segment.end_offset
        if reason is not None:
            _check(file.path, offset, recovery_point, reason)
            _cut(file.path, segment.readable, files[index + 1 :], reason)
            break
        if following is not None:
            segment.store_index(grows=False)
    if segments and offset < recovery_point:
        _check(folder, offset, recovery_point, "the log ends")
    return segments


def finish_rewrites(folder: Path) -> None:
    """Finish what a crash has left of a compaction, as Kafka does at its start.

    A ``.cleaned`` file may be incomplete. A ``.swap`` file is complete, and replaces the segments whose offsets it has.

    Raises:
        OSError: a file cannot be renamed or deleted.
    """
    for path in folder.glob(f"*{CLEANED_SUFFIX}"):
        path.unlink()
    swaps = sorted(folder.glob(f"*.log{SWAP_SUFFIX}"))
    for path in swaps:
        base_offset = int(path.name.partition(".")[0])
        last = base_offset
        for batch in whole_batches_of(path):
            last = batch.last_offset
        for file in list_segments(folder):
            if base_offset <= file.base_offset <= last:
                FileSegment(folder, file.base_offset, 0).delete()
        path.rename(path.with_suffix(""))
    for path in folder.glob(f"*{SWAP_SUFFIX}"):
        path.unlink()
    if swaps:
        sync_folder(folder)


def _take(segment: FileSegment, file: SegmentFile, offset: int, see: See) -> str | None:
    """Note the batches of a file; returns why the rest of the file is none, or None at its end."""
    if file.base_offset < offset:
        return f"it begins before offset {offset}, where the segment before it ends"
    try:
        for batch in whole_batches_of(file.path):
            if batch.base_offset < segment.end_offset or batch.last_offset_delta < 0:
                return f"a batch of offsets {batch.base_offset} to {batch.last_offset}"
            segment.take(batch)
            if (aborted := see(batch)) is not None:
                segment.add_aborted(aborted)
    except CorruptBatchError as error:
        return error.reason
    return "the batch is truncated" if segment.readable < file.path.stat().st_size else None


def _check(path: Path, offset: int, recovery_point: int, reason: str) -> None:
    if offset < recovery_point:
        raise CorruptLogError(
            f"{path}: the records from offset {offset} on are missing or damaged ({reason}), though all below "
            f"{recovery_point} were durable, so this is not an incomplete write: restore the directory from a backup. "
            "To continue without these records, delete recovery-point-offset-checkpoint"
        )


def _cut(path: Path, size: int, later: Sequence[SegmentFile], reason: str) -> None:
    _log.warning("%s: cut off at byte %d: %s, as after an incomplete write", path, size, reason)
    descriptor = open_file(path, os.O_WRONLY)
    try:
        with naming(path):
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    for file in later:
        _log.warning("%s: removed, because it is after the cut", file.path)
        FileSegment(file.path.parent, file.base_offset, 0).delete()
