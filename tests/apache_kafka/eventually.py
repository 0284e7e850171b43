"""Waiting for changes: the controller acknowledges a change before every broker has applied it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_SECONDS = 30.0
_SECONDS_BETWEEN_LOOKS = 0.02


def eventually(ask: Callable[[], T], holds: Callable[[T], object], *, seconds: float = _SECONDS) -> T:
    """The first answer that holds.

    Args:
        ask: asks once.
        holds: whether the answer is the one waited for.
        seconds: for how long to ask.

    Raises:
        AssertionError: if no answer holds in time.
    """
    deadline = time.monotonic() + seconds
    while not holds(answer := ask()):
        assert time.monotonic() < deadline, f"after {seconds} s the answer is still {answer}"
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return answer
