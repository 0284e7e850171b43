"""Topics as an admin client sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kafkawire.layout import Uuid

BROKER_DEFAULT = -1
"""Partitions or replicas: as many as the broker's own default says."""


class NewTopic(msgspec.Struct, frozen=True):
    """A topic to create.

    Attributes:
        name: its name.
        num_partitions: number of partitions, -1 for the broker's default.
        replication_factor: replicas of each partition, -1 for the broker's default.
        replica_assignments: partition to the ids of its brokers, the preferred leader first; numbers of partitions
            and replicas must be left at -1 then.
        configs: topic configs that differ from the broker's defaults.
    """

    name: str
    num_partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    replica_assignments: Mapping[int, Sequence[int]] | None = None
    configs: Mapping[str, str] = {}


class CreatedTopicConfig(msgspec.Struct, frozen=True):
    """A config of a topic that was just created.

    Attributes:
        name, value: the config; the value is None if it is sensitive.
        is_read_only, is_sensitive: what it is.
        source: number of where the value comes from (`ConfigSource`).
    """

    name: str
    value: str | None
    is_read_only: bool
    is_sensitive: bool
    source: int


class CreatedTopic(msgspec.Struct, frozen=True):
    """A topic that was created, or that would have been.

    Attributes:
        name: its name.
        topic_id: its id; None from brokers that do not tell (CreateTopics below 7) and after a validation, whose id
            belongs to no topic (B8).
        num_partitions, replication_factor: None if the broker does not tell (CreateTopics below 5), or not this user
            (no DESCRIBE_CONFIGS).
        configs: its configs, defaults included; None likewise.
    """

    name: str
    topic_id: Uuid | None = None
    num_partitions: int | None = None
    replication_factor: int | None = None
    configs: tuple[CreatedTopicConfig, ...] | None = None
