"""A metadata log, its segments and its snapshots, replayed as one sequence of changes (KIP-630).

The records of the log come first. A snapshot fills in where records are missing: before the first one, and after a gap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from kafkawire.logs.files.log_files import FileKind, LogFile, segments_of
from kafkawire.logs.folding.metadata_fold import MetadataFold, Run
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange
from kafkawire.logs.frames.continuing import Reached
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.tables.rows import RawRows
from kafkawire.wire.batches import RecordBatch


def replay(
    files: Sequence[LogFile], folds: Sequence[MetadataFold[Any]], source: FoldSource, start: Reached | None = None
) -> Iterator[Reached | None]:
    """Read the files of a log once, in order, and apply them to several folds.

    Pauses often, so that the caller can take intervals that have ended. Each fold decides for itself which snapshots it
    needs.

    Args:
        files: segments and snapshots.
        folds: what to apply them to.
        source: reads the files.
        start: where to begin; None for all of the log.

    Returns:
        The places up to which the log was read.

    Raises:
        LogReadError: as ``FoldSource.groups``.
    """
    high_watermark = source.options.high_watermark
    segments = segments_of(files)
    first = 1 if segments else 0  # the log repeats the records of a snapshot at 0, such as bootstrap.checkpoint
    last = float("inf") if high_watermark is None else high_watermark
    snapshots = deque(
        sorted(
            (file for file in files if file.kind is FileKind.SNAPSHOT and first <= file.base_offset <= last),
            key=lambda snapshot: (snapshot.base_offset, -(snapshot.epoch or 0)),
        )
    )
    reached = start
    for each in source.ranges_from(segments, start, is_compacted=False):
        for found in source.groups(each):
            if isinstance(found, Flaw):
                for fold in folds:
                    fold.note_flaw(found)
                continue
            batches = found.batches
            if high_watermark is not None:
                batches = [*takewhile(lambda batch: batch.base_offset < high_watermark, batches)]
            for run in _runs(found, batches, snapshots):
                while snapshots and snapshots[0].base_offset <= run.batches[0].last_offset:
                    _read_snapshot(snapshots.popleft(), run.batches[0].base_offset, folds, source)
                source.go_on()
                for fold in folds:
                    fold.apply(run)
                reached = _end_of(run, high_watermark)
                yield reached
            beyond = found.batches[len(batches) : len(batches) + 1]  # read as well, to know that it is beyond
            source.accounts.records_read += sum(batch.records_count for batch in (*batches, *beyond))
            if beyond:
                break
    while snapshots:
        _read_snapshot(snapshots.popleft(), None, folds, source)
        yield reached


def _end_of(run: Run, high_watermark: int | None) -> Reached:
    """The place after a run, or before its last batch if some records of that are beyond the high watermark."""
    last, base_offset = run.batches[-1], run.rows.file.base_offset
    if high_watermark is not None and high_watermark <= last.last_offset:
        return Reached(high_watermark, base_offset, last.position)
    return Reached(last.last_offset + 1, base_offset, last.position + last.size)


def _runs(group: RecordGroup, batches: Sequence[RecordBatch], snapshots: Sequence[LogFile]) -> Iterator[Run]:
    """The first batches of a group, cut at gaps and where a snapshot may fill one in.

    Args:
        group: the batches with their records.
        batches: some or all of the batches.
        snapshots: those that were not read yet, in the order of their offsets; the caller removes them.
    """
    rows = RawRows.of(group)
    begin, first, place = 0, 0, 0
    for number, batch in enumerate(batches):
        follows = number > begin and batch.base_offset == batches[number - 1].last_offset + 1
        if number > begin and not (follows and (not snapshots or snapshots[0].base_offset > batch.last_offset)):
            yield Run(batches[begin:number], rows.piece(first, place))
            begin, first = number, place
        place += batch.records_count
    if batches:
        yield Run(batches[begin:], rows.piece(first, place))


def _read_snapshot(
    snapshot: LogFile, next_offset: int | None, folds: Sequence[MetadataFold[Any]], source: FoldSource
) -> None:
    """Apply a snapshot to the folds that need it, unless a part of the snapshot cannot be read."""
    needing = [fold for fold in folds if fold.needs(snapshot, next_offset)]
    if not needing:
        return
    states = [fold.begin_snapshot() for fold in needing]
    is_damaged = False
    for found in source.groups(FileRange(snapshot, 0, snapshot.size)):
        if isinstance(found, Flaw):
            is_damaged = True
            for fold in needing:
                fold.note_flaw(found, of_snapshot=True)
            continue
        source.accounts.records_read += len(found)
        if not is_damaged:
            rows = RawRows.of(found)
            for state in states:
                state.apply_rows(rows)
    if not is_damaged:
        for fold, state in zip(needing, states, strict=True):
            fold.take_over(state, snapshot)
