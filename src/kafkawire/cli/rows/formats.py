"""The forms in which operators' commands print rows, and the option that chooses one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class RowFormat(StrEnum):
    """How rows are printed; the words mean what they mean in ``kafkawire tables``."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    CSV = "csv"
    CSV_SAFE = "csv-safe"
    NAME = "name"

    @property
    def is_for_people(self) -> bool:
        """Whether it is a table to look at."""
        return self in {RowFormat.TABLE, RowFormat.WIDE}


FormatOption = Annotated[
    RowFormat,
    typer.Option(
        "-o",
        "--format",
        help="Form of the rows: a table that fits the terminal, one with all columns, JSON, JSON lines, YAML, CSV, "
        "CSV without formulas for spreadsheets, or the names alone.",
    ),
]
"""The option of every command that prints rows; its default is ``RowFormat.TABLE``."""
