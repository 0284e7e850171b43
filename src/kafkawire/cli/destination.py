"""The output: standard output, or a file that is written completely or not at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import BinaryIO

from kafkawire.cli.outcome import CommandError, ExitCode


@contextmanager
def opened_destination(out: Path | None) -> Iterator[BinaryIO]:
    """A stream to write to; without a file, standard output.

    Raises:
        CommandError: the file is a folder.
        OSError: it cannot be written.
    """
    if out is not None:
        with whole_file(out) as stream:
            yield stream
    elif isinstance(sys.stdout.buffer, io.RawIOBase):  # because of PYTHONUNBUFFERED: it may write less than it is given
        with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
            yield stream
    else:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete: a run that fails or is interrupted leaves the old one.

    The new file has the permissions of the old one. A pipe or a device is written to directly.

    Raises:
        CommandError: there is a folder of that name.
        OSError: it cannot be written.
    """
    if path.is_dir():
        raise CommandError(f"{path} is a folder: --out needs the name of a file", ExitCode.USAGE)
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            if target.exists():
                with suppress(PermissionError):  # a file system without permissions
                    part.chmod(S_IMODE(target.stat().st_mode))
            yield stream
        part.replace(target)
    except OSError as error:
        raise _about(error, part, path) from None
    finally:
        part.unlink(missing_ok=True)


def _about(error: OSError, part: Path, path: Path) -> OSError:
    """The same error with the name that the user gave; the error of a full disk has no name."""
    is_about_it = error.filename == str(part) or (error.filename is None and error.errno is not None)
    return OSError(error.errno, error.strerror, str(path)) if is_about_it else error
