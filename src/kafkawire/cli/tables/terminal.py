"""Rows as a table on a terminal, limited to a readable number of rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafkawire.cli.tables.cells import as_plain_columns
from kafkawire.cli.tables.fitting import ShownColumn, fitting_columns
from kafkawire.cli.visible import visible

MAXIMUM_ROWS: Final = 1_000
"""Maximum rows of the table; the other formats have all rows."""


class TerminalTable:
    """The first rows of a table, and a count of the others.

    Attributes:
        left_out_columns: names of the columns for which there is no room.
        left_out_rows: how many rows are not shown.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
        kept: list[pa.RecordBatch] = []
        self._rows = total = 0
        for batch in batches:
            total += batch.num_rows
            shown_rows = batch.slice(0, MAXIMUM_ROWS - self._rows)
            self._rows += shown_rows.num_rows
            kept += [shown_rows] if shown_rows.num_rows else []
        self.left_out_rows = total - self._rows
        self.left_out_columns: tuple[str, ...] = ()
        self._columns = tuple(_columns(kept, schema))

    def print(self, console: Console, *, everything: bool) -> None:
        """Print it.

        Args:
            console: where to.
            everything: all columns, even if that takes more lines.
        """
        shown = self._columns if everything else fitting_columns(self._columns, console.width)
        self.left_out_columns = tuple(
            column.name for column in self._columns if column.name not in {each.name for each in shown}
        )
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        for column in shown:
            number = pa.types.is_integer(column.kind) or pa.types.is_floating(column.kind)
            widest = None if everything else column.width
            table.add_column(column.name, justify="right" if number else "left", overflow="fold", max_width=widest)
        for cells in zip(*(column.cells for column in shown), strict=True):
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)


def _columns(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> Iterator[ShownColumn]:
    plain = [as_plain_columns(batch) for batch in batches]
    for position, field in enumerate(schema):
        cells = [_shown(cell) for batch in plain for cell in batch.column(position).to_pylist()]
        if pa.types.is_timestamp(field.type):
            cells = list(map(_short_time, cells))
        yield ShownColumn.of(field.name, cells, field.type)


def _short_time(text: str) -> str:
    """Kafka's times are in milliseconds, so three zeros after them are omitted."""
    return f"{text[:-4]}Z" if text.endswith("000Z") else text


def _shown(cell: object) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:g}" if abs(cell) < 1e6 else f"{cell:.15g}"
        case _:
            return visible(str(cell))
