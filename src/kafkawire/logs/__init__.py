"""Kafka's own logs as tables: segments and snapshots in, Arrow out. Needs ``kafkawire[tables]``.

Every name is imported when it is first used: a process that reads a part of a log imports no more than that takes.
"""

from __future__ import annotations

from kafkawire.lazy_names import attach

__all__, __getattr__, __dir__ = attach(__name__, __file__)
