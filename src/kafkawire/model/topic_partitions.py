"""Partitions of topics, by name and number."""

from __future__ import annotations

import msgspec


class TopicPartition(msgspec.Struct, frozen=True, order=True):
    """A partition of a topic.

    Attributes:
        topic: its name.
        partition: its number, from 0.
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
