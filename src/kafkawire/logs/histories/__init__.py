"""The histories: one module for each, with a ``HISTORY`` that declares the table.

``kafkawire.logs.history_tables`` imports all modules of this package, so a new module adds its table to the commands,
Spark and the Python API. ``group_records`` and ``group_state`` belong to ``groups``, ``share_deliveries``
to ``share_groups``, ``partition_ends`` to ``lag``.
"""

from __future__ import annotations
