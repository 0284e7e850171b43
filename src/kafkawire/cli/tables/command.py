"""The command: its options, and what becomes of a run."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer
from rich.console import Console

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.tables.dates import date_of
from kafkawire.cli.tables.destination import opened_destination
from kafkawire.cli.tables.formats import Format, chosen_format
from kafkawire.cli.tables.purposes import purpose_of
from kafkawire.cli.tables.reading import batches_of, checked_table, logs_of_table, registry_of
from kafkawire.cli.tables.terminal import TerminalTable
from kafkawire.cli.tables.writing import write_rows
from kafkawire.logs import Accounts, ReadMode, ReadOptions, RecordRegistry, table_names
from kafkawire.logs.options import DEFAULT_OPTIONS

_RANGES: Final = "Offsets and times"
_READING: Final = "Reading"
_NO_OP: Final = "NO_OP_RECORD"
_WIDE: Final = 1_000_000
"""Characters of a line where there is no terminal to end it."""


def run(
    log: Annotated[
        list[str] | None,
        typer.Option(
            help="A log: the folder of a partition, a folder of such folders, a file, or a pattern; may be given often."
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Name of the table; --list tells them all.")] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="Histories: only what was so then, such as 2026-03-01T12:30Z.")
    ] = None,
    output: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="By default what the name of --out ends with; else a table on a terminal, JSON lines in a pipe.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. It is replaced when all is written.")
    ] = None,
    csv_safe: Annotated[
        bool,
        typer.Option(
            "--csv-safe",
            help="CSV for spreadsheets: ' before texts that begin with = + - @, which they take for formulas.",
        ),
    ] = False,
    columns: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these columns, with commas between.")
    ] = None,
    record_types: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only records of these types, such as TOPIC_RECORD,CONFIG_RECORD."),
    ] = None,
    from_offset: Annotated[
        int | None, typer.Option(min=0, help="Only records from this offset on.", rich_help_panel=_RANGES)
    ] = None,
    until_offset: Annotated[
        int | None, typer.Option(min=0, help="Only records before this offset.", rich_help_panel=_RANGES)
    ] = None,
    from_time: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only records of this time on.", rich_help_panel=_RANGES)
    ] = None,
    until_time: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only records before this time.", rich_help_panel=_RANGES)
    ] = None,
    high_watermark: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of the log: what lies at it or after it may not be committed, and is not read.",
            rich_help_panel=_RANGES,
        ),
    ] = None,
    mode: Annotated[
        ReadMode,
        typer.Option(
            case_sensitive=False,
            help="What becomes of bytes that cannot be decoded: a row that says so, no row, or the end.",
            rich_help_panel=_READING,
        ),
    ] = ReadMode.PERMISSIVE,
    max_errors: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Fail if there are more errors than this; by default any number is allowed.",
            rich_help_panel=_READING,
        ),
    ] = None,
    verify_checksums: Annotated[
        bool, typer.Option(help="Whether batches with a wrong checksum are errors.", rich_help_panel=_READING)
    ] = True,
    secrets: Annotated[
        bool,
        typer.Option("--secrets", help="Show salts, keys and sensitive configurations.", rich_help_panel=_READING),
    ] = False,
    no_ops: Annotated[
        bool,
        typer.Option("--no-ops", help="Table records: keep records that change nothing.", rich_help_panel=_READING),
    ] = False,
    schema_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Definitions of record types of your own.", rich_help_panel=_READING),
    ] = None,
    max_frame_bytes: Annotated[
        int, typer.Option(min=1, help="The largest batch that is believed, decompressed.", rich_help_panel=_READING)
    ] = DEFAULT_OPTIONS.max_frame_bytes,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What column cluster says; by default what meta.properties says.",
            rich_help_panel=_READING,
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Tell the names of the tables and end.")] = False,
) -> None:
    """Read Kafka's own logs as tables: the metadata log, and those of groups, transactions and share groups.

    It needs no broker and changes nothing. The last line, on standard error, accounts for every byte: those read are
    those decoded and those skipped, by reason.

    Exit code: 0 if all was decoded, 3 if there were errors but no more than --max-errors, 1 if it failed, 2 for wrong
    usage.
    """
    registry = DEFAULT_OPTIONS.registry if schema_dir is None else registry_of(schema_dir)
    if list_:
        _list_tables(registry)
        return
    if table is None or not log:
        raise CommandError("--log DIR and --table NAME are needed; --list tells the tables", ExitCode.USAGE)
    terminal = sys.stdout.isatty()
    form = chosen_format(output, out, terminal=terminal)
    if csv_safe and form is not Format.CSV:
        raise CommandError("--csv-safe is for CSV; the other formats have texts as they are", ExitCode.USAGE)
    chosen_types = _names(record_types, "--record-types")
    options = ReadOptions(
        mode=mode,
        record_types=chosen_types,
        columns=_names(columns, "--columns"),
        from_offset=from_offset,
        until_offset=until_offset,
        from_time=None if from_time is None else date_of(from_time, "--from-time"),
        until_time=None if until_time is None else date_of(until_time, "--until-time"),
        verify_checksums=verify_checksums,
        high_watermark=high_watermark,
        secrets=secrets,
        no_ops=no_ops or _NO_OP in (chosen_types or ()),
        max_frame_bytes=max_frame_bytes,
        cluster=cluster,
        registry=registry,
        as_of=None if as_of is None else date_of(as_of, "--as-of"),
    )
    checked = checked_table(table, options)
    logs = logs_of_table(log, checked)
    accounts = Accounts()
    bar_would_cross_rows = terminal and out is None and form is not Format.TABLE
    is_terminal = False if bar_would_cross_rows else None
    console = Console(stderr=True, force_terminal=is_terminal, soft_wrap=True, highlight=False, markup=False)
    rows = batches_of(checked, logs, options, accounts, console, max_errors)
    with opened_destination(out) as stream:
        if form is Format.TABLE:
            _print_table(
                TerminalTable(rows, checked.schema), stream, console, everything=columns is not None or out is not None
            )
        else:
            write_rows(form, rows, checked.schema, stream, csv_safe=csv_safe)
    console.print(accounts.line())
    raise typer.Exit(ExitCode.SOME_FAILED if accounts.errors else ExitCode.DONE)


def _names(text: str | None, option: str) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise CommandError(f"{option} names nothing; leave it out for all", ExitCode.USAGE)
    return names


def _list_tables(registry: RecordRegistry) -> None:
    names = table_names(registry)
    width = max(map(len, names))
    for name in names:
        typer.echo(f"{name:<{width}}  {purpose_of(name)}")


def _print_table(table: TerminalTable, stream: BinaryIO, errors: Console, *, everything: bool) -> None:
    terminal = stream.isatty()
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=None if terminal else _WIDE)
    table.print(console, everything=everything or not terminal)
    stream.write(text.getvalue().encode())
    if table.left_out_columns:
        errors.print(f"Not shown: {', '.join(table.left_out_columns)}; --columns chooses.")
    if table.left_out_rows:
        errors.print(f"{table.left_out_rows:,} more rows: --format csv, json or parquet has them all.")
