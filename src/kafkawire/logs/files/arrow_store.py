"""Files that Arrow reads: object stores, Hadoop's file system, and everything that Arrow or fsspec has a URI for."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, Self

import pyarrow as pa
from pyarrow import fs

from kafkawire.logs.files.store import LOCAL, FileStamp, FileStore, FoundFile, OpenFile

_URI: Final = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]+)://(?P<authority>[^/]*)(?P<path>.*)")
_ARROW_SCHEMES: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Hadoop's names of schemes, and Arrow's."""

_UNKNOWN_SCHEME: Final = "Unrecognized filesystem type"
_SCHEMES: Final = (
    "give a path, or a URI with s3://, gs://, abfs://, hdfs:// or, for a library of fsspec, fsspec+NAME://"
)

_HADOOPS_LIBRARY: Final = ("libhdfs", "libjvm")
_WITHOUT_HADOOP: Final = (
    "Arrow reads it with Hadoop's own library, which needs JAVA_HOME, ARROW_LIBHDFS_DIR (the folder of libhdfs.so) and "
    "CLASSPATH (what `hadoop classpath --glob` prints); without Hadoop, fsspec+webhdfs://HOST:9870/... goes by HTTP"
)

_NO_TEXT: Final = "a name there is not UTF-8, which Arrow cannot read; on this machine, give the path without file://"


class ArrowStore:
    """Files by URI: ``s3://``, ``s3a://``, ``gs://``, ``hdfs://``, ``file://``, or ``fsspec+`` and one of fsspec's.

    Paths are not normalized.
    """

    def __init__(self) -> None:
        self._systems: dict[str, tuple[fs.FileSystem, str]] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return ArrowStore, ()  # another process makes its own connections

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        """See ``FileStore``."""
        system, own_path, prefix = self._locate(path)
        try:
            (info,) = system.get_file_info([own_path])
        except OSError as error:
            raise _with_advice(error) from None
        except UnicodeError:
            raise OSError(_NO_TEXT) from None
        if info.type == fs.FileType.NotFound:
            raise FileNotFoundError("there is no such file, folder or bucket")
        if info.type == fs.FileType.File:
            yield FoundFile(path, _stamp(info))
            return
        try:
            every = system.get_file_info(fs.FileSelector(own_path, recursive=recursive))
            found = [FoundFile(prefix + each.path, _stamp(each)) for each in every if each.type == fs.FileType.File]
        except UnicodeError:
            raise OSError(_NO_TEXT) from None
        yield from found

    def matching(self, pattern: str) -> Iterator[str]:
        """See ``FileStore``."""
        pattern_parts = pattern.rstrip("/").split("/")
        folders_only = pattern.endswith("/")
        fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")[0]
        if _URI.fullmatch(fixed) is None:
            raise FileNotFoundError("a pattern can match folders and files, but not a host or bucket")
        tried: set[str] = set()
        for found in self.list(fixed, recursive=True):
            for path in accumulate(found.path.split("/"), lambda folder, name: f"{folder}/{name}"):
                if path not in tried and not (folders_only and path == found.path):
                    tried.add(path)
                    if _fits(path.split("/"), pattern_parts):
                        yield path

    def open(self, path: str) -> OpenFile:
        """See ``FileStore``."""
        system, own_path, _ = self._locate(path)
        return _ArrowFile(system, own_path)

    def _locate(self, path: str) -> tuple[fs.FileSystem, str, str]:
        """The file system of a path, the path in it, and the prefix that makes such a path a URI."""
        match = _URI.fullmatch(path)
        if match is None:
            raise FileNotFoundError(f"{path} is not a URI")
        scheme, authority, rest = match["scheme"], match["authority"], match["path"]
        root = f"{scheme}://{authority}"
        if root not in self._systems:
            system, root_path = file_system_of(f"{root}/")
            self._systems[root] = system, root_path.rstrip("/")
        system, root_path = self._systems[root]
        return (
            system,
            root_path + (rest if rest.startswith("/") or not rest else f"/{rest}"),
            root.removesuffix(root_path) if root_path else root,
        )


def store_for(path: str) -> FileStore:
    """The store of a path: Arrow's for a URI, this machine's for anything else."""
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


def file_system_of(uri: str) -> tuple[fs.FileSystem, str]:
    """Arrow's file system for a URI, and the path in it.

    Raises:
        OSError: there is none, or a library that it needs is not installed.
    """
    scheme, _, rest = uri.partition("://")
    try:
        return fs.FileSystem.from_uri(f"{_ARROW_SCHEMES.get(scheme.lower(), scheme.lower())}://{rest}")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ImportError, ValueError) as error:
        if _UNKNOWN_SCHEME in str(error):
            raise OSError(f"no file system is known for {scheme}://; {_SCHEMES}") from None
        raise OSError(f"{uri}: {error}") from None
    except OSError as error:
        raise _with_advice(error) from None


def located(folder: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or URI, and the path in it; a relative path starts in the working directory.

    Raises:
        OSError: no file system has it.
    """
    if "://" not in folder:
        return fs.LocalFileSystem(), str(Path(folder.removeprefix("file:")).absolute())
    system, root = file_system_of(folder)
    return system, root.rstrip("/")


def _with_advice(error: OSError) -> OSError:
    text = str(error)
    if any(library in text for library in _HADOOPS_LIBRARY):
        return OSError(f"{_WITHOUT_HADOOP} ({text.partition(chr(10))[0]})")
    if "ACCESS_DENIED" in text:
        return OSError(
            f"{text} Credentials are those of AWS_ACCESS_KEY_ID, a profile or a role, not of Hadoop's settings"
        )
    return error


def _fits(path: Sequence[str], pattern_parts: Sequence[str]) -> bool:
    """Whether the names of a path match those of a pattern, in which ``**`` matches any number of folders."""
    if not pattern_parts:
        return not path
    if pattern_parts[0] == "**":
        return any(_fits(path[start:], pattern_parts[1:]) for start in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], pattern_parts[0]) and _fits(path[1:], pattern_parts[1:])


def _stamp(info: fs.FileInfo) -> FileStamp:
    return FileStamp(info.size or 0, info.mtime_ns or 0)
