"""A metadata log, its segments and its snapshots, replayed as one sequence of changes (KIP-630).

The records of the log come first. A snapshot fills in where records are missing: before the first one, and after a gap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from kafkawire.logs.files.log_files import LogFile, segments_of
from kafkawire.logs.folding.cyclic_garbage import none_collected
from kafkawire.logs.folding.metadata_fold import MetadataFold
from kafkawire.logs.folding.metadata_log import FilesOfLog, MetadataLog, snapshots_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.continuing import Reached
from kafkawire.logs.frames.flaws import Flaw


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
    log = FilesOfLog(source.ranges_from(segments_of(files), start, is_compacted=False), source)
    return replay_log(log, snapshots_of(files, source.options.high_watermark), folds, source, start)


def replay_log(
    log: MetadataLog,
    snapshots: deque[LogFile],
    folds: Sequence[MetadataFold[Any]],
    source: FoldSource,
    start: Reached | None = None,
) -> Iterator[Reached | None]:
    """As ``replay``, of a log that may have been read before.

    Args:
        log: what to replay.
        snapshots: in the order of their offsets; none is left.
        folds, source, start: as in ``replay``.
    """
    reached = start
    for found in log.runs(snapshots):
        if isinstance(found, Flaw):
            for fold in folds:
                fold.note_flaw(found)
            continue
        while snapshots and snapshots[0].base_offset <= found.last_of_first:
            _read_snapshot(log, snapshots.popleft(), found.base_offset, folds)
        source.go_on()
        with none_collected():
            for fold in folds:
                fold.apply(found)
        reached = found.reached
        yield reached
    while snapshots:
        _read_snapshot(log, snapshots.popleft(), None, folds)
        yield reached


def _read_snapshot(
    log: MetadataLog, snapshot: LogFile, next_offset: int | None, folds: Sequence[MetadataFold[Any]]
) -> None:
    """Apply a snapshot to the folds that need it, unless a part of the snapshot cannot be read."""
    needing = [fold for fold in folds if fold.needs(snapshot, next_offset)]
    if not needing:
        return
    states = [fold.begin_snapshot() for fold in needing]
    is_damaged = False
    for found in log.snapshot(snapshot):
        if isinstance(found, Flaw):
            is_damaged = True
            for fold in needing:
                fold.note_flaw(found, of_snapshot=True)
        elif not is_damaged:
            with none_collected():
                for state in states:
                    state.apply_rows(found)
    if not is_damaged:
        for fold, state in zip(needing, states, strict=True):
            fold.take_over(state, snapshot)
