"""The formats of rows, and which one a run uses."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

from kafkawire.cli.outcome import CommandError, ExitCode


class Format(StrEnum):
    """How rows are written."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    TABLE = "table"


_OF_SUFFIX: Final = {
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
    ".parquet": Format.PARQUET,
    ".txt": Format.TABLE,
}


def chosen_format(requested: Format | None, out: Path | None, *, terminal: bool) -> Format:
    """The format of the option, else the one that the file's name or the terminal suggests.

    Args:
        requested: by option.
        out: the file to write; None for standard output.
        terminal: whether standard output is one.

    Raises:
        CommandError: the file's name suggests none, or Parquet would go to a terminal.
    """
    if requested is None:
        if out is None:
            return Format.TABLE if terminal else Format.JSON
        try:
            return _OF_SUFFIX[out.suffix.lower()]
        except KeyError:
            known = ", ".join(_OF_SUFFIX)
            raise CommandError(
                f"--out {out}: its name ends in none of {known}; give --format", ExitCode.USAGE
            ) from None
    if requested is Format.PARQUET and out is None and terminal:
        raise CommandError("Parquet is binary: give --out FILE, or write to a pipe", ExitCode.USAGE)
    return requested
