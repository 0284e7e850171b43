"""Addition of partitions to topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH, Controller
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.item_errors import ItemError, item_error
from kafkawire.broker.topics.placement import Placement
from kafkawire.protocol import CreatePartitionsRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.wire.kafka_errors import ApiError

_REPLICATION_FACTOR: Final = 1


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
        added: list[tuple[Topic, range]] = []
        async with self._controller.turn:
            async for topic in in_slices(topics):
                try:
                    added.append(self._added(topic, take))
                    outcomes[topic.name] = None
                except (ItemError, ApiError) as error:
                    outcomes[topic.name] = item_error(error, f"adding partitions to {topic.name}").as_result()
            if sum(len(partitions) for _, partitions in added) > MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            if not validate_only:
                self._controller.commit(
                    [self._placement.record(topic.topic_id, at) for topic, partitions in added for at in partitions]
                )
        return outcomes

    def _added(
        self, topic: CreatePartitionsRequest.CreatePartitionsTopic, take: Callable[[int], None]
    ) -> tuple[Topic, range]:
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
        if topic.assignments is not None:
            self._check_assignments(topic.assignments, added)
        take(added)
        return existing, range(first, topic.count)

    def _check_assignments(
        self, assignments: Sequence[CreatePartitionsRequest.CreatePartitionsAssignment], added: int
    ) -> None:
        if len(assignments) != added:
            message = (
                f"Attempted to add {added} additional partition(s), but only {len(assignments)} assignment(s) were "
                "specified."
            )
            raise ItemError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        for assignment in assignments:
            self._placement.check_assignment(assignment.broker_ids, _REPLICATION_FACTOR)
