"""Topics by their names and by their ids."""

from __future__ import annotations

from typing import TypeAlias

from kafkawire.layout import Uuid
from kafkawire.protocol.errors import InvalidTopicError, UnknownTopicIdError
from kafkawire.wire.kafka_errors import KafkaError

Topic: TypeAlias = str | Uuid
"""A topic by its name or by its id."""


def unnamed(topic: Topic) -> KafkaError | None:
    """Why a name or id cannot be that of a topic; None if it can."""
    if isinstance(topic, Uuid):
        return None if any(topic) else UnknownTopicIdError("a topic id must not be all zeros")
    return None if topic else InvalidTopicError("the name of a topic must not be empty")
