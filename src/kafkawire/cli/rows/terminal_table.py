"""A table on a terminal: the columns that fit, drawn in lines, and what is not shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO, Final

from kafkawire.cli.rows.fitting import LEFT_TO_WIDE, CellKind, ShownColumn, fitting_columns, in_order
from kafkawire.cli.rows.folding import as_wide_as, widest_line
from kafkawire.column_roles import ColumnRole

_LONGEST_CONSTANT: Final = 60
_NEVER_CONSTANT: Final = frozenset({ColumnRole.PLACE, ColumnRole.TIME})
"""Columns that are shown even if they have the same in all rows, such as an interval without end."""

_GAP: Final = "  "
_RULE: Final = "─"
_BOLD: Final = "\x1b[1m{}\x1b[0m"


class TerminalTable:
    """Columns of which those are shown that fit, the most informative first.

    Attributes:
        same: keys and values that are equal in all rows, which no column shows, by their names.
        empty: names of the keys and values without any cell.
        left_out_columns: names of the other keys and values for which there is no room.
        left_out_details: how many columns of details and of the origin of rows are not shown.
        left_out_rows: how many rows are not shown.
    """

    def __init__(
        self,
        columns: Sequence[ShownColumn],
        *,
        left_out_rows: int = 0,
        are_chosen: bool = False,
        are_declared: bool = False,
    ) -> None:
        """Take the columns.

        Args:
            columns: the most important first within a role.
            left_out_rows: how many rows the columns do not have.
            are_chosen: whether the user chose these columns: then all are shown, in their order.
            are_declared: whether their order is kept, and those that are equal in all rows are shown if all fit.
        """
        self.left_out_rows = left_out_rows
        self.same: Mapping[str, str] = {}
        self.empty: tuple[str, ...] = ()
        self.left_out_columns: tuple[str, ...] = ()
        self.left_out_details = 0
        self._are_chosen = are_chosen
        self._are_declared = are_declared
        self._declared = [each.name for each in columns]
        self._columns = (
            [each if each.role is ColumnRole.CONTENT else replace(each, role=ColumnRole.KEY) for each in columns]
            if are_chosen
            else in_order(columns)
        )

    def print(self, stream: IO[str], *, width: int | None, colours: bool = False) -> None:
        """Print it.

        Args:
            stream: where to.
            width: of the terminal; None for all columns, each as wide as it is.
            colours: whether headings are bold.
        """
        shown = self._columns if width is None else self._fitting(width)
        if self._are_declared:
            shown = sorted(shown, key=lambda each: self._declared.index(each.name))
        stream.writelines(f"{line}\n" for line in drawn(shown, colours=colours))

    def _fitting(self, width: int) -> Sequence[ShownColumn]:
        """The columns that fit, and notes about the others."""
        if self._are_chosen:
            shown = fitting_columns(self._columns, width)
            return shown if len(shown) == len(self._columns) else self._columns
        telling = [each for each in self._columns if each.role not in LEFT_TO_WIDE]
        self.left_out_details = len(self._columns) - len(telling)
        if self._are_declared:
            telling = [each for each in telling if each.role is not ColumnRole.ERROR or any(each.cells)]
            shown = _fitting_of_declared(telling, width)
        else:
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
        return shown


def _fitting_of_declared(columns: Sequence[ShownColumn], width: int) -> Sequence[ShownColumn]:
    """As many columns as fit; empty ones are the first to go, then those that are equal in all rows."""
    empty = [each for each in reversed(columns) if not any(each.cells)]
    equal = [each for each in reversed(columns) if any(each.cells) and not _differs(each)]
    kept = list(columns)
    for dispensable in (*empty, *equal):
        if len(fitting_columns(kept, width)) == len(kept):
            break
        if len(kept) > 1:
            kept.remove(dispensable)
    return fitting_columns(kept, width)


def notes_of(table: TerminalTable, more: str) -> Iterator[str]:
    """What the table does not show.

    Args:
        table: after it was printed.
        more: how to see it.
    """
    if table.same:
        yield f"The same in all rows: {', '.join(f'{name} {cell}' for name, cell in table.same.items())}."
    if table.empty:
        yield f"Empty in all rows: {', '.join(table.empty)}."
    count = table.left_out_details
    details = [f"{count} {'detail' if count == 1 else 'details'}"] if count else []
    if left_out := ", ".join((*table.left_out_columns, *details)):
        yield f"Not shown: {left_out}; {more}."


def drawn(columns: Sequence[ShownColumn], *, colours: bool = False) -> Iterator[str]:
    """The lines of a table: headings, a rule, and the lines of each row; blanks at their ends are left out."""
    headings = [each.heading.split("\n") for each in columns]
    height = max(map(len, headings), default=0)
    for number in range(height):
        line = [lines[number - height + len(lines)] if number >= height - len(lines) else "" for lines in headings]
        text = _aligned(line, columns)
        yield _BOLD.format(text) if colours else text
    yield _RULE * (sum(each.width + len(_GAP) for each in columns) - len(_GAP))
    for cells in zip(*(each.cells for each in columns), strict=True):
        parts = [cell.split("\n") for cell in cells]
        for number in range(max(map(len, parts))):
            yield _aligned([lines[number] if number < len(lines) else "" for lines in parts], columns)


def _aligned(texts: Sequence[str], columns: Sequence[ShownColumn]) -> str:
    """One line; numbers are at the right of their columns."""
    padded = []
    for text, column in zip(texts, columns, strict=True):
        blanks = " " * (column.width - widest_line(text))
        padded.append(blanks + text if column.kind is CellKind.NUMBER else text + blanks)
    return _GAP.join(padded).rstrip()


def _differs(column: ShownColumn) -> bool:
    """Whether to show a column: some of its cells differ, or there is a single row."""
    if column.role in _NEVER_CONSTANT or not column.cells:
        return True
    if len(column.cells) == 1 or column.role in {ColumnRole.ERROR, ColumnRole.CONTENT}:
        return any(column.cells)
    return len(set(column.cells)) > 1
