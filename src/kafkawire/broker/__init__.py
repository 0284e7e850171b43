"""The embedded broker: the admin plane of Apache Kafka in one Python process."""

from __future__ import annotations

from kafkawire.broker.embedded import EmbeddedBroker

__all__ = ["EmbeddedBroker"]
