"""The digests and counts of files: of inputs, up to the size that they had when they were listed, and of results."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Final, Self

from pyarrow import fs

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.evidence.manifest import InputFile, Result, ResultFile
from kafkawire.logs.files.arrow_store import located
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.state_file import read_file
from kafkawire.logs.files.store import LOCAL, FileStamp, FileStore, OpenFile
from kafkawire.logs.frames.batches import FileRange, scan_runs
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import OCTETS_AT_A_TIME
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.times import LATEST, datetime_of
from kafkawire.wire.batches import RecordBatch

_USER_OF_URI: Final = re.compile(r"(?<=://)[^/@]*@")
_PARAMETERS_OF_URI: Final = re.compile(r"(?<=[^?])\?.*")
_IS_URI: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")


def describe_inputs(
    files: Iterable[LogFile], store: FileStore = LOCAL, options: ReadOptions = DEFAULT_OPTIONS
) -> tuple[InputFile, ...]:
    """The digests and counts of files of logs. Each file is read once.

    Call it after the files were listed and before the table is read, and ``check_unchanged`` after that.

    Args:
        files: from ``find_log_files``.
        store: where they are.
        options: only ``max_frame_bytes`` counts.

    Raises:
        LogReadError: code ``file_changed``: a file was replaced or truncated since it was listed; ``unreadable``: it
            cannot be read.
    """
    return tuple(_input(file, store, options) for file in files)


def check_unchanged(files: Iterable[LogFile], store: FileStore = LOCAL) -> None:
    """Check that files still are what they were when they were listed, or have grown.

    Raises:
        LogReadError: as ``describe_inputs``.
    """
    for file in files:
        try:
            with store.open(file.path) as opened:
                _check_stamp(file, opened)
        except OSError as error:
            raise LogReadError("unreadable", file.path, system_reason(error)) from None


def describe_result(path: str | PathLike[str], rows: int) -> Result:
    """The digest of the file of a result.

    Args:
        path: of the file: a path of this machine, or a URI.
        rows: how many rows it has.

    Raises:
        OSError: it cannot be read.
    """
    shown = shown_place(fspath(path))
    system, own_path = located(fspath(path))
    return Result(shown, rows, (result_file(shown, system, own_path),))


def result_file(shown: str, system: fs.FileSystem, path: str) -> ResultFile:
    """A file of a result.

    Args:
        shown: its path in the manifest.
        system, path: where it is.

    Raises:
        OSError: it cannot be read.
    """
    digest, size = hashlib.sha256(), 0
    with system.open_input_stream(path, compression=None) as stream:
        while octets := stream.read(OCTETS_AT_A_TIME):
            digest.update(octets)
            size += len(octets)
    return ResultFile(shown, size, digest.hexdigest())


def sha256_of(opened: OpenFile, size: int) -> str | None:
    """The digest of the first bytes of a file, in hexadecimal digits; None if it has fewer.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    for octets in _first_octets(opened, size):
        digest.update(octets)
        size -= len(octets)
    return None if size else digest.hexdigest()


def digest_of_state(path: str) -> str | None:
    """SHA-256 of the file of a history's state, in hexadecimal digits; None if there is none.

    Raises:
        OSError: it cannot be read.
    """
    octets = read_file(path)
    return None if octets is None else hashlib.sha256(octets).hexdigest()


def shown_place(path: str) -> str:
    """A path for a manifest: absolute, or a URI without user, password and parameters, which may be secrets."""
    if _IS_URI.match(path):
        return _PARAMETERS_OF_URI.sub("", _USER_OF_URI.sub("", path))
    return Path(path).absolute().as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _first_octets(opened: OpenFile, size: int) -> Iterator[bytes]:
    position = 0
    while position < size:
        octets = opened.read_at(position, min(OCTETS_AT_A_TIME, size - position))
        if not octets:
            return
        yield octets
        position += len(octets)


