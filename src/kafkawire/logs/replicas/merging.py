"""Replicas of a log merged: a partition folder with a sound batch for each offset that any of them has."""

from __future__ import annotations

import errno
import os
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final, Self

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.frames.batches import FileRange, scan_runs
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import OCTETS_AT_A_TIME
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.replicas.choosing import Choice
from kafkawire.logs.replicas.finding import ReplicatedLog
from kafkawire.logs.replicas.sound_batches import looks_compacted
from kafkawire.wire.batches import RecordBatch

_LARGEST_SEGMENT: Final = (1 << 31) - 1
"""Kafka's indexes have positions as int32."""


@dataclass(frozen=True)
class Merged:
    """A log that was merged.

    Attributes:
        log: its name.
        path: of the folder that was written.
        first_offset, last_offset: what it has; None if there is no sound batch.
        batches: how many it has.
        bytes: their size.
        taken: how many of them come from each replica, by its folder.
        snapshots: how many snapshots of the metadata log it has.
        dropped: how many batches replicas have that a leader of a later epoch did not.
        lost: the ranges of offsets, both ends included, that no replica has. In compacted logs, none are known.
    """

    log: str
    path: str
    first_offset: int | None
    last_offset: int | None
    batches: int
    bytes: int
    taken: dict[str, int]
    snapshots: int
    dropped: int
    lost: tuple[tuple[int, int], ...]


def merge_replicas(
    log: ReplicatedLog,
    out: str | PathLike[str],
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    compacted: bool | None = None,
) -> Merged:
    """Write a partition folder with a sound batch for each offset that any replica has.

    Where replicas have different batches, those of the higher leader epoch are taken, and those of lower epochs from
    there on are dropped: so a follower truncates its log to that of the leader (KIP-101, KIP-279). The bytes of batches
    are copied unchanged. Segments begin where those of a replica do. Snapshots of the metadata log are copied from a
    replica in which they are sound. In a compacted log, one replica is copied, and the others only repair its damage:
    records that it has compacted away stay away.

    The log is for reading: a broker would also need Kafka's checkpoints.

    Args:
        log: from ``find_replicas``.
        out: folder of this machine in which the folder of the partition is made. It is written beside and renamed.
        options: only ``max_frame_bytes`` counts.
        compacted: as in ``compare_replicas``.

    Raises:
        FileExistsError: the folder of the partition is there, or it would be in a replica.
        LogReadError: a replica cannot be read.
        OSError: the folder cannot be written.

    Example:
        ```python
        from kafkawire.logs import find_replicas, merge_replicas

        logs, _ = find_replicas(["/evidence/broker-1", "/evidence/broker-2"])
        for log in logs:
            merged = merge_replicas(log, "/evidence/merged")
            print(merged.path, merged.first_offset, merged.last_offset, merged.lost)
        ```
    """
    plain = ReadOptions(max_frame_bytes=options.max_frame_bytes)
    target = Path(out).resolve() / log.name
    _check_target(target, log)
    choice = Choice(log, plain, looks_compacted(log, plain) if compacted is None else compacted)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        with _Writer(part, _boundaries(log)) as writer:
            for number, found in choice:
                writer.write(number, found.batch)
        snapshots = _copy_snapshots(log, part, plain)
        _write_cluster(target.parent, log.cluster)
        part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Merged(
        log=log.name,
        path=str(target),
        first_offset=writer.first_offset,
        last_offset=writer.last_offset,
        batches=writer.taken.total(),
        bytes=writer.size,
        taken={each.name: writer.taken[number] for number, each in enumerate(log.replicas)},
        snapshots=snapshots,
        dropped=choice.dropped,
        lost=tuple(choice.lost),
    )


def _check_target(target: Path, log: ReplicatedLog) -> None:
    """Raise if the folder is there, or is in a replica: a source is never changed."""
    if target.exists():
        raise FileExistsError(errno.EEXIST, "it is there already: give another --out, or delete it", str(target))
    for replica in log.replicas:
        if replica.store is LOCAL and target.is_relative_to(Path(replica.name).resolve()):
            raise FileExistsError(errno.EEXIST, f"it would be in the replica {replica.name}", str(target))


