"""Base classes of operations that group coordinators serve, and partitions in their messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import ClassVar, Protocol, TypeAlias, TypeVar

import msgspec

from kafkawire.admin.engine.operation import K, Operation, R, V
from kafkawire.admin.engine.route import CoordinatorOf, CoordinatorType, Route
from kafkawire.admin.operations.partitions import by_topic
from kafkawire.admin.results import Results
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import UnknownServerError
from kafkawire.wire.kafka_errors import KafkaError

AFTER_REBALANCE: frozenset[int] = frozenset({ErrorCode.REBALANCE_IN_PROGRESS})
"""A group is changed after its rebalance."""


class OfGroups(Operation[str, V, R]):
    """Its items are group ids; all groups of a coordinator share requests."""

    def route_of(self, item: str) -> Route:
        return CoordinatorOf(CoordinatorType.GROUP, item)


class InGroup(Operation[K, V, R]):
    """Its items are in one group.

    Args:
        group_id: the group.
    """

    retried_codes: ClassVar[frozenset[int]] = AFTER_REBALANCE

    def __init__(self, group_id: str) -> None:
        self.route = CoordinatorOf(CoordinatorType.GROUP, group_id)
        self._group_id = group_id


class PartitionOfGroup(msgspec.Struct, frozen=True):
    """A partition of one group.

    Attributes:
        group_id: the group.
        partition: the partition.
    """

    group_id: str
    partition: TopicPartition


class InGroups(Operation[PartitionOfGroup, V, R]):
    """Its items are partitions of groups; each group has requests of its own, those of all groups are pipelined."""

    retried_codes: ClassVar[frozenset[int]] = AFTER_REBALANCE

    def route_of(self, item: PartitionOfGroup) -> Route:
        return CoordinatorOf(CoordinatorType.GROUP, item.group_id)

    def group_key(self, item: PartitionOfGroup) -> str:
        return item.group_id


T = TypeVar("T")
PartitionsOfGroups: TypeAlias = Mapping[str, Collection[TopicPartition] | None]
"""Group to its requested partitions; None for all that it has offsets for."""


class OffsetsOfGroups(OfGroups[V, R]):
    """Base of the operations that read the offsets of groups.

    Args:
        partitions: the requested partitions of each group.
    """

    def __init__(self, partitions: PartitionsOfGroups) -> None:
        self._partitions = partitions

    def _topics(self, group_id: str, topic: Callable[[str, tuple[int, ...]], T]) -> tuple[T, ...] | None:
        """The requested topics of a group, as structs of the request; None for all."""
        wanted = self._partitions[group_id]
        return None if wanted is None else tuple(topic(name, tuple(numbers)) for name, numbers in by_topic(wanted))


class _Topic(Protocol):
    @property
    def topic_name(self) -> str: ...
    @property
    def partitions(self) -> Iterable[int]: ...


def assigned(topics: Iterable[_Topic]) -> tuple[TopicPartition, ...]:
    """The partitions of an assignment, in order."""
    return tuple(sorted(TopicPartition(topic.topic_name, number) for topic in topics for number in topic.partitions))


def of_partitions(
    found: Mapping[TopicPartition, T | KafkaError], wanted: Collection[TopicPartition] | None, node: int
) -> Results[TopicPartition, T]:
    """The results for the partitions of a group.

    Args:
        found: the outcomes in the answer.
        wanted: the requested partitions; None for all in the answer.
        node: id of the node that answered.
    """
    outcomes = dict(found)
    for partition in wanted or ():
        outcomes.setdefault(partition, UnknownServerError("the answer has no result for this partition"))
    for outcome in outcomes.values():
        if isinstance(outcome, KafkaError):
            outcome.node = node
    return Results(outcomes, wanted)
