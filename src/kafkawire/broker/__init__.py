"""The embedded broker: the admin plane of Apache Kafka in one Python process.

Each name is imported when it is first used. Names that are not listed here may change.
"""

from __future__ import annotations

from kafkawire.lazy_names import attach

__all__, __getattr__, __dir__ = attach(__name__, __file__)
