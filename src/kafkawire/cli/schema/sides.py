"""The two sides of ``kafkawire schema diff`` and ``kafkawire schema check``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.render.as_text import Line
from kafkawire.codegen.evolve.side import OriginError, Side, left_out
from kafkawire.codegen.report.text import render_text

ORIGINS_HELP = "a folder, a file, git:REF, git:REF:PATH, kafka:VERSION or builtin"
"""What OLD and NEW may be, for the help of commands."""


def load_sides(old: str, new: str) -> tuple[Side, Side]:
    """Read both sides; standard error has missing jars and, on a terminal, the progress.

    Raises:
        CommandError: with exit code 2, if a side cannot be read, or its definitions have errors, which are printed on
            standard error. The exit code 1 means that the comparison found something.
    """
    try:
        with _progress() as report:
            sides = load_side(old, new, report), load_side(new, old, report)
    except OriginError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    for side in sides:
        _refuse_errors(side)
    for missing in left_out(*sides):
        print(f"kafkawire: warning: {missing}", file=sys.stderr)
    return sides


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A function that shows the current step on a terminal, for as long as it takes."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 slow to import, and most calls are not on a terminal

    with Console(stderr=True).status("reading definitions") as status:
        yield status.update


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines, in colours on a terminal; they are never wrapped, so that a search finds a whole line."""
    from rich.console import Console  # noqa: PLC0415 slow to import, and the other formats do without
    from rich.text import Text  # noqa: PLC0415 the same

    console = Console(highlight=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(Text(line.text, line.style))


def _refuse_errors(side: Side) -> None:
    errors = [finding for finding in side.findings if finding.severity == "error"]
    if errors:
        print(render_text(errors, side.sources), end="", file=sys.stderr)
        raise CommandError(f"{side.name} cannot be compared: its definitions have the errors above", ExitCode.USAGE)
