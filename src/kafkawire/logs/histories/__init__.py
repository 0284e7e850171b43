"""Histories: what was so from when to when, folded from the records of a log.

One module for each: ``acl``, ``quota``, ``config`` and ``topic`` from ``__cluster_metadata``, ``offsets`` and
``groups`` from ``__consumer_offsets``. They rest on ``intervals`` and know nothing of files; ``state_tables`` and
``group_tables`` read the files.
"""

from __future__ import annotations
