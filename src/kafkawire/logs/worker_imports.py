"""What processes that read tables have in common: the first of them imports it, and the others begin with it.

They live as long as one reading. So what is imported stays, and no collection of cyclic garbage goes through it again.
Each of them begins without memory, and pays for the first use of all that it gets: so Arrow gets it from jemalloc where
it can. Its usual allocator, mimalloc, takes more, in pages of 2 MiB, which the system clears as a whole.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module

from kafkawire.hidden_pandas import hidden_pandas

with hidden_pandas():
    import pyarrow as pa

    import_module("kafkawire.logs.parallel_reading")

if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ and "jemalloc" in pa.supported_memory_backends():
    pa.set_memory_pool(pa.jemalloc_memory_pool())

gc.freeze()
