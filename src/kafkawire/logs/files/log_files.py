"""Finding the segments and snapshots of logs, in the order of their offsets."""

from __future__ import annotations

import enum
import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Final

from kafkawire.logs.errors import LogReadError, NoLogsError, system_reason
from kafkawire.logs.files.store import LOCAL, FileStore, FoundFile, with_slashes
from kafkawire.logs.registry import METADATA_TOPIC

_SEGMENT: Final = re.compile(r"(?P<offset>\d{20})\.log")
_SNAPSHOT: Final = re.compile(r"(?P<offset>\d{20})-(?P<epoch>\d{10})\.checkpoint")
_BOOTSTRAP: Final = "bootstrap.checkpoint"
_PARTITION_FOLDER: Final = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)")
_MOVING_FOLDER: Final = re.compile(r".+\.[0-9a-f]{32}-(delete|future|stray)")
_SIGNS_OF_METADATA: Final = ("quorum-state", _BOOTSTRAP)
_ENDS: Final = (".log", ".checkpoint")
_CLUSTER_FILE: Final = "meta.properties"
_CLUSTER_KEY: Final = "cluster.id="
_LARGEST_CLUSTER_FILE: Final = 64 * 1024
_WHAT_TO_GIVE: Final = "give a folder of Kafka's log.dirs, or the folder of a partition"
_WILDCARDS: Final = frozenset("*?[")


class FileKind(enum.StrEnum):
    """The kind of a file."""

    SEGMENT = "segment"
    """Records of a partition, at their offsets."""

    SNAPSHOT = "snapshot"
    """The state of the cluster before an offset; the records of the snapshot itself are numbered from 0."""


@dataclass(frozen=True)
class LogFile:
    """A file with record batches.

    Attributes:
        path: in the store.
        log: name of its folder, ``__cluster_metadata-0``.
        topic: from the name of the folder. None if that is not the name of a partition, and no other file in the
            folder reveals the topic; then the table decides how the records are decoded.
        kind: segment or snapshot.
        base_offset: of a segment, from its name; of a snapshot, the end offset of the records that it contains. 0
            for ``bootstrap.checkpoint``.
        epoch: leader epoch in the name of a snapshot.
        size: in bytes, when it was found.
        modified: time of the last change, in nanoseconds, when it was found.
        cluster: the id in ``meta.properties`` beside the folder, or None.
        is_last: whether it is the last segment of its log: a broker may be writing to it.
    """

    path: str
    log: str
    topic: str | None
    kind: FileKind
    base_offset: int
    epoch: int | None
    size: int
    modified: int = 0
    cluster: str | None = None
    is_last: bool = False

    @property
    def shown_path(self) -> str:
        """The path as valid text: bytes that are not UTF-8 are escaped."""
        return self.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    @property
    def shown_folder(self) -> str:
        """Path of its folder, as ``shown_path``."""
        return self.shown_path.rpartition("/")[0]

    @property
    def folder(self) -> str:
        """Path of the folder that it is in."""
        return self.path.rpartition("/")[0]


def find_log_files(
    paths: Sequence[str | PathLike[str]],
    *,
    store: FileStore = LOCAL,
    path_glob_filter: str | None = None,
    recursive: bool = True,
) -> tuple[LogFile, ...]:
    """The segments and snapshots that paths lead to, log by log in the order of their offsets.

    Kafka's other files are left out, and so are files that Kafka is about to delete or to put in place. A file that
    several paths lead to is returned once.

    Args:
        paths: partition folders, folders that contain such, single files, or patterns of these.
        store: where they are.
        path_glob_filter: a pattern that the names of files must match.
        recursive: whether all nested folders are searched. Partition folders in a folder are found anyway.

    Raises:
        NoLogsError: there is no such path.
        LogReadError: code ``unreadable``: it cannot be listed.

    Example:
        ```python
        from kafkawire.logs import find_log_files

        for file in find_log_files(["/var/lib/kafka/data"]):
            print(file.log, file.kind, file.base_offset, file.size)
        ```
    """
    found: dict[str, LogFile] = {}
    first_paths: dict[str, str] = {}
    given = [with_slashes(fspath(path)) if store is LOCAL else fspath(path) for path in paths]
    for path, named in _expanded(given, store):
        for real_folder, file in _files_of_path(path, store, recursive=recursive, named=named):
            name = _name(file.path)
            if path_glob_filter is None or fnmatch.fnmatchcase(name, path_glob_filter):
                first_path = first_paths.setdefault(real_folder, file.path.removesuffix(name)) + name
                found.setdefault(first_path, file if first_path == file.path else replace(file, path=first_path))
    return _with_last_segments(sorted(found.values(), key=_log_order))


def segments_of(files: Iterable[LogFile]) -> list[LogFile]:
    """The segments among the files of a log, in the order of their offsets."""
    return sorted((file for file in files if file.kind is FileKind.SEGMENT), key=lambda file: file.base_offset)


def snapshots_before(files: Sequence[LogFile]) -> list[LogFile]:
    """The snapshots of the state before the first segment, in the order of their offsets; without segments, none."""
    segments = segments_of(files)
    first = segments[0].base_offset if segments else 0
    found = (file for file in files if file.kind is FileKind.SNAPSHOT and 0 < file.base_offset <= first)
    return sorted(found, key=lambda snapshot: (snapshot.base_offset, -(snapshot.epoch or 0)))


def without_repeated(files: Sequence[LogFile]) -> Sequence[LogFile]:
    """The files without each ``bootstrap.checkpoint`` beside the folder of a metadata log, which repeats its records.

    Alone, such a file is what a cluster begins with.
    """
    logs = {file.folder.rpartition("/")[0] for file in files if file.log == f"{METADATA_TOPIC}-0"}
    return [file for file in files if not (_name(file.path) == _BOOTSTRAP and file.folder in logs)]


