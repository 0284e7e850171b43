"""Rows as a table on a terminal, limited to a readable number of rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Final, Literal

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafkawire.cli.tables.cells import as_plain_columns
from kafkawire.cli.tables.fitting import LEFT_TO_WIDE, ShownColumn, fitting_columns, in_order
from kafkawire.cli.tables.folding import as_wide_as
from kafkawire.cli.visible import visible
from kafkawire.logs.tables.column_roles import ColumnRole

MAXIMUM_ROWS: Final = 1_000
"""Maximum rows of the table; the other formats have all rows."""

_UNLIMITED: Final = 1_000_000
"""Characters of a line: Rich has nothing to fold."""

_LONGEST_CONSTANT: Final = 60
_NEVER_CONSTANT: Final = frozenset({ColumnRole.PLACE, ColumnRole.TIME})
"""Columns that are shown even if they have the same in all rows, such as an interval without end."""


class TerminalTable:
    """The first rows of a table, and a count of the others.

    Attributes:
        same: keys and values that are equal in all shown rows, which no column shows, by their names.
        empty: names of the keys and values without any cell.
        left_out_columns: names of the other keys and values for which there is no room.
        left_out_details: how many columns of details and of the origin of rows are not shown.
        left_out_rows: how many rows are not shown.
    """

    def __init__(
        self,
        batches: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        roles: Mapping[str, ColumnRole],
        *,
        are_chosen: bool = False,
    ) -> None:
        """Take the rows.

        Args:
            batches: the rows.
            schema: their columns.
            roles: of the columns, the most important first within a role.
            are_chosen: whether the user chose these columns: then all are shown, in their order.
        """
        kept: list[pa.RecordBatch] = []
        total = rows = 0
        for batch in batches:
            total += batch.num_rows
            shown_rows = batch.slice(0, MAXIMUM_ROWS - rows)
            rows += shown_rows.num_rows
            kept += [shown_rows] if shown_rows.num_rows else []
        self.left_out_rows = total - rows
        self.same: Mapping[str, str] = {}
        self.empty: tuple[str, ...] = ()
        self.left_out_columns: tuple[str, ...] = ()
        self.left_out_details = 0
        self._are_chosen = are_chosen
        columns = tuple(_columns(kept, schema, roles))
        self._columns = (
            [each if each.role is ColumnRole.CONTENT else replace(each, role=ColumnRole.KEY) for each in columns]
            if are_chosen
            else in_order(sorted(columns, key=lambda each: tuple(roles).index(each.name)))
        )

    def print(self, stream: IO[str], *, width: int | None, colours: bool = False) -> None:
        """Print it.

        Args:
            stream: where to.
            width: of the terminal; None for all columns, each as wide as it is.
            colours: whether headings are bold.
        """
        shown = self._columns if width is None else self._fitting(width)
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        for column in shown:
            justify: Literal["left", "right"] = "right" if column.is_number else "left"
            table.add_column(Text(column.heading), justify=justify, no_wrap=True, overflow="crop")
        for cells in zip(*(column.cells for column in shown), strict=True):
            table.add_row(*map(Text, cells))
        Console(file=stream, force_terminal=colours, width=_UNLIMITED).print(table)

    def _fitting(self, width: int) -> Sequence[ShownColumn]:
        """The columns that fit, and notes about the others."""
        if self._are_chosen:
            shown = fitting_columns(self._columns, width)
            return shown if len(shown) == len(self._columns) else self._columns
        telling = [each for each in self._columns if each.role not in LEFT_TO_WIDE]
        shown = fitting_columns([each for each in telling if _differs(each)] or telling, width)
        names = {each.name for each in shown}
        others = [each for each in telling if each.name not in names and each.role is not ColumnRole.ERROR]
        self.empty = tuple(each.name for each in others if not any(each.cells))
        self.same = {
            each.name: as_wide_as(each.cells[0], _LONGEST_CONSTANT)
            for each in others
            if each.name not in self.empty and not _differs(each)
        }
        self.left_out_columns = tuple(
            each.name for each in others if each.name not in self.empty and each.name not in self.same
        )
        self.left_out_details = len(self._columns) - len(telling)
        return shown


def _differs(column: ShownColumn) -> bool:
    """Whether to show a column: some of its cells differ, or there is a single row."""
    if column.role in _NEVER_CONSTANT or not column.cells:
        return True
    if len(column.cells) == 1 or column.role in {ColumnRole.ERROR, ColumnRole.CONTENT}:
        return any(column.cells)
    return len(set(column.cells)) > 1


def _columns(
    batches: Sequence[pa.RecordBatch], schema: pa.Schema, roles: Mapping[str, ColumnRole]
) -> Iterator[ShownColumn]:
    plain = [as_plain_columns(batch) for batch in batches]
    for position, field in enumerate(schema):
        cells = [_shown(cell) for batch in plain for cell in batch.column(position).to_pylist()]
        if pa.types.is_timestamp(field.type):
            cells = list(map(_short_time, cells))
        yield ShownColumn(field.name, roles[field.name], field.type, field.name, cells)


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
