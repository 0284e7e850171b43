"""Which brokers hold the replicas of partitions: new assignments that move little and spread evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kafkawire.model.partitions import TopicPartition

Assignment: TypeAlias = Mapping[TopicPartition, Sequence[int]]
"""Partition to the ids of its brokers, the preferred leader first."""


class PlacementError(ValueError):
    """There is no assignment as wanted."""


class PlacementGoal(msgspec.Struct, frozen=True, kw_only=True):
    """What an assignment must fulfil.

    Attributes:
        racks: id of each broker that may hold replicas to its rack, or to None.
        replication_factor: replicas of each partition; None for as many as it has.
        rebalance: whether replicas also move to spread those of a topic evenly, and preferred leaders likewise; else a
            replica moves only if its broker may not hold it.

    Raises:
        PlacementError: there are fewer brokers than replicas, or none.
    """

    racks: Mapping[int, str | None]
    replication_factor: int | None = None
    rebalance: bool = False

    def __post_init__(self) -> None:
        wanted = 1 if self.replication_factor is None else self.replication_factor
        if wanted < 1:
            raise PlacementError(f"a replication factor of {wanted}: it must be at least 1")
        if len(self.racks) < wanted:
            raise PlacementError(f"{wanted} replicas need as many brokers; there are {len(self.racks)}")


def new_assignment(current: Assignment, goal: PlacementGoal) -> dict[TopicPartition, tuple[int, ...]]:
    """The brokers of each partition after a reassignment.

    Args:
        current: the partitions, and their brokers now.
        goal: what to reach. Replicas of a partition are on as many racks as there are, as far as those that stay allow.

    Returns:
        All partitions, those that stay as they are included. The first broker stays the first where it may.

    Raises:
        PlacementError: a partition has more replicas than there are brokers.

    Example:
        ```python
        from kafkawire.model.placement import PlacementGoal, new_assignment
        from kafkawire.model.partitions import TopicPartition

        current = {TopicPartition("orders", 0): (1, 2), TopicPartition("orders", 1): (2, 3)}
        goal = PlacementGoal(racks={1: "a", 2: "b", 4: "c"})  # broker 3 leaves
        print(new_assignment(current, goal)[TopicPartition("orders", 1)])  # (2, 4)
        ```
    """
    by_topic: dict[str, list[TopicPartition]] = {}
    for partition in sorted(current):
        by_topic.setdefault(partition.topic, []).append(partition)
    replicas = Counter(broker for brokers in current.values() for broker in brokers if broker in goal.racks)
    placed: dict[TopicPartition, tuple[int, ...]] = {}
    for partitions in by_topic.values():
        topic = _Topic({partition: current[partition] for partition in partitions}, goal, replicas)
        placed |= topic.placed()
    return placed


class _Topic:
    """The replicas of a topic while they are placed.

    Args:
        current: its partitions and their brokers.
        goal: what to reach.
        replicas: how many replicas each broker has in all topics; kept up to date.
    """

    def __init__(self, current: Assignment, goal: PlacementGoal, replicas: Counter[int]) -> None:
        self._goal = goal
        self._total = replicas
        self._brokers: dict[TopicPartition, list[int]] = {}
        self._of_topic: Counter[int] = Counter()
        self._wanted: dict[TopicPartition, int] = {}
        for partition, brokers in current.items():
            self._wanted[partition] = self._number_of(partition, brokers)
            kept = [broker for broker in dict.fromkeys(brokers) if broker in goal.racks]
            self._brokers[partition] = kept
            self._of_topic.update(kept)

    def _number_of(self, partition: TopicPartition, brokers: Sequence[int]) -> int:
        number = len(brokers) if self._goal.replication_factor is None else self._goal.replication_factor
        if number > len(self._goal.racks):
            raise PlacementError(f"{partition} has {number} replicas, and there are {len(self._goal.racks)} brokers")
        return number

    def placed(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The brokers of each partition."""
        for partition, brokers in self._brokers.items():
            while len(brokers) > self._wanted[partition]:
                self._remove(partition, self._most_dispensable(brokers))
        for partition, brokers in self._brokers.items():
            while len(brokers) < self._wanted[partition]:
                self._add(partition, self._best_for(brokers))
        if self._goal.rebalance:
            while self._one_replica_moved():
                pass
            self._spread_leaders()
        return {partition: tuple(brokers) for partition, brokers in self._brokers.items()}

    def _add(self, partition: TopicPartition, broker: int) -> None:
        self._brokers[partition].append(broker)
        self._of_topic[broker] += 1
        self._total[broker] += 1

    def _remove(self, partition: TopicPartition, broker: int) -> None:
        self._brokers[partition].remove(broker)
        self._of_topic[broker] -= 1
        self._total[broker] -= 1

    def _best_for(self, brokers: Sequence[int]) -> int:
        """The broker for one more replica: on a rack of its own, with the fewest replicas of the topic, and of all."""
        racks = Counter(map(self._rack, brokers))
        candidates = (broker for broker in self._goal.racks if broker not in brokers)
        return min(
            candidates, key=lambda each: (racks[self._rack(each)], self._of_topic[each], self._total[each], each)
        )

    def _most_dispensable(self, brokers: Sequence[int]) -> int:
        """A follower on a rack with others, then on the broker with the most replicas."""
        racks = Counter(map(self._rack, brokers))
        return max(brokers[1:], key=lambda each: (racks[self._rack(each)] > 1, self._of_topic[each], self._total[each]))

    def _rack(self, broker: int) -> str:
        """Brokers without a rack are each on one of their own."""
        rack = self._goal.racks[broker]
        return f"\0{broker}" if rack is None else rack

    def _one_replica_moved(self) -> bool:
        """Move a replica from the broker with the most to one with at least two fewer; whether there was one."""
        counts = sorted(self._goal.racks, key=lambda broker: (self._of_topic[broker], broker))
        for source in reversed(counts):
            for target in counts:
                if self._of_topic[source] - self._of_topic[target] < 2:
                    break
                partition = next(self._movable(source, target), None)
                if partition is not None:
                    self._replace(partition, source, target)
                    return True
        return False

    def _movable(self, source: int, target: int) -> Iterator[TopicPartition]:
        """Partitions whose replica may move; those that the source does not lead come first."""
        held = [each for each, brokers in self._brokers.items() if source in brokers and target not in brokers]
        for partition in sorted(held, key=lambda each: self._brokers[each][0] == source):
            brokers = self._brokers[partition]
            moved = [target if broker == source else broker for broker in brokers]
            if self._number_of_racks(moved) >= self._number_of_racks(brokers):
                yield partition

    def _number_of_racks(self, brokers: Iterable[int]) -> int:
        return len(set(map(self._rack, brokers)))

    def _replace(self, partition: TopicPartition, source: int, target: int) -> None:
        brokers = self._brokers[partition]
        brokers[brokers.index(source)] = target
        self._of_topic.update({source: -1, target: 1})
        self._total.update({source: -1, target: 1})

    def _spread_leaders(self) -> None:
        """Put that replica first whose broker leads the fewest partitions of the topic so far; no data moves."""
        leaders = Counter(brokers[0] for brokers in self._brokers.values())
        fair = -(-len(self._brokers) // len(self._goal.racks))
        for brokers in self._brokers.values():
            best = min(brokers, key=lambda broker: leaders[broker])
            if leaders[brokers[0]] > fair and leaders[best] < fair:
                leaders.update({brokers[0]: -1, best: 1})
                brokers.remove(best)
                brokers.insert(0, best)
