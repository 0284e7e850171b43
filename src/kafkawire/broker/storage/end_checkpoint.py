"""A checkpoint file with an offset below which all records of a log were durable.

It detects a segment that is missing at the end of a log, which leaves no gap.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import replace_file

END_CHECKPOINT: Final = "end-offset-checkpoint"
"""The name of the file in the folder of a log."""

_VERSION: Final = "0"


def read_end(path: Path) -> int:
    """The offset in the file; 0 if there is no file.

    Raises:
        StorageError: the file is damaged.
        OSError: it cannot be read.
    """
    try:
        lines = path.read_bytes().decode("ascii").split("\n")
    except FileNotFoundError:
        return 0
    except UnicodeDecodeError:
        lines = []
    if len(lines) == 3 and lines[0] == _VERSION and lines[1].isdecimal() and len(lines[1]) < 20 and not lines[2]:
        return int(lines[1])
    raise StorageError(f"{path}: expected version 0 and an offset; restore the file, or delete it to start without it")


def write_end(path: Path, offset: int) -> None:
    """Write the offset below which all records are durable.

    Raises:
        OSError: it could not be written.
    """
    replace_file(path, [f"{_VERSION}\n{offset}\n".encode()])
