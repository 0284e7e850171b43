"""The assignor ``simple`` of share groups (KIP-932): members share partitions, as evenly as they can.

The rules are those of Apache Kafka's ``SimpleHomogeneousAssignmentBuilder`` and of the heterogeneous one: members keep
what they have, unless they have too much of it or too many of them have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from kafkawire.broker.groups.assignors.assignment import Assignment, Draft, GroupSpec
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import HashTable, capacity_for, hash_order, int_hash, uuid_hash

Partition: TypeAlias = tuple[Uuid, int]

_INT32 = 1 << 32


def assign_simply(spec: GroupSpec) -> Mapping[str, Assignment]:
    """What each member shall have: with equal subscriptions as much as the others, else as much of each topic."""
    members = [*spec.members.values()]
    drafts = [Draft(member.target) for member in members]
    if spec.is_homogeneous:
        is_subscribed = any(member.names for member in members)
        _assign_all(spec, drafts)
    else:
        is_subscribed = any(member.topics for member in members)
        for topic in hash_order(dict.fromkeys(topic for member in members for topic in member.topics), uuid_hash):
            subscribers = [index for index, member in enumerate(members) if topic in member.topics]
            held = [[(topic, partition) for partition in member.target.get(topic, ())] for member in members]
            _Shares(drafts, subscribers, held, [*_assignable(spec, [topic])], _partition_hash).assign()
    return {member_id: draft.result() for member_id, draft in zip(spec.members, drafts, strict=True) if is_subscribed}


def _assign_all(spec: GroupSpec, drafts: Sequence[Draft]) -> None:
    members = [*spec.members.values()]
    topics = members[0].topics if members else ()
    held: list[list[Partition]] = []
    for member, draft in zip(members, drafts, strict=True):
        held.append([(topic, each) for topic in member.target if topic in topics for each in member.target[topic]])
        for topic in member.target:
            if topic not in topics:
                draft.remove_topic(topic)
    shares = _Shares(drafts, range(len(members)), held, [*_assignable(spec, topics)], _topic_partition_hash)
    for index, partitions in enumerate(held):
        if partitions and len(partitions) >= shares.quotas[index]:
            drafts[index].begin()
    shares.assign()


def _assignable(spec: GroupSpec, topics: Iterable[Uuid]) -> Iterable[Partition]:
    for topic in topics:
        for partition in range(spec.partitions[topic]):
            if spec.assignable is None or partition in spec.assignable.get(topic, ()):
                yield topic, partition


class _Shares:
    """Partitions and the members that share them.

    Args:
        drafts: of all members, which are numbered.
        subscribers: the numbers of those that subscribe to the topics.
        held: the partitions that each member has of these topics.
        partitions: that are to be shared.
        code: the hash of a partition where Kafka has it in a table.

    Attributes:
        quotas: how many partitions each member shall have.
    """

    def __init__(
        self,
        drafts: Sequence[Draft],
        subscribers: Sequence[int],
        held: Sequence[Sequence[Partition]],
        partitions: Sequence[Partition],
        code: Callable[[Partition], int],
    ) -> None:
        self._drafts = drafts
        self._partitions = partitions
        self._sharers = math.ceil(len(subscribers) / len(partitions)) if partitions else 0
        exact = self._sharers * len(partitions) / len(subscribers) if subscribers else 0.0
        self.quotas = [0] * len(drafts)
        for number, index in enumerate(subscribers):
            self.quotas[index] = math.ceil(exact * (number + 1)) - math.ceil(exact * number)
        self._by_partition = HashTable[Partition, HashTable[int, None]](code, capacity_for(len(partitions)))
        self._by_member = [HashTable[Partition, None](code) for _ in drafts]
        for index, each in enumerate(held):
            for partition in each:
                self._members_of(partition).put(index, None)
                self._by_member[index].put(partition, None)

    def assign(self) -> None:
        """Take partitions from members that have too many, and share them out."""
        for index, partitions in enumerate(self._by_member):
            for partition in [*partitions][: max(len(partitions) - self.quotas[index], 0)]:
                self._take(partition, index)
        for partition in self._by_partition:
            members = self._members_of(partition)
            for index in [*members][: max(len(members) - self._sharers, 0)]:
                self._take(partition, index)
        for partition in self._partitions:
            self._members_of(partition)
        self._share_out()

    def _share_out(self) -> None:
        unfilled = [index for index, each in enumerate(self._by_member) if len(each) < self.quotas[index]]
        turn, has_given = iter(unfilled), False
        for partition in self._by_partition:
            members = self._members_of(partition)
            missing = self._sharers - len(members)
            while missing > 0:
                index = next(turn, None)
                if index is None:
                    # A new turn, unless all members that are left have this partition.
                    unfilled = [each for each in unfilled if len(self._by_member[each]) < self.quotas[each]]
                    if not has_given or not unfilled:
                        break
                    turn, has_given = iter(unfilled), False
                elif index not in members:
                    self._drafts[index].add(*partition)
                    self._by_member[index].put(partition, None)
                    missing -= 1
                    has_given = True

    def _members_of(self, partition: Partition) -> HashTable[int, None]:
        return self._by_partition.get_or_make(partition, _no_members)

    def _take(self, partition: Partition, index: int) -> None:
        self._drafts[index].remove(*partition, keeps_topic=True)
        self._members_of(partition).remove(index)
        self._by_member[index].remove(partition)


def _no_members() -> HashTable[int, None]:
    return HashTable(int_hash)


def _partition_hash(partition: Partition) -> int:
    return int_hash(partition[1])


def _topic_partition_hash(partition: Partition) -> int:
    """The hash of a ``TopicIdPartition``."""
    return (31 * uuid_hash(partition[0]) + partition[1]) % _INT32