def _with_last_segments(files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    last = {file.folder: file.path for file in files if file.kind is FileKind.SEGMENT}
    return tuple(replace(file, is_last=last.get(file.folder) == file.path) for file in files)


def _log_order(file: LogFile) -> tuple[str, int, bool, int, str]:
    """A snapshot comes before the segment that begins at its end offset."""
    return file.folder, file.base_offset, file.kind is FileKind.SEGMENT, file.epoch or 0, file.path


def _expanded(paths: Sequence[str], store: FileStore) -> Iterator[tuple[str, bool]]:
    """Paths without patterns, and whether the user gave each path itself."""
    for path in paths:
        if not path:
            raise NoLogsError(path, f"the path is empty: {_WHAT_TO_GIVE}")
        if _WILDCARDS.isdisjoint(path):
            yield path.rstrip("/") or "/", True
            continue
        try:
            matches = sorted(store.matching(path))
        except OSError as error:
            raise LogReadError("unreadable", path, system_reason(error)) from None
        if matches:
            yield from ((match, False) for match in matches)
        elif _is_there(path, store):  # its name has characters of a pattern
            yield path.rstrip("/"), True
        else:
            raise NoLogsError(path, f"nothing matches the pattern: {_WHAT_TO_GIVE}")


def _is_there(path: str, store: FileStore) -> bool:
    try:
        next(store.list(path, recursive=False), None)
    except OSError:
        return False
    return True


def _files_of_path(path: str, store: FileStore, *, recursive: bool, named: bool) -> Iterator[tuple[str, LogFile]]:
    """Files, each with its real folder."""
    try:
        listing = list(store.list(path, recursive=recursive))
        if not recursive and not any(_kind_and_offset(_name(each.path)) for each in listing):
            listing += store.list(path, recursive=True)
    except FileNotFoundError as error:
        raise NoLogsError(path, f"{system_reason(error)}: {_WHAT_TO_GIVE}") from None
    except OSError as error:
        raise LogReadError("unreadable", path, system_reason(error)) from None
    if [each.path for each in listing] == [path]:
        if named or _may_be_log(path):
            yield _real_folder(listing[0]), _single_file(listing[0], store)
        return
    by_folder: dict[str, list[FoundFile]] = {}
    for each in listing:
        by_folder.setdefault(each.path.rpartition("/")[0], []).append(each)
    for folder, members in by_folder.items():
        yield from _files_of_folder(folder, members, store)


def _real_folder(file: FoundFile) -> str:
    return file.path.rpartition("/")[0] if file.real_folder is None else file.real_folder


def _files_of_folder(folder: str, members: Sequence[FoundFile], store: FileStore) -> Iterator[tuple[str, LogFile]]:
    log = _name(folder)
    if _MOVING_FOLDER.fullmatch(log):
        return
    known = [(member, found) for member in members if (found := _kind_and_offset(_name(member.path)))]
    if not known:
        return
    topic = _topic(log, (_name(member.path) for member in members))
    cluster = _cluster_of(folder, store)
    for member, (kind, offset, epoch) in known:
        stamp = member.stamp
        file = LogFile(member.path, log, topic, kind, offset, epoch, stamp.size, stamp.modified, cluster)
        yield _real_folder(member), file


def _may_be_log(path: str) -> bool:
    """Whether to read a file that matches a pattern: patterns also match other files beside logs."""
    folder, _, name = path.rpartition("/")
    return name.endswith(_ENDS) and not _MOVING_FOLDER.fullmatch(_name(folder))


def _single_file(file: FoundFile, store: FileStore) -> LogFile:
    """The file of a path: its name only needs the right ending."""
    folder, _, name = file.path.rpartition("/")
    found = _kind_and_offset(name)
    if found is None and name.endswith(_ENDS):
        found = (FileKind.SEGMENT if name.endswith(".log") else FileKind.SNAPSHOT), 0, None
    if found is None:
        reason = "it is not a file of a log: names of segments end in .log, names of snapshots in .checkpoint"
        raise NoLogsError(file.path, reason)
    kind, offset, epoch = found
    log = _name(folder)
    return LogFile(
        file.path,
        log,
        _topic(log, (name,)),
        kind,
        offset,
        epoch,
        file.stamp.size,
        file.stamp.modified,
        _cluster_of(folder, store),
    )


def _kind_and_offset(name: str) -> tuple[FileKind, int, int | None] | None:
    if match := _SEGMENT.fullmatch(name):
        return FileKind.SEGMENT, int(match["offset"]), None
    if match := _SNAPSHOT.fullmatch(name):
        return FileKind.SNAPSHOT, int(match["offset"]), int(match["epoch"])
    return (FileKind.SNAPSHOT, 0, None) if name == _BOOTSTRAP else None


def _topic(log: str, names: Iterable[str]) -> str | None:
    """The topic of a folder. Some files reveal the metadata log in a folder of any name."""
    if any(name in _SIGNS_OF_METADATA or _SNAPSHOT.fullmatch(name) for name in names):
        return METADATA_TOPIC
    match = _PARTITION_FOLDER.fullmatch(log)
    return None if match is None else match["topic"]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _cluster_of(folder: str, store: FileStore) -> str | None:
    """The id in ``meta.properties``, which Kafka keeps above the folders of logs; also one in the folder itself."""
    for place in (folder.rpartition("/")[0], folder):
        path = f"{place}/{_CLUSTER_FILE}" if place else _CLUSTER_FILE
        try:
            with store.open(path) as file:
                text = file.read_at(0, _LARGEST_CLUSTER_FILE).decode(errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith(_CLUSTER_KEY):
                return line.removeprefix(_CLUSTER_KEY).strip() or None
    return None
