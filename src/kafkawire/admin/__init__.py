"""The admin client, for asyncio and for programs without it.

Every name is imported when it is first used, so that a program which only evaluates ACLs or quotas loads no sockets.
These names are the public ones; all others may change.
"""

from __future__ import annotations

from kafkawire.lazy_names import attach

__all__, __getattr__, __dir__ = attach(__name__, __file__)
