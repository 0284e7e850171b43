"""A progress bar for the bytes of logs that have been read: on a terminal only, removed at the end.

There is none if standard output is a pipe, since the rows that its reader prints would cross it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.console import Console, RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from kafkawire.cli.progress import output_has_reader
from kafkawire.logs import Accounts

_TIMES_A_SECOND: Final = 5


class BytesBar(Progress):
    """Takes its value from accounts: the rows of a history come late, but the bytes are counted at once.

    Args:
        console: where to draw.
        what: name of what is read.
        total: the number of bytes.
        accounts: count the bytes that have been read.
    """

    def __init__(self, console: Console, what: str, total: int, accounts: Accounts) -> None:
        self._accounts = accounts
        self._before = accounts.bytes_read
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal or output_has_reader(),
            refresh_per_second=_TIMES_A_SECOND,
        )
        self._total = total
        self._task = self.add_task(what, total=total)

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar with its current value."""
        for task in self._tasks.values():
            done = self._accounts.bytes_read - self._before
            self.update(task.id, completed=min(done, self._total))
        yield from super().get_renderables()
