"""Imports of Arrow in processes of kafkawire's own.

Arrow imports pandas with the first array that is made, if it is installed, and that takes longer than all the rest.
Here it finds none. Where its methods need pandas, it looks again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class _NoPandas:
    """Answers first for each import: there is no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """See ``importlib.abc.MetaPathFinder``."""
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def hidden_pandas() -> Iterator[None]:
    """Imports find no pandas, those of other threads too."""
    sys.meta_path.insert(0, _NoPandas)
    try:
        yield
    finally:
        sys.meta_path.remove(_NoPandas)
