"""The files of a metadata log in their order, each read once, however many histories are folded from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.histories.source import FoldSource
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import OpenedBatch

__all__ = ["Folding", "WalkedFold", "fold_together"]


class WalkedFold(Protocol):
    """A ``MetadataFold`` of any history. Each decides for itself which snapshots it needs."""

    def note_flaw(self, flaw: Flaw) -> None:
        """Bytes of the log that come next cannot be read."""

    def note_flaw_of_snapshot(self, flaw: Flaw) -> None:
        """A snapshot that is wanted cannot be read."""

    def apply(self, found: OpenedBatch) -> None:
        """Apply the next batch of the log."""

    def wants(self, snapshot: LogFile, next_offset: int | None) -> bool:
        """Whether a snapshot tells what is not known; the batch after it has an offset, or there is none."""

    def begin_snapshot(self) -> None:
        """The batches of a snapshot come next."""

    def apply_snapshot(self, found: OpenedBatch) -> None:
        """Take the next batch of the snapshot."""

    def take_over(self, snapshot: LogFile) -> None:
        """All of the snapshot was read."""


class Folding(Protocol):
    """A history while its log is folded."""

    @property
    def fold(self) -> WalkedFold:
        """What it is folded by."""

    def ready(self) -> Iterator[pa.RecordBatch]:
        """Take the rows that nothing can change any more, if they are many.

        Raises:
            BeforeKnowledgeError: it is not known what was so at the time that is asked for.
        """

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Take all other rows: all of the log was read.

        Raises:
            BeforeKnowledgeError: as ``ready``.
        """


def fold_together(
    foldings: Mapping[str, Folding], files: Sequence[LogFile], source: FoldSource
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of histories of one log, which is read once for all of them.

    Args:
        foldings: the histories by their names.
        files: segments and snapshots of the log.
        source: reads them.

    Raises:
        LogReadError: as ``FoldSource.batches``.
        BeforeKnowledgeError: as ``Folding.ready``.
    """
    folds = [folding.fold for folding in foldings.values()]
    for _ in _walk(files, folds, source):
        for name, folding in foldings.items():
            for batch in folding.ready():
                yield name, batch
    for name, folding in foldings.items():
        for batch in folding.rest():
            yield name, batch


def _walk(files: Sequence[LogFile], folds: Sequence[WalkedFold], source: FoldSource) -> Iterator[None]:
    """Apply all files; pauses after each batch of the log, so that what has ended can be taken."""
    high_watermark = source.options.high_watermark
    segments = sorted((file for file in files if file.kind is FileKind.SEGMENT), key=lambda file: file.base_offset)
    first = 1 if segments else 0  # what one at offset 0 holds, such as bootstrap.checkpoint, the log repeats
    last = float("inf") if high_watermark is None else high_watermark
    snapshots = deque(
        sorted(
            (file for file in files if file.kind is FileKind.SNAPSHOT and first <= file.base_offset <= last),
            key=_newest_epoch_first,
        )
    )
    for segment in segments:
        for found in source.batches(segment):
            if isinstance(found, Flaw):
                for fold in folds:
                    fold.note_flaw(found)
                continue
            if high_watermark is not None and found.batch.base_offset >= high_watermark:
                break
            while snapshots and snapshots[0].base_offset <= found.batch.last_offset:
                _read_snapshot(snapshots.popleft(), found.batch.base_offset, folds, source)
            for fold in folds:
                fold.apply(found)
            yield
    while snapshots:
        _read_snapshot(snapshots.popleft(), None, folds, source)
        yield


def _read_snapshot(snapshot: LogFile, next_offset: int | None, folds: Sequence[WalkedFold], source: FoldSource) -> None:
    """Give a snapshot to those that want it, but only if all of it can be read."""
    wanting = [fold for fold in folds if fold.wants(snapshot, next_offset)]
    if not wanting:
        return
    for fold in wanting:
        fold.begin_snapshot()
    for found in source.batches(snapshot):
        if isinstance(found, Flaw):
            for fold in wanting:
                fold.note_flaw_of_snapshot(found)
            return
        for fold in wanting:
            fold.apply_snapshot(found)
    for fold in wanting:
        fold.take_over(snapshot)


def _newest_epoch_first(snapshot: LogFile) -> tuple[int, int]:
    return snapshot.base_offset, -(snapshot.epoch or 0)
