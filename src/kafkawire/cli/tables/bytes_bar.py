"""A bar that tells how many bytes of logs have been read: on a terminal only, and gone when all are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.console import Console, RenderableType
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from kafkawire.logs import Accounts

__all__ = ["BytesBar"]

_TIMES_A_SECOND: Final = 5


class BytesBar(Progress):
    """Looks at accounts whenever it is drawn: rows of a history come late, and what was read is known at once.

    Args:
        console: where to.
        what: is read.
        total: how many bytes there are.
        accounts: counts those that have been read.
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
            disable=not console.is_terminal,
            refresh_per_second=_TIMES_A_SECOND,
        )
        self._total = total
        self._task = self.add_task(what, total=total)

    def get_renderables(self) -> Iterable[RenderableType]:
        """What is drawn next."""
        for task in self._tasks.values():
            done = self._accounts.bytes_read - self._before
            self.update(task.id, completed=min(done, self._total))
        yield from super().get_renderables()
