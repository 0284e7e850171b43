"""Topics: creation, lists, descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kafkawire import protocol
from kafkawire.arguments.fields import check_fields
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.configs.resources import ConfigSource

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""The topics in which Kafka keeps its own state."""

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
        configs: topic configs that differ from the broker's defaults. All values are text, numbers too:
            ``{"retention.ms": "5000"}``.

    Raises:
        TypeError: for a value of another type, a string in place of a sequence of brokers included.
    """

    name: str
    num_partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    replica_assignments: Mapping[int, Sequence[int]] | None = None
    configs: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        check_fields(self)

    def to_request(self) -> protocol.CreateTopicsRequest.CreatableTopic:
        """The topic as an item of the request that creates it."""
        request = protocol.CreateTopicsRequest
        return request.CreatableTopic(
            name=self.name,
            num_partitions=self.num_partitions,
            replication_factor=self.replication_factor,
            assignments=tuple(
                request.CreatableReplicaAssignment(partition, tuple(brokers))
                for partition, brokers in (self.replica_assignments or {}).items()
            ),
            configs=tuple(request.CreatableTopicConfig(*config) for config in self.configs.items()),
        )


class CreatedTopicConfig(msgspec.Struct, frozen=True):
    """A config of a topic that was just created.

    Attributes:
        name, value: the config; the value is None if it is sensitive.
        is_read_only, is_sensitive: its properties.
        source: the source of the value.
    """

    name: str
    value: str | None
    is_read_only: bool
    is_sensitive: bool
    source: ConfigSource


class CreatedTopic(msgspec.Struct, frozen=True):
    """A topic that was created, or that would have been.

    Attributes:
        name: its name.
        topic_id: its id; None from older brokers (CreateTopics below 7) and after a validation, whose id
            belongs to no topic (B8).
        num_partitions, replication_factor: None from older brokers (CreateTopics below 5), or if hidden from this user
            (no DESCRIBE_CONFIGS).
        configs: its configs, defaults included; None likewise.
    """

    name: str
    topic_id: Uuid | None = None
    num_partitions: int | None = None
    replication_factor: int | None = None
    configs: tuple[CreatedTopicConfig, ...] | None = None

    def __repr__(self) -> str:
        """All fields; of the configs, those that are not Kafka's defaults and the number of the others."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__ if name != "configs"}
        said = [f"{name}={value!r}" for name, value in fields.items()]
        if self.configs is None:
            return f"CreatedTopic({', '.join([*said, 'configs=None'])})"
        special = {c.name: c.value for c in self.configs if c.source is not ConfigSource.DEFAULT_CONFIG}
        more = len(self.configs) - len(special)
        return f"CreatedTopic({', '.join([*said, f'configs=<{special} and {more} defaults>'])})"


class NewPartitions(msgspec.Struct, frozen=True):
    """The new number of partitions of a topic.

    Attributes:
        total: the new number of partitions, those that it has included.
        new_assignments: for each partition that is added, in order, the ids of its brokers, the preferred leader
            first; None to leave the choice to the cluster.

    Raises:
        TypeError: for a value of another type, a string in place of a sequence of brokers included.
    """

    total: int
    new_assignments: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        check_fields(self)


class TopicListing(msgspec.Struct, frozen=True):
    """A topic in a list.

    Attributes:
        name: its name.
        topic_id: its id; None from older brokers (Metadata below 10).
        is_internal: whether Kafka keeps its own state in it.
    """

    name: str
    topic_id: Uuid | None
    is_internal: bool


class PartitionDescription(msgspec.Struct, frozen=True):
    """A partition of a topic; nodes are given by their ids.

    Attributes:
        partition: its number.
        leader: the node that leads it; None if there is none.
        leader_epoch: the epoch of the leader; None from brokers that do not return it.
        replicas: nodes that hold it, the preferred leader first.
        isr: those that are in sync.
        offline: those that are not reachable.
        eligible_leader_replicas: nodes that may lead although they are not in sync (KIP-966); None if unknown.
        last_known_eligible_leader_replicas: the last of these before all were gone; None if unknown.
    """

    partition: int
    leader: int | None
    leader_epoch: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]
    eligible_leader_replicas: tuple[int, ...] | None = None
    last_known_eligible_leader_replicas: tuple[int, ...] | None = None


class TopicDescription(msgspec.Struct, frozen=True):
    """A topic and its partitions.

    Attributes:
        name: its name.
        topic_id: its id; None from brokers that do not return it.
        is_internal: whether Kafka keeps its own state in it.
        partitions: in the order of their numbers.
        authorized_operations: the operations that the caller may perform; None if they were not requested.
    """

    name: str
    topic_id: Uuid | None
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]
    authorized_operations: frozenset[AclOperation] | None = None


def known_id(topic_id: Uuid) -> Uuid | None:
    """An id, or None for the zeros that the wire has for no id."""
    return topic_id if any(topic_id) else None


def known_number(number: int) -> int | None:
    """A node id, offset, epoch or time, or None for a negative number, which the wire has for none."""
    return number if number >= 0 else None
