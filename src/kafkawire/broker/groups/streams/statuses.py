"""The conditions of a streams group that its members get with heartbeats."""

from __future__ import annotations

from enum import IntEnum


class StreamsStatus(IntEnum):
    """A condition, as heartbeats have it."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
