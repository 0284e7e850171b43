"""``kafkawire tables``: its options, and its exit code."""

from __future__ import annotations

import io
import sys
import textwrap
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import pyarrow as pa
import typer
from rich.console import Console

from kafkawire.cli.destination import opened_destination
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.printing import shows_bold
from kafkawire.cli.rows.terminal_table import TerminalTable, notes_of
from kafkawire.cli.tables.evidence import Evidence, check_has_manifest
from kafkawire.cli.tables.formats import STANDARD_OUTPUT, Format, chosen_format
from kafkawire.cli.tables.read_options import with_read_options
from kafkawire.cli.tables.table_batches import batches_of, changed_batches_of, command_errors
from kafkawire.cli.tables.terminal import terminal_table
from kafkawire.cli.tables.writing import write_rows
from kafkawire.cli.termination import leaving_on_sigterm
from kafkawire.logs import Accounts, ReadMode, ReadOptions, RecordRegistry, read_changes, table_named, table_names
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.logs.planning import find_logs

_PURPOSES: Final = {
    "batches": "the batches of any log: sizes, codecs, checksums, producers",
    "records": "the records of any log, each as Kafka's JSON",
    "alerts": "risky changes in the metadata log, as rules find them",
    **{name: history.purpose for name, history in HISTORIES.items()},
}


@with_read_options
def run(
    *,
    log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="A log: the folder of a partition, a folder of such folders, a file, a pattern or a URI; repeatable.",
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the table; --list lists them all.")] = None,
    output: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-o",
            metavar="FORM",
            help=f"Form of the rows: {', '.join(Format)}. By default that of the suffix of --out, else table on a "
            "terminal and jsonl in a pipe. table has the columns that fit, wide has all.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File to write, - for standard output. It is replaced when everything is written."
        ),
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
    processes: Annotated[
        int,
        typer.Option(min=1, help="Processes that read parts of the logs at the same time."),
    ] = 1,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Only what is new since the last run with this file: alerts, or rows of a history that began, changed "
            "or ended, with the column interval_id. The file is replaced after the rows are written; the first run "
            "writes all rows.",
        ),
    ] = None,
    manifest: Annotated[
        bool,
        typer.Option(
            "--manifest",
            help="Write FILE.manifest.json beside --out FILE: SHA-256 and counts of every input, versions, options, "
            "and SHA-256 of the result. The inputs are read once more.",
        ),
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the names of the tables and exit.")] = False,
    options: ReadOptions,
) -> None:
    """Read Kafka's own logs as tables of who had what, and when: the metadata log, and those of groups, transactions
    and share groups.

    It needs no broker and changes nothing. The last line, on standard error, accounts for all bytes: bytes read =
    decoded + skipped; each skip has a reason code.

    Exit code: 0 if everything was decoded, 3 if there were errors but no more than --max-errors, 1 for a failure, 2 for
    wrong usage.
    """
    out = None if out == STANDARD_OUTPUT else out
    if list_:
        _list_tables(options.registry, Format.TABLE if output is None and out is None else output, out)
        return
    if table is None or not log or not all(log):
        raise CommandError("--log DIR and --table NAME are needed; --list lists the tables", ExitCode.USAGE)
    form = chosen_format(output, out, terminal=sys.stdout.isatty())
    _check_options(form, out, csv_safe=csv_safe, divided_changes=state is not None and processes > 1, manifest=manifest)
    accounts = Accounts()
    console = _console_beside(form, out)
    changes = None
    with command_errors():
        checked = table_named(table, options)
        if state is None:
            logs = find_logs(log).needed_by(checked)
            files, store = logs.files, logs.store
            rows = batches_of(checked, logs, options, accounts, console, max_errors, processes)
        else:
            changes = read_changes(table, log, state, options, accounts=accounts)
            checked, files, store = changes.table, changes.files, changes.store
            rows = changed_batches_of(changes, accounts, console, max_errors)
        evidence = Evidence(files, store, options, state) if manifest else None
    if evidence is not None:
        rows = evidence.rows_of(rows)
    with leaving_on_sigterm(), opened_destination(out) as stream:
        if form.is_for_people:
            shown = terminal_table(rows, checked.schema, checked.roles, are_chosen=options.columns is not None)
            _print_table(shown, stream, console, wide=form is Format.WIDE)
        else:
            write_rows(form, rows, checked.schema, stream, csv_safe=csv_safe)
    if changes is not None:
        with command_errors():
            changes.commit()
        if changes.started_over is not None:
            _say(f"All rows, not only changes: {changes.started_over}.", console)
    if evidence is not None and out is not None:
        own_options = {
            "--log": log,
            "--format": output,
            "--csv-safe": csv_safe,
            "--max-errors": max_errors,
            "--processes": None if processes == 1 else processes,
            "--state": state,
        }
        with command_errors():
            evidence.write(table, out, own_options, accounts)
    _say(accounts.line(), console)
    if accounts.errors and options.mode is ReadMode.PERMISSIVE:
        _say("Damaged rows have a code in column _error; --mode FAILFAST stops at the first, with its place.", console)
    raise typer.Exit(ExitCode.SOME_FAILED if accounts.errors else ExitCode.DONE)


def _check_options(form: Format, out: Path | None, *, csv_safe: bool, divided_changes: bool, manifest: bool) -> None:
    if csv_safe and form is not Format.CSV:
        raise CommandError("--csv-safe is for -o csv; the other forms write texts unchanged", ExitCode.USAGE)
    if divided_changes:
        raise CommandError("--state reads in one process: leave out --processes", ExitCode.USAGE)
    if manifest:
        check_has_manifest(out, form)


def _console_beside(form: Format, out: Path | None) -> Console:
    """Standard error; without a progress bar if rows appear on the same terminal while they are read."""
    bar_would_cross_rows = sys.stdout.isatty() and out is None and not form.is_for_people
    is_terminal = False if bar_would_cross_rows else None
    return Console(stderr=True, force_terminal=is_terminal, soft_wrap=True, highlight=False, markup=False)


def _list_tables(registry: RecordRegistry, output: Format | None, out: Path | None) -> None:
    names = table_names(registry)
    purposes = [_PURPOSES.get(name, f"the {name.replace('_', ' ')} records, a column for each field") for name in names]
    form = chosen_format(output, out, terminal=sys.stdout.isatty())
    listed = pa.record_batch({"table": pa.array(names), "purpose": pa.array(purposes)})
    with opened_destination(out) as stream:
        if not form.is_for_people:
            write_rows(form, [listed], listed.schema, stream)
            return
        width = max(map(len, names))
        for name, purpose in zip(names, purposes, strict=True):
            stream.write(f"{name:<{width}}  {purpose}\n".encode())


def _print_table(table: TerminalTable, stream: BinaryIO, errors: Console, *, wide: bool) -> None:
    terminal = stream.isatty()
    text = io.StringIO()
    table.print(text, width=Console().width if terminal and not wide else None, colours=terminal and shows_bold())
    stream.write(text.getvalue().encode())
    stream.flush()  # the notes are on another stream
    for note in notes_of(table, "-o wide shows all columns, --columns chooses"):
        _say(note, errors)
    if table.left_out_rows:
        _say(f"{table.left_out_rows:,} more rows: -o csv, jsonl or parquet writes them all.", errors)


def _say(text: str, console: Console) -> None:
    """Print a line; on a terminal, in lines that do not break in the middle of a name."""
    if console.is_terminal:
        text = textwrap.fill(text, console.width, break_long_words=False, break_on_hyphens=False)
    console.print(text)
