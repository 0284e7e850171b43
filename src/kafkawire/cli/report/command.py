"""The commands: from logs to a page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.report.gathering import gather_report
from kafkawire.cli.report.rendering import render_page
from kafkawire.cli.tables.dates import date_of
from kafkawire.cli.tables.destination import whole_file

_ROWS: Final = 100_000

report = typer.Typer(help="Pages to look at, each one file that needs no network.", no_args_is_help=True)


@report.callback()
def _group() -> None:
    """Pages to look at, each one file that needs no network."""


@report.command("logs")
def logs(
    log: Annotated[
        list[str], typer.Argument(metavar="DIR...", help="Folders of Kafka's logs, as for kafkawire tables --log.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page. It is replaced when all of it is written.")],
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="The date that the page opens at; by default the log's end.")
    ] = None,
    title: Annotated[str, typer.Option(help="What the page is called.")] = "Kafka's logs",
    max_rows: Annotated[
        int, typer.Option(min=1, help="Rows of each section and cluster that the page lists; its numbers are of all.")
    ] = _ROWS,
) -> None:
    """Show ACLs, topics, quotas, configurations and committed offsets over time, read from Kafka's own logs.

    Exit code: 0 if all was decoded, 3 if the page is written but there were errors, 1 if it failed, 2 for wrong usage.
    """
    opens_at = None if as_of is None else date_of(as_of, "--as-of")
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    with whole_file(out) as stream:
        contents, accounts = gather_report(title, log, console, limit=max_rows, as_of=opens_at)
        page = render_page(contents, written_at=int(time.time() * 1000))
        stream.write(page.encode("utf-8", "replace"))
    console.print(accounts.line())
    raise typer.Exit(ExitCode.SOME_FAILED if accounts.errors else ExitCode.DONE)
