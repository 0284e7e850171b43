"""A progress bar for long work: on a terminal only, on standard error, and never on a line with other output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that reports (current step, amount done, total amount)."""
    from rich.progress import (  # noqa: PLC0415 slow to import, and most runs show none
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


@contextmanager
def call_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what calls of the client take as ``progress``: a bar on a terminal, nothing elsewhere.

    Args:
        what: what is being done, such as "topics".
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console  # noqa: PLC0415 as above

    with progress_bar(Console(stderr=True)) as show:
        yield lambda done, total: show(what, done, total)


def output_has_reader() -> bool:
    """Whether standard output is a pipe: its reader, such as ``head``, may write to the same terminal at any time."""
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError):  # closed, or not a file as in notebooks
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
