"""What kafkawire finds on Windows, in a process on Linux: no test of the project has run on Windows itself.

``pretend`` takes away what Windows lacks, refuses what it refuses, and puts a stand-in for ``msvcrt`` in its place. The
standard library and other libraries stay those of Linux: they are imported before.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import struct
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Final, NoReturn

_LIBRARIES: Final = (
    *("asyncio", "concurrent.futures.process", "glob", "importlib.metadata", "multiprocessing", "pathlib", "selectors"),
    *("shutil", "signal", "socket", "ssl", "subprocess", "tempfile", "uuid", "zoneinfo"),
    *("cramjam", "crc32c", "msgspec", "pyarrow", "pyarrow.csv", "pyarrow.fs", "pyarrow.parquet", "rich.console"),
    *("typer", "typer.main"),
)
_LACKING: Final = (
    *(
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "fchmod",
        "fchown",
        "fork",
        "getuid",
        "killpg",
        "posix_fadvise",
    ),
    *("pread", "pwrite", "sched_getaffinity", "sysconf", "uname"),
)
_LACKING_MODULES: Final = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios")
_FOR_BYTES: Final = 1 << 30
"""``os.O_BINARY``: a bit that Linux does not use."""


def pretend() -> None:
    """Make this process look like one on Windows to kafkawire, which must not be imported yet."""
    if any(name.startswith("kafkawire") for name in sys.modules):
        raise RuntimeError("kafkawire is imported already")
    for name in _LIBRARIES:
        importlib.import_module(name)
    sys.modules["msvcrt"] = _msvcrt()
    os.open = _opening(os.open)
    setattr(os, "O_BINARY", _FOR_BYTES)  # noqa: B010 mypy knows that Linux has none
    os.sep, os.altsep = "\\", "/"
    for name in _LACKING:
        if hasattr(os, name):
            delattr(os, name)
    for name in _LACKING_MODULES:
        sys.modules[name] = None  # type: ignore[assignment] # its import fails
    setattr(asyncio.SelectorEventLoop, "add_signal_handler", _not_implemented)  # noqa: B010 of another type
    sys.platform = "win32"


def _msvcrt() -> ModuleType:
    """``msvcrt.locking`` with the locks of Linux that belong to an open file."""
    import fcntl  # noqa: PLC0415 it is taken away later

    control, set_lock = fcntl.fcntl, fcntl.F_OFD_SETLK
    kinds = {0: fcntl.F_UNLCK, 2: fcntl.F_WRLCK}

    def locking(descriptor: int, mode: int, size: int) -> None:
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        control(descriptor, set_lock, struct.pack("hhqqi", kinds[mode], os.SEEK_SET, position, size, 0))

    module = ModuleType("msvcrt")
    module.locking, module.LK_UNLCK, module.LK_NBLCK = locking, 0, 2  # type: ignore[attr-defined]
    return module


def _opening(real: Callable[..., int]) -> Callable[..., int]:
    def opened(path: str | os.PathLike[str], flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if os.path.isdir(path):  # noqa: PTH112 as little as possible beside the real call
            raise PermissionError(13, "Permission denied", os.fspath(path))
        if not flags & _FOR_BYTES:
            raise AssertionError(f"{path}: opened as text, in which Windows changes the ends of lines")
        return real(path, flags & ~_FOR_BYTES, mode, dir_fd=dir_fd)

    return opened


def _not_implemented(*_arguments: object) -> NoReturn:
    raise NotImplementedError
