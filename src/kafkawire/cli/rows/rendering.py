"""Rows as text, in the chosen form."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kafkawire.cli.rows.cells import columns_of, nested_fields
from kafkawire.cli.rows.csv_text import csv_lines
from kafkawire.cli.rows.fitting import ShownColumn
from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.json_text import visible_json
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.terminal_table import TerminalTable, notes_of
from kafkawire.cli.visible import visible

_YAML_WIDTH: Final = 1 << 20
"""Characters of a line: texts are not folded."""

MORE: Final = "-o wide shows all columns"


class Page:
    """Rows for people: tables, and what they do not show.

    Args:
        width: of the terminal; None for all columns, each as wide as it is.
        colours: whether headings are bold.

    Attributes:
        notes: what the tables that were drawn do not show, each note once.
    """

    def __init__(self, *, width: int | None, colours: bool = False) -> None:
        self._width = width
        self._colours = colours
        self.notes: list[str] = []

    def table(self, rows: Sequence[Row], row_class: type[Row]) -> str:
        """One table; if rows have rows of their own, a section for each of them.

        Args:
            rows: all of one class.
            row_class: that class.
        """
        nested = nested_fields(row_class)
        if nested:
            return "\n".join(self._section(row, nested) for row in rows)
        return self._drawn(list(columns_of(rows, row_class, row_class.__struct_fields__)))

    def _section(self, row: Row, nested: Mapping[str, type[Row]]) -> str:
        """The row itself, and below it a table for each field that has rows."""
        plain = [name for name in row.__struct_fields__ if name not in nested]
        parts = [self._drawn(list(columns_of([row], type(row), plain)))]
        for name, inner in nested.items():
            rows = getattr(row, name) or ()
            if rows:
                drawn = self._drawn(list(columns_of(rows, inner, inner.__struct_fields__)), indent=2)
                parts.append(f"{name.replace('_', ' ')}:\n{drawn}")
        return "\n".join(parts)

    def _drawn(self, columns: list[ShownColumn], *, indent: int = 0) -> str:
        table = TerminalTable(columns, are_declared=True)
        text = io.StringIO()
        table.print(text, width=None if self._width is None else self._width - indent, colours=self._colours)
        if table.left_out_columns or table.same:
            self.notes += [note for note in notes_of(table, MORE) if note not in self.notes]
        blanks = " " * indent
        return "".join(f"{blanks}{line}\n" for line in text.getvalue().splitlines())


def text_for_programs(rows: Sequence[Row], row_class: type[Row], form: RowFormat, *, is_terminal: bool) -> str:
    """Rows in a form that programs read.

    Args:
        rows: all of one class.
        row_class: that class.
        form: how. JSON is one array, JSON lines and YAML have an object for each row.
        is_terminal: whether control characters in CSV are escaped.
    """
    match form:
        case RowFormat.JSON:
            return visible_json(msgspec.json.format(msgspec.json.encode(rows), indent=2)).decode() + "\n"
        case RowFormat.JSONL:
            return visible_json(msgspec.json.Encoder().encode_lines(rows)).decode()
        case RowFormat.YAML:
            return yaml_documents(msgspec.to_builtins(rows))
        case RowFormat.CSV | RowFormat.CSV_SAFE:
            lines: Iterator[str] = csv_lines(
                rows, row_class.__struct_fields__, for_spreadsheets=form is RowFormat.CSV_SAFE
            )
            return "".join(f"{visible(line) if is_terminal else line}\n" for line in lines)
        case _:
            return "".join(f"{visible(row.row_name)}\n" for row in rows)


def yaml_documents(values: Sequence[object]) -> str:
    """A YAML document for each value, with the types of JSON."""
    import yaml  # noqa: PLC0415 only this form needs it

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump_all(
        values, Dumper=dumper, explicit_start=True, sort_keys=False, allow_unicode=True, width=_YAML_WIDTH
    )
    return text
