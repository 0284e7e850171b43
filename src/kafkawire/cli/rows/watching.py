"""``--watch``: the same rows again and again, until Ctrl-C."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec
import typer

from kafkawire.cli.rows.csv_text import csv_lines
from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.json_text import visible_json
from kafkawire.cli.rows.printing import print_rows, shows_bold
from kafkawire.cli.rows.rendering import Page, text_for_programs, yaml_documents
from kafkawire.cli.rows.row import Row

WatchOption = Annotated[
    float | None,
    typer.Option(
        "--watch",
        metavar="SECONDS",
        min=0.1,
        help="Show it again after this time, until Ctrl-C: in place on a terminal, one after another in a pipe.",
    ),
]
"""The option of commands that people poll; its default is None."""

_HOME: Final = "\x1b[H"
_REST_OF_LINE: Final = "\x1b[K"
_REST_OF_SCREEN: Final = "\x1b[J"
_CLEAR: Final = "\x1b[2J"


def print_watched(
    rows: Callable[[], Iterable[Row]],
    row_class: type[Row],
    form: RowFormat,
    every: float | None,
    *,
    empty: str = "none",
    failures: Callable[[], Iterable[str]] = tuple,
) -> None:
    """Print rows once, or again and again.

    Ctrl-C ends it as it ends every command, with the exit code 130. On a terminal, a table is drawn in place under a
    line with the time, as many lines as the terminal has. Otherwise snapshots follow each other: a table, YAML document
    or list of names after a line with the time, JSON as an object ``{"time", "rows"}`` on a line, CSV with the time as
    its first column.

    Args:
        rows: gets them from the cluster.
        row_class: their class.
        form: how.
        every: seconds from one snapshot to the next; None for one snapshot.
        empty: what is said where there is no row.
        failures: lines about what could not be read, asked for after the rows and printed only while they are watched:
            below the table on a terminal, otherwise on standard error.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    if every is None:
        print_rows(rows(), row_class, form, empty=empty)
        return
    in_place = sys.stdout.isatty() and form.is_for_people
    is_first = True
    while True:
        listed = list(rows())
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if in_place:
            sys.stdout.write((_CLEAR if is_first else "") + _screen(listed, row_class, form, now, empty, [*failures()]))
        else:
            sys.stderr.writelines(f"kafkawire: {line}\n" for line in failures())
            sys.stdout.write(_snapshot(listed, row_class, form, now, is_first=is_first))
        sys.stdout.flush()
        is_first = False
        time.sleep(every)


def _screen(
    rows: Sequence[Row], row_class: type[Row], form: RowFormat, now: str, empty: str, failures: Sequence[str]
) -> str:
    """What a terminal shows: no more lines than it has, since others would scroll away."""
    size = shutil.get_terminal_size()
    page = Page(width=None if form is RowFormat.WIDE else size.columns, colours=shows_bold())
    table = page.table(rows, row_class).splitlines() if rows else [empty]
    after = [*page.notes, *(line[: size.columns] for line in failures)]
    room = max(size.lines - 2 - len(after), 2)
    if len(table) > room:
        table = [*table[: room - 1], f"{len(table) - room + 1} more lines"]
    lines = [now, *table, *after][: size.lines - 1]
    return _HOME + "".join(f"{line}{_REST_OF_LINE}\n" for line in lines) + _REST_OF_SCREEN


def _snapshot(rows: Sequence[Row], row_class: type[Row], form: RowFormat, now: str, *, is_first: bool) -> str:
    match form:
        case RowFormat.TABLE | RowFormat.WIDE:
            return f"# {now}\n{Page(width=None).table(rows, row_class) if rows else ''}\n"
        case RowFormat.JSON | RowFormat.JSONL:
            return visible_json(msgspec.json.encode({"time": now, "rows": rows})).decode() + "\n"
        case RowFormat.YAML:
            return yaml_documents([{"time": now, "rows": msgspec.to_builtins(rows)}])
        case RowFormat.CSV | RowFormat.CSV_SAFE:
            names = row_class.__struct_fields__
            heading, *lines = csv_lines(rows, names, for_spreadsheets=form is RowFormat.CSV_SAFE)
            whole = [f'"time",{heading}'] if is_first else []
            return "".join(f"{line}\n" for line in (*whole, *(f'"{now}",{line}' for line in lines)))
        case _:
            return f"# {now}\n{text_for_programs(rows, row_class, form, is_terminal=False)}"
