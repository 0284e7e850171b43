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


class FindingFormat(StrEnum):
    """How findings and differences are printed: as rows, or as SARIF."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    CSV = "csv"
    CSV_SAFE = "csv-safe"
    NAME = "name"
    SARIF = "sarif"

    @property
    def of_rows(self) -> RowFormat:
        """The form of the rows.

        Raises:
            ValueError: it is SARIF, which is no form of rows.
        """
        return RowFormat(self.value)


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

FindingFormatOption = Annotated[
    FindingFormat,
    typer.Option(
        "-o",
        "--format",
        help="Form of the rows: a table that fits the terminal, one with all columns, JSON, JSON lines, YAML, CSV, "
        "CSV without formulas for spreadsheets, or the names alone; or SARIF 2.1.0, for code scanning.",
    ),
]
"""The option of commands whose rows are findings too; its default is ``FindingFormat.TABLE``."""
