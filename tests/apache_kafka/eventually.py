"""Waiting for what a broker has promised: the controller acknowledges a change before every broker knows of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_SECONDS = 30.0
_SECONDS_BETWEEN_LOOKS = 0.02


def eventually(ask: Callable[[], T], holds: Callable[[T], object]) -> T:
    """The first answer that holds.

    Args:
        ask: asks once.
        holds: whether the answer is the one waited for.

    Raises:
        AssertionError: if no answer holds in half a minute.
    """
    deadline = time.monotonic() + _SECONDS
    while not holds(answer := ask()):
        assert time.monotonic() < deadline, f"after {_SECONDS} s the answer is still {answer}"
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return answer
