"""The two sides that ``kafkawire schema diff`` and ``kafkawire schema check`` compare."""

from __future__ import annotations

import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.evolution.origin import load_side
from kafkawire.codegen.evolution.origin_error import OriginError
from kafkawire.codegen.evolution.side import Side
from kafkawire.codegen.lint import render_text


def load_sides(old: str, new: str) -> tuple[Side, Side]:
    """Read both sides.

    Raises:
        CommandError: with exit code 2, if a side cannot be read, or has definitions with errors (those are printed
            on standard error): there is nothing to compare then, and 1 means that the comparison found something.
    """
    try:
        sides = load_side(old), load_side(new)
    except OriginError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    for side in sides:
        _refuse_errors(side)
    return sides


def _refuse_errors(side: Side) -> None:
    errors = [finding for finding in side.findings if finding.severity == "error"]
    if errors:
        typer.echo(render_text(errors, side.sources), nl=False, err=True)
        raise CommandError(f"{side.name} cannot be compared: its definitions have errors", ExitCode.USAGE)
