"""The partitions for which a share group has states, or is about to begin or end them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from typing import Self

from msgspec import field
from msgspec.structs import replace

from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import hash_order, int_hash, set_order, uuid_hash
from kafkawire.protocol import ShareGroupStatePartitionMetadataValue
from kafkawire.wire.message import Struct

_UNKNOWN = "<UNKNOWN>"


class SharedTopic(Struct, frozen=True):
    """Partitions of a topic.

    Attributes:
        name: of the topic.
        partitions: some of its partitions.
    """

    name: str
    partitions: frozenset[int]


Shared = Mapping[Uuid, SharedTopic]
"""Topic id to partitions."""


class SharedPartitions(Struct, frozen=True):
    """The partitions of a share group.

    Attributes:
        initializing: those whose states are about to begin.
        initialized: those with states.
        deleting: ids of topics whose states are about to end.
    """

    initializing: Shared = field(default_factory=dict)
    initialized: Shared = field(default_factory=dict)
    deleting: frozenset[Uuid] = frozenset()

    def with_more(self, topics: Shared) -> Self:
        """With topics whose states are about to begin."""
        return replace(self, initializing=united(self.initializing, topics), deleting=self.deleting.difference(topics))

    def begun(self, topics: Shared) -> Self:
        """With topics whose states have begun."""
        return replace(
            self,
            initializing=_without(self.initializing, topics),
            initialized=united(self.initialized, topics),
        )

    def without_topics(self, topics: Collection[Uuid]) -> Self:
        """Without topics that exist no more."""
        return replace(
            self,
            initializing={topic: each for topic, each in self.initializing.items() if topic not in topics},
            initialized={topic: each for topic, each in self.initialized.items() if topic not in topics},
            deleting=self.deleting.difference(topics),
        )

    # Records.

    @classmethod
    def recorded(cls, value: ShareGroupStatePartitionMetadataValue) -> Self:
        """The partitions of a record."""
        return cls(
            _shared(value.initializing_topics),
            _shared(value.initialized_topics),
            frozenset(each.topic_id for each in value.deleting_topics),
        )

    def record(self, topics: KnownTopics) -> ShareGroupStatePartitionMetadataValue:
        """The record of the partitions, with the names of topics as they are now."""
        info = ShareGroupStatePartitionMetadataValue.TopicInfo
        deleting = hash_order(sorted(self.deleting), uuid_hash)
        return ShareGroupStatePartitionMetadataValue(
            _infos(self.initializing),
            _infos(self.initialized),
            tuple(info(topic, topics.name_of(topic) or _UNKNOWN) for topic in deleting),
        )


def united(one: Shared, other: Shared) -> Shared:
    """The partitions of both, with the names of the second."""
    return {
        topic: SharedTopic(
            (other.get(topic) or one[topic]).name,
            one.get(topic, _NONE).partitions | other.get(topic, _NONE).partitions,
        )
        for topic in hash_order(dict.fromkeys((*one, *other)), uuid_hash)
    }


def as_sets(topics: Shared) -> Mapping[Uuid, Set[int]]:
    """The partitions without names."""
    return {topic: each.partitions for topic, each in topics.items()}


_NONE = SharedTopic("", frozenset())


def _without(topics: Shared, gone: Shared) -> Shared:
    left = {
        topic: replace(each, partitions=each.partitions - gone.get(topic, _NONE).partitions)
        for topic, each in topics.items()
    }
    return {topic: each for topic, each in left.items() if each.partitions}


def _shared(recorded: Iterable[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo]) -> Shared:
    return {each.topic_id: SharedTopic(each.topic_name, frozenset(each.partitions)) for each in recorded}


def _infos(topics: Shared) -> tuple[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo, ...]:
    info = ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo
    in_order = hash_order(topics, uuid_hash)
    return tuple(info(topic, topics[topic].name, in_set_order(topics[topic].partitions)) for topic in in_order)


def in_set_order(partitions: Iterable[int]) -> tuple[int, ...]:
    """Partitions in the order of Kafka's set of them."""
    return tuple(set_order(sorted(partitions), int_hash))
