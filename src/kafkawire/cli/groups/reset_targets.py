"""The options that say where a group goes on, by the names that Kafka's own tool gives them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from kafkawire.admin import ByDuration, OffsetSpec, ShiftBy, ToCurrent, ToOffset, ToTime
from kafkawire.admin.offset_resets import ResetTarget
from kafkawire.cli.argument_texts import milliseconds_of, time_of
from kafkawire.cli.outcome import CommandError, ExitCode

_PANEL = "Where to (one of these)"

EarliestOption = Annotated[
    bool, typer.Option("--to-earliest", help="To the first record of each partition.", rich_help_panel=_PANEL)
]
LatestOption = Annotated[
    bool, typer.Option("--to-latest", help="After the last record of each partition.", rich_help_panel=_PANEL)
]
CurrentOption = Annotated[
    bool, typer.Option("--to-current", help="To the committed offset; to the end without one.", rich_help_panel=_PANEL)
]
OffsetOption = Annotated[
    int | None, typer.Option("--to-offset", metavar="N", help="To this offset.", min=0, rich_help_panel=_PANEL)
]
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--to-datetime", metavar="DATE", help="To the first record not before this time.", rich_help_panel=_PANEL
    ),
]
DurationOption = Annotated[
    str | None,
    typer.Option(
        "--by-duration",
        metavar="DURATION",
        help="To the first record that is no older than this, such as 30m, 12h or 7d.",
        rich_help_panel=_PANEL,
    ),
]
ShiftOption = Annotated[
    int | None,
    typer.Option(
        "--shift-by", metavar="N", help="By this number of offsets; below 0 for back.", rich_help_panel=_PANEL
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--from-file",
        metavar="FILE",
        help="To the offsets of a CSV file: group,topic,partition,offset, or what -o csv prints; - is standard input.",
        rich_help_panel=_PANEL,
    ),
]


class GivenTargets(NamedTuple):
    """The options as they were given."""

    to_earliest: bool
    to_latest: bool
    to_current: bool
    to_offset: int | None
    to_datetime: str | None
    by_duration: str | None
    shift_by: int | None
    from_file: Path | None


def chosen_target(given: GivenTargets) -> ResetTarget | Path:
    """The one target that was given.

    Raises:
        CommandError: none was, or several, or one is malformed.
    """
    targets = list(_targets(given))
    if len(targets) != 1:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in GivenTargets._fields)
        raise CommandError(f"give one of {options}", ExitCode.USAGE)
    return targets[0]


def _targets(given: GivenTargets) -> Iterator[ResetTarget | Path]:
    if given.to_earliest:
        yield OffsetSpec.EARLIEST
    if given.to_latest:
        yield OffsetSpec.LATEST
    if given.to_current:
        yield ToCurrent()
    if given.to_offset is not None:
        yield ToOffset(given.to_offset)
    if given.to_datetime is not None:
        yield ToTime(time_of(given.to_datetime, "--to-datetime"))
    if given.by_duration is not None:
        yield ByDuration(timedelta(milliseconds=milliseconds_of(given.by_duration, "--by-duration")))
    if given.shift_by is not None:
        yield ShiftBy(given.shift_by)
    if given.from_file is not None:
        yield given.from_file
