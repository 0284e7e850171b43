"""What processes that read tables have in common: the first of them imports it, and the others begin with it."""

from __future__ import annotations

from importlib import import_module

from kafkawire.hidden_pandas import hidden_pandas

with hidden_pandas():
    import_module("kafkawire.logs.parallel_reading")
