"""The admin client: what Kafka's administrators do, asyncio first.

Every name is imported when it is first used, so that a program which only decides offline loads no sockets. What is
not named here is not promised to stay.
"""

from __future__ import annotations

from kafkawire.lazy_names import attach

__all__, __getattr__, __dir__ = attach(__name__, __file__)
