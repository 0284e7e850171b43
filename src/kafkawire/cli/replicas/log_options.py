"""The options that comparing and merging have in common."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.logs import ReplicatedLog, find_replicas

LogsOption = Annotated[
    list[str],
    typer.Option(
        "--log",
        metavar="PATH",
        help="The logs of one broker: a folder of its log.dirs, or the folder of a replica; give two or more.",
    ),
]
CompactedOption = Annotated[
    bool | None,
    typer.Option(
        "--compacted/--not-compacted",
        help="Whether Kafka compacts the logs. By default, if there are offsets without records.",
        show_default=False,
    ),
]


def replicated_logs(paths: list[str]) -> tuple[ReplicatedLog, ...]:
    """The logs of which paths have replicas; those with one only are named on standard error.

    Raises:
        CommandError: there is only one path.
        LogReadError, OptionError: as ``find_replicas``.
    """
    if len(paths) < 2:
        raise CommandError("--log: give the logs of two brokers or more", ExitCode.USAGE)
    logs, alone = find_replicas(paths)
    if alone:
        print(f"kafkawire: only one replica is there of {', '.join(alone)}", file=sys.stderr)
    return logs
