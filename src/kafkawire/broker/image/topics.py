"""Topics and their partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire import Message

NO_LEADER = -1
"""The leader of a partition that has none."""

_LEADER_UNCHANGED = -2


@dataclass(slots=True)
class Topic:
    """A topic.

    Attributes:
        name, topic_id: its name and id.
        partitions: partition id to its record with all changes applied, in the order of the ids.
    """

    name: str
    topic_id: Uuid
    partitions: dict[int, PartitionRecord] = field(default_factory=dict)


class TopicsImage:
    """All topics.

    Attributes:
        by_name: name to topic.
        by_id: topic id to topic.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[bytes, Topic] = {}
        self._by_metric: dict[str, set[str]] = {}

    def find(self, name: str, topic_id: Uuid, *, by_id: bool) -> Topic | None:
        """A topic by its id, or by its name."""
        return self.by_id.get(topic_id) if by_id else self.by_name.get(name)

    def colliding(self, name: str) -> str | None:
        """Another topic with the same name in metrics, where ``.`` and ``_`` are equal; None if there is none."""
        others = self._by_metric.get(_metric(name), set()) - {name}
        return min(others) if others else None

    def apply_topic(self, record: TopicRecord) -> None:
        """Create a topic."""
        topic = Topic(record.name, record.topic_id)
        self.by_name[record.name] = topic
        self.by_id[record.topic_id] = topic
        self._by_metric.setdefault(_metric(topic.name), set()).add(topic.name)

    def apply_partition(self, record: PartitionRecord) -> None:
        """Create a partition."""
        self.by_id[record.topic_id].partitions[record.partition_id] = record

    def apply_partition_change(self, record: PartitionChangeRecord) -> None:
        """Apply the fields that are not null; another leader begins a new epoch (KIP-631)."""
        partitions = self.by_id[record.topic_id].partitions
        partition = partitions[record.partition_id]
        named = ("isr", "replicas", "removing_replicas", "adding_replicas", "directories", "eligible_leader_replicas")
        changes: dict[str, object] = {
            name: value for name in (*named, "last_known_elr") if (value := getattr(record, name)) is not None
        }
        if record.leader != _LEADER_UNCHANGED:
            changes |= {"leader": record.leader, "leader_epoch": partition.leader_epoch + 1}
        if record.leader_recovery_state >= 0:
            changes["leader_recovery_state"] = record.leader_recovery_state
        partitions[record.partition_id] = replace(partition, partition_epoch=partition.partition_epoch + 1, **changes)

    def apply_clear_elr(self, record: ClearElrRecord) -> None:
        """Clear the eligible leader replicas of a topic, or of all topics for an empty name (KIP-966)."""
        topics = [self.by_name[record.topic_name]] if record.topic_name else self.by_name.values()
        for topic in topics:
            for partition in topic.partitions.values():
                if partition.eligible_leader_replicas or partition.last_known_elr:
                    change = PartitionChangeRecord(
                        partition.partition_id, topic.topic_id, eligible_leader_replicas=(), last_known_elr=()
                    )
                    self.apply_partition_change(change)

    def apply_remove_topic(self, record: RemoveTopicRecord) -> str:
        """Remove a topic with its partitions; returns its name."""
        topic = self.by_id.pop(record.topic_id)
        del self.by_name[topic.name]
        metric = _metric(topic.name)
        self._by_metric[metric].discard(topic.name)
        if not self._by_metric[metric]:
            del self._by_metric[metric]
        return topic.name

    def records(self) -> Iterator[Message]:
        """The records that create all topics."""
        for topic in self.by_name.values():
            yield TopicRecord(topic.name, topic.topic_id)
            yield from topic.partitions.values()


def _metric(name: str) -> str:
    return name.replace(".", "_")
