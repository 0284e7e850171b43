"""``uniform`` for members with different subscriptions: the rules of ``UniformHeterogeneousAssignmentBuilder``.

Members are balanced topic by topic, until no partition can move to a subscriber with at least two partitions fewer, or
sixteen rounds are over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkawire.broker.groups.assignors.assignment import Assignment, Draft, GroupSpec
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import uuid_rank

_ROUNDS: Final = 16
_NONE: Final = -1
_LOAD: Final = 0.75


def assign_unequal(spec: GroupSpec) -> Mapping[str, Assignment]:
    """What each member shall have."""
    balance = _Balance(spec)
    if not balance.owners:
        return {}
    balance.keep()
    balance.hand_out()
    balance.move()
    return {member_id: draft.result() for member_id, draft in balance.drafts.items()}


class _Balance:
    """The members by index, and who shall have which partition.

    Attributes:
        drafts: member id to what it shall have.
        owners: topic to the index of the member of each partition.
        loads: how many partitions each member shall have.
    """

    def __init__(self, spec: GroupSpec) -> None:
        self._spec = spec
        self._subscribers: dict[Uuid, list[int]] = {}
        for index, member in enumerate(spec.members.values()):
            for topic in member.topics:
                self._subscribers.setdefault(topic, []).append(index)
        self.drafts = {member_id: Draft(member.target) for member_id, member in spec.members.items()}
        self._by_index = [*self.drafts.values()]
        self.owners = {topic: [_NONE] * spec.partitions[topic] for topic in self._subscribers}
        self.loads = [0] * len(spec.members)

    def keep(self) -> None:
        """Members keep what they have of the topics that they subscribe to."""
        for index, member in enumerate(self._spec.members.values()):
            for topic, partitions in member.target.items():
                if topic not in member.topics:
                    self._by_index[index].remove_topic(topic)
                    continue
                self.loads[index] += len(partitions)
                for partition in partitions:
                    self.owners[topic][partition] = index

    def hand_out(self) -> None:
        """Give partitions without a member to the subscribers with the fewest."""
        for topic in self._sorted([topic for topic, owners in self.owners.items() if _NONE in owners]):
            ranks = _Ranks(self._subscribers[topic], self.loads)
            for partition, owner in enumerate(self.owners[topic]):
                if owner == _NONE:
                    self._give(topic, partition, ranks.next_least())

    def move(self) -> None:
        """Move partitions from the subscribers with the most to those with the fewest."""
        topics = self._sorted([topic for topic, members in self._subscribers.items() if len(members) > 1])
        last = _NONE
        for _ in range(_ROUNDS):
            for index, topic in enumerate(topics):
                if index == last:
                    return
                if self._move_of(topic) or last == _NONE:
                    last = index

    def _move_of(self, topic: Uuid) -> int:
        """Balance the subscribers of a topic with its partitions; returns how many moved."""
        ranks = _Ranks(self._subscribers[topic], self.loads)
        if ranks.imbalance <= 1:
            return 0
        owned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[topic]):
            owned.setdefault(owner, []).append(partition)
        moved = 0
        while not ranks.is_balanced():
            most = ranks.next_most()
            while most != _NONE and not owned.get(most):
                ranks.exclude_most()
                most = ranks.next_most()
            if most == _NONE:
                break
            partition = owned[most].pop()
            least = ranks.next_least()
            if ranks.is_balanced():
                break
            self._give(topic, partition, least)
            moved += 1
        return moved

    def _give(self, topic: Uuid, partition: int, index: int) -> None:
        before = self.owners[topic][partition]
        if before != _NONE:
            self._by_index[before].remove(topic, partition)
            self.loads[before] -= 1
        expected = -(-self._spec.partitions[topic] // len(self._subscribers[topic]))
        self._by_index[index].add(topic, partition, int(expected / _LOAD + 1))
        self.owners[topic][partition] = index
        self.loads[index] += 1

    def _sorted(self, topics: list[Uuid]) -> list[Uuid]:
        """The topics with the most partitions for each subscriber first."""

        def rank(topic: Uuid) -> tuple[float, int, tuple[int, int]]:
            subscribers = len(self._subscribers[topic])
            return -self._spec.partitions[topic] / subscribers, subscribers, uuid_rank(topic)

        return sorted(topics, key=rank)


class _Ranks:
    """The subscribers of a topic by their loads, from which the least and the most loaded are taken in turn.

    The loads of those that were taken change meanwhile: one that was taken counts with the load that it then gets.

    Args:
        members: the subscribers.
        loads: of all members.

    Attributes:
        imbalance: the difference between the most and the least loaded at first.
    """

    def __init__(self, members: list[int], loads: list[int]) -> None:
        self._loads = loads
        self._sorted = sorted(members, key=lambda index: (loads[index], index))
        self._least_end = 0
        self._least_load = loads[self._sorted[0]] - 1
        self._next_least = 0
        self._most_start = self._most_end = len(self._sorted)
        self._most_load = loads[self._sorted[-1]] + 1
        self._next_most = len(self._sorted) - 1
        self.imbalance = loads[self._sorted[-1]] - loads[self._sorted[0]]

    def is_balanced(self) -> bool:
        """Whether the loads differ by one at most."""
        return self._most_load - self._least_load <= 1

    def next_least(self) -> int:
        """The next of the least loaded; it gets a partition."""
        if self._next_least >= self._least_end:
            self._least_load += 1
            while self._least_end < len(self._sorted) and self._load(self._least_end) == self._least_load:
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._sorted[self._next_least - 1]

    def next_most(self) -> int:
        """The next of the most loaded, which loses a partition; -1 if there is none."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                self._most_load = self._load(self._most_start - 1)
            else:
                self._most_load -= 1
            while self._most_start > 0 and self._load(self._most_start - 1) == self._most_load:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return _NONE
        self._next_most -= 1
        return self._sorted[self._next_most + 1]

    def exclude_most(self) -> None:
        """The one that was returned last has no partition of the topic: leave it out."""
        at, end = self._next_most + 1, self._most_end - 1
        self._sorted[at], self._sorted[end] = self._sorted[end], self._sorted[at]
        self._most_end -= 1

    def _load(self, at: int) -> int:
        return self._loads[self._sorted[at]]
