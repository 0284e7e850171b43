"""Prints rows in the chosen form."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.row import Row
from kafkawire.cli.visible import visible


def print_rows(rows: Iterable[Row], row_class: type[Row], form: RowFormat, *, empty: str = "none") -> None:
    """Print rows on standard output.

    Args:
        rows: all of one class.
        row_class: that class; its fields are the columns, also where there is no row.
        form: how. JSON is one array, JSON lines and YAML have an object for each row.
        empty: what a table without rows says on standard error, such as "no topics".
    """
    listed = list(rows)
    match form:
        case RowFormat.NAME:
            sys.stdout.writelines(f"{visible(row.row_name)}\n" for row in listed)
        case RowFormat.JSON:
            print(msgspec.json.format(msgspec.json.encode(listed), indent=2).decode())
        case RowFormat.JSONL:
            sys.stdout.writelines(f"{msgspec.json.encode(row).decode()}\n" for row in listed)
        case RowFormat.YAML:
            _print_yaml(listed)
        case RowFormat.CSV:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(row_class.__struct_fields__)
            writer.writerows([_cell(value) for value in msgspec.structs.astuple(row)] for row in listed)
        case _ if not listed:
            print(empty, file=sys.stderr)
        case _:
            _print_table(listed, row_class, wide=form is RowFormat.WIDE)


def _print_yaml(rows: Sequence[Row]) -> None:
    import yaml  # noqa: PLC0415 only this form needs it

    documents = msgspec.to_builtins(rows)
    print(yaml.safe_dump_all(documents, explicit_start=True, sort_keys=False, allow_unicode=True), end="")


def _print_table(rows: Sequence[Row], row_class: type[Row], *, wide: bool) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in row_class.__struct_fields__:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(_cell(value))) for value in msgspec.structs.astuple(row)))
    is_terminal = sys.stdout.isatty()
    Console(file=sys.stdout, width=None if is_terminal and not wide else 1_000_000).print(table)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case _:
            built = msgspec.to_builtins(value)
            return built if isinstance(built, str) else msgspec.json.encode(built).decode()