def _boundaries(log: ReplicatedLog) -> list[int]:
    """Where segments of replicas begin, in order."""
    return sorted({file.base_offset for each in log.replicas for file in each.segments})


class _Writer:
    """Writes batches to segments.

    Attributes:
        first_offset, last_offset: of the batches.
        size: their bytes.
        taken: how many of them are from each replica, by its number.
    """

    def __init__(self, folder: Path, boundaries: Sequence[int]) -> None:
        self.first_offset: int | None = None
        self.last_offset: int | None = None
        self.size: int = 0
        self.taken: Counter[int] = Counter()
        self._folder = folder
        self._boundaries = boundaries
        self._begin: int | None = None
        self._in_segment = 0
        self._stream: BinaryIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._close()

    def write(self, number: int, batch: RecordBatch) -> None:
        """Write a batch of a replica after the others."""
        stream = self._segment_of(batch)
        stream.write(batch.to_bytes())
        self._in_segment += batch.size
        self.size += batch.size
        self.taken[number] += 1
        self.first_offset = batch.base_offset if self.first_offset is None else self.first_offset
        self.last_offset = batch.last_offset

    def _segment_of(self, batch: RecordBatch) -> BinaryIO:
        """The segment that a batch belongs to: the last one that begins at its offset or before."""
        begin = self._boundaries[max(bisect_right(self._boundaries, batch.base_offset) - 1, 0)]
        is_new = self._begin is None or begin > self._begin
        if self._stream is not None and not is_new and self._in_segment + batch.size <= _LARGEST_SEGMENT:
            return self._stream
        self._close()
        self._begin = begin if is_new else batch.base_offset
        self._in_segment = 0
        self._stream = (self._folder / f"{self._begin:020}.log").open("xb")
        return self._stream

    def _close(self) -> None:
        if self._stream is not None:
            with self._stream:
                self._stream.flush()
                os.fsync(self._stream.fileno())
            self._stream = None


def _copy_snapshots(log: ReplicatedLog, folder: Path, options: ReadOptions) -> int:
    """Copy each snapshot from the first replica in which it is sound; returns how many there are."""
    copied = set[str]()
    for replica in log.replicas:
        for file in replica.snapshots:
            name = file.path.rpartition("/")[2]
            if name not in copied and _is_sound(file, replica.store, options):
                _copy(file, replica.store, folder / name)
                copied.add(name)
    return len(copied)


def _is_sound(file: LogFile, store: FileStore, options: ReadOptions) -> bool:
    """Whether all bytes are batches. The last one ends the snapshot: one that lacks it was not finished (KIP-630)."""
    last: RecordBatch | None = None
    accounts = Accounts()
    for found in scan_runs(FileRange(file, 0, file.size), options, accounts, store):
        if isinstance(found, Flaw):
            return False
        last = found[-1]
    return last is not None and last.is_control and accounts.bytes_decoded == file.size


def _copy(file: LogFile, store: FileStore, target: Path) -> None:
    try:
        with store.open(file.path) as opened, target.open("xb") as stream:
            position = 0
            while position < file.size:
                octets = opened.read_at(position, min(OCTETS_AT_A_TIME, file.size - position))
                if not octets:
                    raise LogReadError("file_changed", file.path, "it was truncated while it was copied: merge again")
                stream.write(octets)
                position += len(octets)
            stream.flush()
            os.fsync(stream.fileno())
    except FileNotFoundError as error:
        raise LogReadError("unreadable", file.path, system_reason(error)) from None


def _write_cluster(folder: Path, cluster: str | None) -> None:
    """Write the id of the cluster where tables look for it."""
    path = folder / "meta.properties"
    if cluster is not None and not path.exists():
        path.write_text(f"version=1\ncluster.id={cluster}\n", "utf-8")
