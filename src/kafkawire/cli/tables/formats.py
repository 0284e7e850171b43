"""The forms of rows, and which one a run uses."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

from kafkawire.cli.outcome import CommandError, ExitCode

STANDARD_OUTPUT: Final = Path("-")
"""The name of a file that means standard output."""


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    WIDE = "wide"
    JSONL = "jsonl"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    ARROWS = "arrows"

    @property
    def is_for_people(self) -> bool:
        """Whether it is a table to look at, made when all rows are read."""
        return self in {Format.TABLE, Format.WIDE}

    @property
    def is_binary(self) -> bool:
        """Whether it is not text."""
        return self in {Format.PARQUET, Format.ARROW, Format.ARROWS}


_OF_SUFFIX: Final = {
    ".txt": Format.TABLE,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSON,
    ".yaml": Format.YAML,
    ".yml": Format.YAML,
    ".csv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROWS,
}


def chosen_format(requested: Format | None, out: Path | None, *, terminal: bool) -> Format:
    """The form of the option, else the one that the file's name or the terminal suggests.

    Args:
        requested: by option.
        out: the file to write; None for standard output.
        terminal: whether standard output is one.

    Raises:
        CommandError: the file's name suggests none, or a binary form would go to a terminal.
    """
    if requested is None:
        if out is None:
            return Format.TABLE if terminal else Format.JSONL
        try:
            return _OF_SUFFIX[out.suffix.lower()]
        except KeyError:
            known = ", ".join(_OF_SUFFIX)
            raise CommandError(
                f"--out {out}: its name ends in none of {known}; say the form with -o", ExitCode.USAGE
            ) from None
    if requested.is_binary and out is None and terminal:
        raise CommandError(
            f"-o {requested} is binary, and standard output is a terminal: give --out FILE, or write to a pipe",
            ExitCode.USAGE,
        )
    return requested
