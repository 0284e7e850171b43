"""The replicas of logs that paths lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath

from kafkawire.logs.errors import NoLogsError
from kafkawire.logs.files.log_files import FileKind, LogFile, find_log_files, segments_of
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.planning import store_of
from kafkawire.logs.registry import METADATA_TOPIC


@dataclass(frozen=True)
class Replica:
    """A copy of a log, as one broker has it.

    Attributes:
        name: path of its folder.
        files: its segments and snapshots, in order.
        store: where they are.
    """

    name: str
    files: tuple[LogFile, ...]
    store: FileStore

    @property
    def segments(self) -> list[LogFile]:
        """Its segments, in order."""
        return segments_of(self.files)

    @property
    def snapshots(self) -> list[LogFile]:
        """Its snapshots of the metadata log."""
        return [file for file in self.files if file.kind is FileKind.SNAPSHOT]

    @property
    def start(self) -> int:
        """The first offset that it may have."""
        return self.segments[0].base_offset


@dataclass(frozen=True)
class ReplicatedLog:
    """A log, and the replicas of it.

    Attributes:
        name: of its folder, such as ``__cluster_metadata-0``.
        replicas: two at least, in the order of the paths.
    """

    name: str
    replicas: tuple[Replica, ...]

    @property
    def is_metadata(self) -> bool:
        """Whether it is the metadata log, which Kafka never compacts."""
        return any(file.topic == METADATA_TOPIC for each in self.replicas for file in each.files)

    @property
    def cluster(self) -> str | None:
        """The id of its cluster."""
        return next((file.cluster for each in self.replicas for file in each.files if file.cluster), None)


def find_replicas(
    paths: Sequence[str | PathLike[str]], *, store: FileStore | None = None
) -> tuple[tuple[ReplicatedLog, ...], tuple[str, ...]]:
    """The logs of which paths have several replicas, and the names of those with one only.

    Args:
        paths: two or more: folders of brokers with logs, whose partition folders belong together by their name; or
            the folders of replicas themselves, whatever their names.
        store: where they are; by default this machine, or Arrow's for URIs.

    Raises:
        NoLogsError: a path does not exist, no log has two replicas, or replicas are of several clusters.
        LogReadError: a path cannot be listed.
        OptionError: there are paths of this machine and URIs.
    """
    listed = [fspath(path) for path in paths]
    place = store_of(listed) if store is None else store
    found = [_replicas_of(path, place) for path in listed]
    if all(
        len(replicas) == 1 and _is_folder_of(replicas[0], path) for replicas, path in zip(found, listed, strict=True)
    ):
        together = {found[0][0].files[0].log: [replicas[0] for replicas in found]}
    else:
        together = dict[str, list[Replica]]()
        for each in (each for replicas in found for each in replicas):
            together.setdefault(each.files[0].log, []).append(each)
    logs = {name: _different(replicas) for name, replicas in sorted(together.items())}
    several = tuple(ReplicatedLog(name, replicas) for name, replicas in logs.items() if len(replicas) > 1)
    if not several:
        reason = "no log has two replicas there: give the log.dirs of several brokers, or copies of them"
        raise NoLogsError(", ".join(listed), reason)
    for log in several:
        _check_cluster(log)
    return several, tuple(name for name, replicas in logs.items() if len(replicas) == 1)


def _replicas_of(path: str, store: FileStore) -> list[Replica]:
    by_folder: dict[str, list[LogFile]] = {}
    for file in find_log_files([path], store=store):
        by_folder.setdefault(file.folder, []).append(file)
    every = [Replica(files[0].shown_folder, tuple(files), store) for files in by_folder.values()]
    return [each for each in every if each.segments]


def _is_folder_of(replica: Replica, path: str) -> bool:
    return replica.files[0].folder == path.rstrip("/")


def _different(replicas: Sequence[Replica]) -> tuple[Replica, ...]:
    return tuple({each.name: each for each in replicas}.values())


def _check_cluster(log: ReplicatedLog) -> None:
    clusters = sorted({file.cluster for each in log.replicas for file in each.files if file.cluster})
    if len(clusters) > 1:
        reason = f"they are of several clusters, {' and '.join(clusters)}: give replicas of one"
        raise NoLogsError(", ".join(each.name for each in log.replicas), reason)
