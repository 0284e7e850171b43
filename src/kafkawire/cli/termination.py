"""SIGTERM ends a command as an exception does, so that its temporary files go."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_OF_A_SIGNAL = 128


@contextmanager
def leaving_on_sigterm() -> Iterator[None]:
    """Raise SystemExit on SIGTERM; its exit code is that of a shell for a process that a signal ends.

    Only the main thread can receive signals: nothing changes in others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(_OF_A_SIGNAL + number)
