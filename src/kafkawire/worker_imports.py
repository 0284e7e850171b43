"""What processes that read tables have in common: the first of them imports it, and the others begin with it.

They live as long as one reading. So what is imported stays, and no collection of cyclic garbage goes through it again.
"""

from __future__ import annotations

import gc
from importlib import import_module

from kafkawire.hidden_pandas import hidden_pandas

with hidden_pandas():
    import_module("kafkawire.logs.parallel_reading")

gc.freeze()
