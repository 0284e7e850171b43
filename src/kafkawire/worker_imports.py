"""What processes that read tables have in common: the first of them imports it, and the others begin with it.

Arrow imports pandas with the first array that is made, if it is installed, and that takes longer than all the rest.
Here it finds none. Where its methods need pandas, it looks again.
"""

from __future__ import annotations

import sys
from importlib import import_module


class _NoPandas:
    """Answers first for each import: there is no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """See ``importlib.abc.MetaPathFinder``."""
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, _NoPandas)
try:
    import_module("kafkawire.logs.parallel_reading")
finally:
    sys.meta_path.remove(_NoPandas)
