"""``kafkawire quotas metrics``: the use of the quotas of a running embedded broker."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.quotas.metrics_file import QuotaMetricRow, read_metrics
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.watching import WatchOption, print_watched

_OLD_SECONDS: Final = 10


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As in kafkawire broker --quota-metrics-file FILE.")],
    watch: WatchOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Show the use of client quotas at an embedded broker: limit, rate and throttle time of the clients that share one.

    Exit code: 0 done, 1 for a failure, 2 for wrong usage.
    """

    def rows() -> list[QuotaMetricRow]:
        try:
            age = time.time() - file.stat().st_mtime
            found = read_metrics(file)
        except FileNotFoundError:
            message = f"{file} does not exist; start the broker with --quota-metrics-file {file}"
            raise CommandError(message) from None
        except ValueError as error:
            message = f"{file} has no quota metrics ({error}); give the file of a broker's --quota-metrics-file"
            raise CommandError(message, ExitCode.USAGE) from None
        if age > _OLD_SECONDS:
            print(f"{file} was written {age:.0f} s ago; the broker has ended without removing it", file=sys.stderr)
        return found

    print_watched(rows, QuotaMetricRow, output, watch, empty="no client has used a quota")
