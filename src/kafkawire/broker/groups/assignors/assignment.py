"""What assignors work with, and partitions in the order of Kafka's sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Final, NamedTuple, TypeAlias

from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import (
    bucket_order,
    grown,
    hash_order,
    int_hash,
    room_for,
    set_order,
    uuid_hash,
)

Assignment: TypeAlias = Mapping[Uuid, tuple[int, ...]]
"""Topic id to partitions, both in the order in which Kafka iterates over them."""

NOTHING: Final[Assignment] = {}

_FEWEST_BUCKETS: Final = 16
_LOAD: Final = 0.75


class MemberSpec(NamedTuple):
    """A member.

    Attributes:
        instance_id: of a static member.
        topics: to which it subscribes and which exist, in Kafka's order.
        names: how many topics it subscribes to, including those that do not exist.
        target: what it shall have so far.
    """

    instance_id: str | None
    topics: tuple[Uuid, ...]
    names: int
    target: Assignment


class GroupSpec(NamedTuple):
    """A group.

    Attributes:
        members: by id, in Kafka's order.
        partitions: topic id to partition count.
        is_homogeneous: whether all members subscribe to the same topics.
        assigned: topic id to the partitions that some member shall have so far.
        assignable: topic id to the partitions that members may get; None for all.
    """

    members: Mapping[str, MemberSpec]
    partitions: Mapping[Uuid, int]
    is_homogeneous: bool
    assigned: Mapping[Uuid, frozenset[int]]
    assignable: Mapping[Uuid, Set[int]] | None = None


Assignor: TypeAlias = Callable[[GroupSpec], Mapping[str, Assignment]]
"""Returns what each member shall have; members that are left out shall have nothing."""


class Draft:
    """What a member shall have, while it changes.

    Args:
        target: what it shall have so far.
    """

    def __init__(self, target: Assignment) -> None:
        self._target = target
        self._partitions: dict[Uuid, dict[int, None]] = {}
        self._buckets = 0
        self._capacities: dict[Uuid, int] = {}
        self.is_changed = False

    def add(self, topic: Uuid, partition: int, capacity: int = _FEWEST_BUCKETS) -> None:
        """Give it a partition; the set of a topic that it has none of is made with a capacity."""
        self.begin()
        if topic not in self._partitions:
            # ``HashMap.computeIfAbsent`` grows late, and inserts before others of the same bucket.
            if len(self._partitions) > int(_LOAD * self._buckets):
                self._buckets *= 2
            self._partitions = {topic: {}, **self._partitions}
            self._capacities[topic] = capacity
        partitions = self._partitions[topic]
        partitions[partition] = None
        self._capacities[topic] = grown(len(partitions), self._capacities[topic])  # it never shrinks

    def remove(self, topic: Uuid, partition: int, *, keeps_topic: bool = False) -> None:
        """Take a partition from it; the topic of its last one too, unless it is kept."""
        self.begin()
        partitions = self._partitions.get(topic, {})
        partitions.pop(partition, None)
        if not partitions and not keeps_topic:
            self._partitions.pop(topic, None)

    def remove_topic(self, topic: Uuid) -> None:
        """Take all partitions of a topic from it."""
        self.begin()
        self._partitions.pop(topic, None)

    def result(self) -> Assignment:
        """What it shall have, as the record of it is read again."""
        if not self.is_changed:
            return self._target
        return normalized(
            (topic, hash_order(self._partitions[topic], int_hash, self._capacities[topic]))
            for topic in bucket_order(self._partitions, uuid_hash, self._buckets)
        )

    def begin(self) -> None:
        """Copy what it shall have so far, which may change the order."""
        if not self.is_changed:
            self.is_changed = True
            topics = hash_order(self._target, uuid_hash, len(self._target))
            self._buckets = grown(len(topics), len(topics))
            self._partitions = {topic: dict.fromkeys(self._target[topic]) for topic in topics}
            self._capacities = {topic: room_for(len(partitions)) for topic, partitions in self._target.items()}


def normalized(partitions: Iterable[tuple[Uuid, Iterable[int]]]) -> Assignment:
    """An assignment in Kafka's order, after it was read from a record."""
    by_topic = {topic: tuple(set_order(dict.fromkeys(each), int_hash)) for topic, each in partitions}
    return {topic: by_topic[topic] for topic in hash_order(by_topic, uuid_hash)}
