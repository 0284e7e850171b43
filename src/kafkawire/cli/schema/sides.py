"""The two sides that ``kafkawire schema diff`` and ``kafkawire schema check`` compare."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.origin_error import OriginError
from kafkawire.codegen.evolve.side import Side, left_out
from kafkawire.codegen.report.text import render_text

ORIGINS_HELP = "a folder, a file, git:REF, git:REF:PATH, kafka:VERSION or builtin"
"""What OLD and NEW may be, for the help of commands."""


def load_sides(old: str, new: str) -> tuple[Side, Side]:
    """Read both sides; what takes long is shown on a terminal, and jars that are missing are named on standard error.

    Raises:
        CommandError: with exit code 2, if a side cannot be read, or has definitions with errors (those are printed
            on standard error): there is nothing to compare then, and 1 means that the comparison found something.
    """
    try:
        with _progress() as tell:
            sides = load_side(old, new, tell), load_side(new, old, tell)
    except OriginError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    for side in sides:
        _refuse_errors(side)
    for missing in left_out(*sides):
        print(f"kafkawire: warning: {missing}", file=sys.stderr)
    return sides


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A function that tells what is being done: on a terminal only, and gone when it is done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 slow to import, and most calls are not on a terminal

    with Console(stderr=True).status("reading definitions") as status:
        yield status.update


def _refuse_errors(side: Side) -> None:
    errors = [finding for finding in side.findings if finding.severity == "error"]
    if errors:
        print(render_text(errors, side.sources), end="", file=sys.stderr)
        raise CommandError(
            f"{side.name} cannot be compared: its definitions have errors, which are told above", ExitCode.USAGE
        )
