"""When Python looks for cyclic garbage: not while many objects are made, none of which is in a cycle."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def none_collected() -> Iterator[None]:
    """Collect no cyclic garbage in a short piece of work that makes many objects.

    Python looks for it after each 700 new containers, and the more there are, the more often it goes through all of
    them. The setting is one of the whole process, so the work must be short. If a program has turned collections off,
    they stay off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
