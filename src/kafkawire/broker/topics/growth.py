"""Addition of partitions to topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH, Controller
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.item_errors import ItemError, item_error
from kafkawire.broker.topics.placement import Placement
from kafkawire.protocol import CreatePartitionsRequest, PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.wire.kafka_errors import ApiError

_FIRST: Final = 0


class _Addition(NamedTuple):
    """Partitions to add.

    Attributes:
        topic: the topic.
        size: how many.
        assigned: the brokers of each, as the request assigns them; None if the placement chooses them.
    """

    topic: Topic
    size: int
    assigned: Sequence[Sequence[int]] | None


class TopicGrowth:
    """Adds partitions.

    Args:
        controller: commits the records.
        placement: where partitions go.
    """

    def __init__(self, controller: Controller, placement: Placement) -> None:
        self._controller = controller
        self._placement = placement

    async def grow(
        self,
        topics: Sequence[CreatePartitionsRequest.CreatePartitionsTopic],
        take: Callable[[int], None],
        *,
        validate_only: bool = False,
    ) -> dict[str, ItemError | None]:
        """Add partitions to topics, in one commit.

        Args:
            topics: each name once, with the new number of partitions.
            take: takes a number of partitions from a quota; raises ThrottlingQuotaExceededError.
            validate_only: whether to do everything except the commit.

        Returns:
            For each name, in the order of the topics, the error, or None.

        Raises:
            PolicyViolationError: they would need too many records; none is added.
        """
        if len(topics) > MAXIMUM_RECORDS:
            raise PolicyViolationError(TOO_LARGE_BATCH)
        outcomes: dict[str, ItemError | None] = {}
        additions: list[_Addition] = []
        async with self._controller.turn:
            async for topic in in_slices(topics):
                try:
                    additions.append(self._addition(topic, take))
                    outcomes[topic.name] = None
                except (ItemError, ApiError) as error:
                    outcomes[topic.name] = item_error(error, f"adding partitions to {topic.name}").as_result()
            if sum(addition.size for addition in additions) > MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            if not validate_only:
                self._controller.commit([record for addition in additions for record in self._records(addition)])
        return outcomes

    def _addition(self, topic: CreatePartitionsRequest.CreatePartitionsTopic, take: Callable[[int], None]) -> _Addition:
        existing = self._controller.image.topics.by_name.get(topic.name)
        if existing is None:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        first = len(existing.partitions)
        if topic.count == first:
            raise ItemError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {first} partition(s).")
        if topic.count < first:
            message = (
                f"The topic {topic.name} currently has {first} partition(s); {topic.count} would not be an increase."
            )
            raise ItemError(ErrorCode.INVALID_PARTITIONS, message)
        added = topic.count - first
        assigned = None
        if topic.assignments is None:
            self._placement.check_replication_factor(_replication_factor(existing))
        else:
            assigned = self._assigned(topic.assignments, first, added, _replication_factor(existing))
        take(added)
        return _Addition(existing, added, assigned)

    def _records(self, addition: _Addition) -> Iterable[PartitionRecord]:
        topic, size, places = addition
        if places is None:
            places = self._placement.places(size, _replication_factor(topic))
        return self._placement.records(topic.topic_id, places, first=len(topic.partitions))

    def _assigned(
        self,
        assignments: Sequence[CreatePartitionsRequest.CreatePartitionsAssignment],
        first: int,
        added: int,
        replication_factor: int,
    ) -> Sequence[Sequence[int]]:
        if len(assignments) != added:
            message = (
                f"Attempted to add {added} additional partition(s), but only {len(assignments)} assignment(s) were "
                "specified."
            )
            raise ItemError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        for partition, assignment in enumerate(assignments, first):
            self._placement.check_assignment(assignment.broker_ids, replication_factor)
            self._placement.check_live(partition, assignment.broker_ids)
        return [assignment.broker_ids for assignment in assignments]


def _replication_factor(topic: Topic) -> int:
    return len(topic.partitions[_FIRST].replicas)
