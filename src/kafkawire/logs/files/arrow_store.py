"""Files that Arrow reaches: Hadoop's file system, object stores, and whatever else has a URI that it knows."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from typing import Self

import pyarrow as pa
from pyarrow import fs

from kafkawire.logs.files.store import LOCAL, FileStamp, FileStore, FoundFile, OpenFile

__all__ = ["ArrowStore", "store_for"]

_URI = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]+)://(?P<authority>[^/]*)(?P<path>.*)")
_ARROW_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Hadoop's names of schemes, and Arrow's."""


class ArrowStore:
    """Files by URI, ``hdfs://``, ``s3://``, ``s3a://``, ``gs://`` or ``file://``; paths stay as they were given."""

    def __init__(self) -> None:
        self._systems: dict[str, tuple[fs.FileSystem, str]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return ArrowStore, ()  # connections stay with their process

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        """See ``FileStore``."""
        system, own_path, prefix = self._locate(path)
        (info,) = system.get_file_info([own_path])
        if info.type == fs.FileType.NotFound:
            raise FileNotFoundError(path)
        if info.type == fs.FileType.File:
            yield FoundFile(path, _stamp(info))
            return
        for each in system.get_file_info(fs.FileSelector(own_path, recursive=recursive)):
            if each.type == fs.FileType.File:
                yield FoundFile(prefix + each.path, _stamp(each))

    def matching(self, pattern: str) -> Iterator[str]:
        """See ``FileStore``."""
        fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
        depth = pattern.count("/")
        folders = set()
        for found in self.list(fixed, recursive=True):
            parts = found.path.split("/")
            candidate = "/".join(parts[: depth + 1])
            if candidate not in folders and fnmatch.fnmatchcase(candidate, pattern):
                folders.add(candidate)
                yield candidate

    def open(self, path: str) -> OpenFile:
        """See ``FileStore``."""
        system, own_path, _ = self._locate(path)
        return _ArrowFile(system, own_path)

    def _locate(self, path: str) -> tuple[fs.FileSystem, str, str]:
        """The file system of a path, the path in it, and what stands before such a path in a URI."""
        match = _URI.fullmatch(path)
        if match is None:
            raise FileNotFoundError(f"{path} is no URI")
        scheme, authority, rest = match["scheme"], match["authority"], match["path"]
        root = f"{scheme}://{authority}"
        if root not in self._systems:
            known = _ARROW_SCHEMES.get(scheme.lower(), scheme.lower())
            system, root_path = _file_system(f"{known}://{authority}/", path)
            self._systems[root] = system, root_path.rstrip("/")
        system, root_path = self._systems[root]
        return (
            system,
            root_path + (rest if rest.startswith("/") or not rest else f"/{rest}"),
            root.removesuffix(root_path) if root_path else root,
        )


def store_for(path: str) -> FileStore:
    """The store that has a path: a URI is Arrow's, anything else is a file of this machine."""
    return ArrowStore() if _URI.fullmatch(path) else LOCAL


class _ArrowFile:
    def __init__(self, system: fs.FileSystem, path: str) -> None:
        self._system = system
        self._path = path
        self._file = system.open_input_file(path)

    def stamp(self) -> FileStamp:
        (info,) = self._system.get_file_info([self._path])
        return _stamp(info)

    def read_at(self, offset: int, size: int) -> bytes:
        self._file.seek(min(offset, self._file.size()))
        return self._file.read(size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()


def _file_system(uri: str, path: str) -> tuple[fs.FileSystem, str]:
    try:
        return fs.FileSystem.from_uri(uri)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise OSError(f"{path}: {error}") from None


def _stamp(info: fs.FileInfo) -> FileStamp:
    return FileStamp(info.size or 0, info.mtime_ns or 0)
