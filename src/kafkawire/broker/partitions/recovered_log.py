"""Reading of a partition's segments at the start, up to where a crash has cut the last write off.

Batches of several requests share an fsync, so a crash of the machine may leave any part of the last write. Records
below the recovery point are durable: damage there is an error. Damage after it ends the log, as in Kafka.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from kafkawire.broker.partitions.file_segment import CLEANED_SUFFIX, SWAP_SUFFIX, FileSegment
from kafkawire.broker.partitions.producers import ProducerHistory
from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.files import naming, open_file, sync_file, sync_folder
from kafkawire.broker.storage.producer_snapshot_files import (
    producer_snapshot_path,
    read_producer_snapshot,
    snapshots_after,
    write_producer_snapshot,
)
from kafkawire.broker.storage.segment_reading import whole_batches_of
from kafkawire.broker.storage.segments import SegmentFile, list_segments
from kafkawire.broker.storage.transaction_index import TRANSACTION_INDEX_SUFFIX
from kafkawire.wire.errors import DecodeError

_log = logging.getLogger(__name__)


def recovered_segments(
    folder: Path, recovery_point: int, now_ms: int, producers: ProducerHistory, *, expired_ms: int = 0
) -> Sequence[FileSegment]:
    """The segments of a partition; an incomplete write after the last one is cut off.

    Args:
        folder: of the partition.
        recovery_point: all records below it are durable.
        now_ms: milliseconds since the epoch.
        producers: gets the state of the producers.
        expired_ms: producers with older records only are forgotten, so that durable segments with such records need not
            be read if a snapshot has the transactions that are open after them; milliseconds since the epoch.

    Raises:
        CorruptLogError: a durable record is missing or damaged.
        OSError: a file cannot be read, written or cut.
    """
    finish_rewrites(folder)
    files = list_segments(folder)
    segments = _taken_whole(files, recovery_point, now_ms, producers, expired_ms=expired_ms)
    whole = len(segments)
    offset = files[len(segments)].base_offset if files else 0
    for index in range(len(segments), len(files)):
        file, later = files[index], files[index + 1 :]
        segment = FileSegment(folder, file.base_offset, now_ms)
        segments.append(segment)
        reason = _take(segment, file, offset, producers)
        offset = segment.end_offset
        if reason is not None:
            _check(file.path, offset, recovery_point, reason)
            _cut(segment, later, reason)
            break
        if later:
            _end(segment, later[0].base_offset, producers, is_durable=later[0].base_offset <= recovery_point)
    if segments and offset < recovery_point:
        _check(folder, offset, recovery_point, "the log ends")
    _make_durable(segments[whole:], recovery_point)
    producers.expire(expired_ms)  # only now: a later marker may have kept one of the snapshot
    return segments


def _make_durable(segments: Sequence[FileSegment], recovery_point: int) -> None:
    """Fsync what a broker may have written that was killed before it did so: clients read it from now on."""
    written = [segment for segment in segments if segment.end_offset > recovery_point or not segment.readable]
    for segment in written:
        sync_file(segment.path)
    if written:
        sync_folder(written[0].path.parent)


def _taken_whole(
    files: Sequence[SegmentFile], recovery_point: int, now_ms: int, producers: ProducerHistory, *, expired_ms: int
) -> list[FileSegment]:
    """The first segments that need not be read; the producers get the state after them."""
    segments: list[FileSegment] = []
    for file, following in pairwise(files):
        folder = file.path.parent
        segment = FileSegment(folder, file.base_offset, now_ms)
        is_known = producer_snapshot_path(folder, following.base_offset).exists()
        is_durable = following.base_offset <= recovery_point
        if not (is_durable and is_known and segment.take_all(following.base_offset, expired_ms)):
            break
        segments.append(segment)
    if files:
        first_read = files[len(segments)]
        snapshot = read_producer_snapshot(producer_snapshot_path(first_read.path.parent, first_read.base_offset))
        if snapshot is None:
            return []
        producers.restore(snapshot)
    return segments


def _end(segment: FileSegment, end_offset: int, producers: ProducerHistory, *, is_durable: bool) -> None:
    """Make the files of a segment that has ended, as far as they are missing or damaged.

    A list of aborted transactions in a file counts for more than the one from batches: compaction and deletion may have
    removed the begin of a transaction.
    """
    if is_durable and segment.aborted_path.exists():
        segment.take_aborted()
    segment.store_index(grows=False)
    snapshot = producer_snapshot_path(segment.path.parent, end_offset)
    if read_producer_snapshot(snapshot) is None:
        write_producer_snapshot(snapshot, producers.snapshot())


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
                FileSegment(folder, file.base_offset, 0).unlink()
        for swap in (path.with_name(f"{path.name.partition('.')[0]}{TRANSACTION_INDEX_SUFFIX}{SWAP_SUFFIX}"), path):
            if swap.exists():
                swap.rename(swap.with_suffix(""))
    for path in folder.glob(f"*{SWAP_SUFFIX}"):
        path.unlink()
    if swaps:
        sync_folder(folder)


def _take(segment: FileSegment, file: SegmentFile, offset: int, producers: ProducerHistory) -> str | None:
    """Note the batches of a file; returns why the rest of the file is none, or None at its end."""
    if file.base_offset < offset:
        return f"it begins before offset {offset}, where the segment before it ends"
    try:
        for batch in whole_batches_of(file.path):
            if batch.base_offset < segment.end_offset or batch.last_offset_delta < 0:
                return f"a batch of offsets {batch.base_offset} to {batch.last_offset}"
            aborted = producers.see(batch)
            segment.take(batch)
            if aborted is not None:
                segment.add_aborted(aborted)
    except DecodeError as error:
        return error.reason
    return "the batch is truncated" if segment.readable < file.path.stat().st_size else None


def _check(path: Path, offset: int, recovery_point: int, reason: str) -> None:
    if offset < recovery_point:
        raise CorruptLogError(
            f"{path}: the records from offset {offset} on are missing or damaged ({reason}), though all below "
            f"{recovery_point} were durable, so this is not an incomplete write: restore the directory from a backup. "
            "To continue without these records, delete recovery-point-offset-checkpoint"
        )


def _cut(segment: FileSegment, later: Sequence[SegmentFile], reason: str) -> None:
    path, size = segment.path, segment.readable
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
    for snapshot in snapshots_after(path.parent, segment.end_offset):
        snapshot.unlink()