def _input(file: LogFile, store: FileStore, options: ReadOptions) -> InputFile:
    counts, accounts, digest = _Counts(), Accounts(), _DigestOfFile(file, store)
    plain = ReadOptions(max_frame_bytes=options.max_frame_bytes)
    try:
        with store.open(file.path) as opened:
            _check_stamp(file, opened)
            for found in scan_runs(FileRange(file, 0, file.size), plain, accounts, digest):
                if not isinstance(found, Flaw):
                    counts.add(found)
                elif found.code == "file_changed":
                    raise _changed(file)
            sha256 = digest.completed(opened)
            _check_stamp(file, opened)
    except OSError as error:
        raise LogReadError("unreadable", file.path, system_reason(error)) from None
    if sha256 is None:
        raise _changed(file)
    return InputFile(
        path=shown_place(file.path),
        kind=file.kind.value,
        topic=file.topic,
        base_offset=file.base_offset,
        size=file.size,
        sha256=sha256,
        first_offset=counts.first_offset,
        last_offset=counts.last_offset,
        first_time=None if counts.first_time is None else datetime_of(counts.first_time),
        last_time=None if counts.last_time is None else datetime_of(counts.last_time),
        batches=counts.batches,
        records=counts.records,
        bytes_decoded=accounts.bytes_decoded,
        bytes_skipped=accounts.bytes_skipped,
    )


class _DigestOfFile:
    """A store that digests a file while it is read. The reader may leave out bytes, and read some of them again."""

    def __init__(self, file: LogFile, store: FileStore) -> None:
        self._file, self._store = file, store
        self._digest = hashlib.sha256()
        self._position = 0
        self.list, self.matching = store.list, store.matching

    def open(self, path: str) -> OpenFile:
        """See ``FileStore``."""
        opened = self._store.open(path)
        return _DigestedFile(opened, self.add) if path == self._file.path else opened

    def add(self, position: int, octets: bytes) -> None:
        """Digest what follows the bytes so far; others are left for later, or are done."""
        begin = self._position - position
        if 0 <= begin < len(octets):
            following = memoryview(octets)[begin : self._file.size - position]
            self._digest.update(following)
            self._position += len(following)

    def completed(self, opened: OpenFile) -> str | None:
        """The digest in hexadecimal digits, after the rest was read; None if the file is shorter than it was.

        Raises:
            OSError: it cannot be read.
        """
        while self._position < self._file.size:
            left = self._file.size - self._position
            octets = opened.read_at(self._position, min(OCTETS_AT_A_TIME, left))
            if not octets:
                return None
            self.add(self._position, octets)
        return self._digest.hexdigest()


class _DigestedFile:
    def __init__(self, opened: OpenFile, add: Callable[[int, bytes], None]) -> None:
        self._opened, self._add = opened, add
        self.stamp = opened.stamp

    def read_at(self, offset: int, size: int) -> bytes:
        octets = self._opened.read_at(offset, size)
        self._add(offset, octets)
        return octets

    def __enter__(self) -> Self:
        self._opened.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._opened.__exit__(*failure)


class _Counts:
    """Of the sound batches of a file."""

    def __init__(self) -> None:
        self.batches = 0
        self.records = 0
        self.first_offset: int | None = None
        self.last_offset: int | None = None
        self.first_time: int | None = None
        self.last_time: int | None = None

    def add(self, batches: list[RecordBatch]) -> None:
        for each in batches:
            self.batches += 1
            self.records += each.records_count
            self.first_offset = _smaller(self.first_offset, each.base_offset)
            self.last_offset = _larger(self.last_offset, each.last_offset)
            for time in (each.max_timestamp, None if each.delete_horizon_ms is not None else each.base_timestamp):
                if time is not None and 0 <= time <= LATEST:
                    self.first_time = _smaller(self.first_time, time)
                    self.last_time = _larger(self.last_time, time)


def _smaller(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)


def _larger(one: int | None, other: int) -> int:
    return other if one is None else max(one, other)


def _check_stamp(file: LogFile, opened: OpenFile) -> None:
    """Raise if a file is not the one that was listed, with nothing or more at its end."""
    if not FileStamp(file.size, file.modified).grew_to(opened.stamp()):
        raise _changed(file)


def _changed(file: LogFile) -> LogReadError:
    reason = "the file was replaced or truncated since the logs were listed: read them again"
    return LogReadError("file_changed", file.path, reason)
