"""The lock of a data directory: a lock on a file, which the operating system releases when its holder ends."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Final

from kafkawire.broker.storage.errors import DataDirectoryError
from kafkawire.broker.storage.files import open_file

_LOCKED_BYTES: Final = 1
"""Of the file, on Windows. Kafka locks all of it there, which includes these."""


class DirectoryLock:
    """The lock of a data directory, held until ``close``.

    The lock belongs to the open file: it excludes other brokers in this process too, and Kafka's, which lock by
    process.

    Args:
        path: the file; made if it does not exist.

    Raises:
        DataDirectoryError: another broker has locked it.
        OSError: it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            _lock(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            raise DataDirectoryError(
                f"{path.parent}: another broker uses the directory ({path.name} is locked); stop it, or use another one"
            ) from error

    def close(self) -> None:
        """Release the lock."""
        _unlock(self._descriptor)
        os.close(self._descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, _LOCKED_BYTES)

    def _unlock(descriptor: int) -> None:
        """Windows releases the locks of a closed file at a time of its own choice."""
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, _LOCKED_BYTES)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        if sys.platform == "linux":
            whole_file = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, whole_file)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        """Closing the file releases the lock at once."""
