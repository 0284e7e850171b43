"""``kafkawire report``: from logs to a page."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from kafkawire.cli.destination import opened_destination
from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.tables.bytes_bar import BytesBar
from kafkawire.cli.tables.formats import STANDARD_OUTPUT
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.logs import AlertRule, ReadOptions, read_alert_rules
from kafkawire.logs.evidence.digests import shown_place
from kafkawire.logs.evidence.used_options import not_default
from kafkawire.logs.option_records import TIME, value_of
from kafkawire.report.evidence import Options
from kafkawire.report.gathering import gather_report
from kafkawire.report.rendering import render_page

_ROWS: Final = 100_000
_TITLE: Final = "Kafka's logs"


def logs(
    log: Annotated[
        list[str], typer.Argument(metavar="DIR...", help="Folders of Kafka's logs, as for kafkawire tables --log.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The page, - for standard output. It is replaced when everything is written."
        ),
    ],
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="The date at which the page opens; by default the log's end.")
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the page.")] = _TITLE,
    max_rows: Annotated[
        int,
        typer.Option(
            min=1,
            help="Rows of history that the page lists of each section and cluster. What is valid at the end is always "
            "listed, and numbers count all.",
        ),
    ] = _ROWS,
    alert_rules: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rules of your own for alerts, beside those that are always there."),
    ] = None,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence/--no-evidence",
            help="Say on the page what it was made from: SHA-256 and counts of each input, versions and options. The "
            "inputs are read once more.",
        ),
    ] = True,
) -> None:
    """Show access, topics, configurations, nodes and committed offsets over time, read from Kafka's own logs.

    Exit code: 0 if everything was decoded, 3 if the page is written but there were errors, 1 for a failure, 2 for
    wrong usage.
    """
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    with command_errors(), opened_destination(None if out == STANDARD_OUTPUT else out) as stream:
        opens_at = None if as_of is None else value_of(as_of, TIME, "as_of")
        rules = () if alert_rules is None else read_alert_rules(alert_rules)
        options = _options_for_evidence(log, title, as_of, max_rows, rules) if evidence else None
        contents, accounts = gather_report(
            title,
            log,
            partial(BytesBar, console),
            limit=max_rows,
            as_of=opens_at,
            options=options,
            alert_rules=rules,
        )
        page = render_page(contents, written_at=int(time.time() * 1000))
        stream.write(page.encode("utf-8", "replace"))
    console.print(accounts.line())
    raise typer.Exit(ExitCode.SOME_FAILED if accounts.errors else ExitCode.DONE)


def _options_for_evidence(
    log: list[str], title: str, as_of: str | None, max_rows: int, rules: tuple[AlertRule, ...]
) -> Options:
    """The options that are not the default; the folders are an argument of the command."""
    options: dict[str, str | list[str]] = {"DIR": [shown_place(path) for path in log]}
    if title != _TITLE:
        options["--title"] = title
    if as_of is not None:
        options["--as-of"] = as_of
    if max_rows != _ROWS:
        options["--max-rows"] = str(max_rows)
    return {**options, **not_default(ReadOptions(alert_rules=rules))}
