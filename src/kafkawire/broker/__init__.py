"""The embedded broker: the admin plane of Apache Kafka in one Python process.

Every name is imported when it is first used. What is not named here is not promised to stay.
"""

from __future__ import annotations

from kafkawire.lazy_names import attach

__all__, __getattr__, __dir__ = attach(__name__, __file__)
