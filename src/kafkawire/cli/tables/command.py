"""``kafkawire tables``: its options, and its exit code."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer
from rich.console import Console

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.tables.destination import opened_destination
from kafkawire.cli.tables.formats import Format, chosen_format
from kafkawire.cli.tables.read_options import with_read_options
from kafkawire.cli.tables.table_batches import batches_of, command_errors
from kafkawire.cli.tables.terminal import TerminalTable
from kafkawire.cli.tables.writing import write_rows
from kafkawire.logs import Accounts, ReadOptions, RecordRegistry, table_named, table_names
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.logs.planning import find_logs

_WIDE: Final = 1_000_000
"""Characters of a line where no terminal limits it."""

_PURPOSES: Final = {
    "batches": "the batches of any log: sizes, codecs, checksums, producers",
    "records": "the records of any log, each as Kafka's JSON",
    **{name: history.purpose for name, history in HISTORIES.items()},
}


@with_read_options
def run(
    *,
    log: Annotated[
        list[str] | None,
        typer.Option(
            help="A log: the folder of a partition, a folder of such folders, a file, a pattern or a URI; repeatable."
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Name of the table; --list lists them all.")] = None,
    output: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="By default the format of the suffix of --out; else a table on a terminal, JSON lines in a pipe.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. It is replaced when everything is written.")
    ] = None,
    csv_safe: Annotated[
        bool,
        typer.Option(
            "--csv-safe",
            help="CSV for spreadsheets: ' before texts that begin with = + - @, which are formulas in a spreadsheet.",
        ),
    ] = False,
    max_errors: Annotated[
        int | None, typer.Option(min=0, help="Fail if there are more errors; by default any number is allowed.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the names of the tables and exit.")] = False,
    options: ReadOptions,
) -> None:
    """Read Kafka's own logs as tables: the metadata log, and those of groups, transactions and share groups.

    It needs no broker and changes nothing. The last line, on standard error, accounts for every byte: bytes read =
    decoded + skipped, by reason.

    Exit code: 0 if everything was decoded, 3 if there were errors but no more than --max-errors, 1 for a failure, 2 for
    wrong usage.
    """
    if list_:
        _list_tables(options.registry)
        return
    if table is None or not log or not all(log):
        raise CommandError("--log DIR and --table NAME are needed; --list lists the tables", ExitCode.USAGE)
    form = chosen_format(output, out, terminal=sys.stdout.isatty())
    if csv_safe and form is not Format.CSV:
        raise CommandError("--csv-safe is for CSV; the other formats write texts unchanged", ExitCode.USAGE)
    with command_errors():
        checked = table_named(table, options)
        logs = find_logs(log).needed_by(checked)
    accounts = Accounts()
    console = _console_beside(form, out)
    rows = batches_of(checked, logs, options, accounts, console, max_errors)
    with opened_destination(out) as stream:
        if form is Format.TABLE:
            shown = TerminalTable(rows, checked.schema)
            _print_table(shown, stream, console, everything=options.columns is not None or out is not None)
        else:
            write_rows(form, rows, checked.schema, stream, csv_safe=csv_safe)
    console.print(accounts.line())
    raise typer.Exit(ExitCode.SOME_FAILED if accounts.errors else ExitCode.DONE)


def _console_beside(form: Format, out: Path | None) -> Console:
    """Standard error; without a progress bar if rows appear on the same terminal while they are read."""
    bar_would_cross_rows = sys.stdout.isatty() and out is None and form is not Format.TABLE
    is_terminal = False if bar_would_cross_rows else None
    return Console(stderr=True, force_terminal=is_terminal, soft_wrap=True, highlight=False, markup=False)


def _list_tables(registry: RecordRegistry) -> None:
    names = table_names(registry)
    width = max(map(len, names))
    for name in names:
        purpose = _PURPOSES.get(name, f"the {name.replace('_', ' ')} records, a column for each field")
        typer.echo(f"{name:<{width}}  {purpose}")


def _print_table(table: TerminalTable, stream: BinaryIO, errors: Console, *, everything: bool) -> None:
    terminal = stream.isatty()
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=None if terminal else _WIDE)
    table.print(console, everything=everything or not terminal)
    stream.write(text.getvalue().encode())
    if table.left_out_columns:
        errors.print(f"Not shown: {', '.join(table.left_out_columns)}; choose with --columns.")
    if table.left_out_rows:
        errors.print(f"{table.left_out_rows:,} more rows: --format csv, json or parquet writes them all.")
