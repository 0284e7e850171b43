"""AlterPartitionReassignments and ListPartitionReassignments (KIP-455, KIP-860)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topics.partition_changes import (
    any_leader,
    change_record,
    is_being_reassigned,
    reassigned,
    reverted,
)
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    PartitionChangeRecord,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError

_UNAUTHORIZED: Final = Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")

_Asked = AlterPartitionReassignmentsRequest.ReassignablePartition
_Altered = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
_Result = AlterPartitionReassignmentsResponse.ReassignablePartitionResponse
_OngoingTopic = ListPartitionReassignmentsResponse.OngoingTopicReassignment
_Ongoing = ListPartitionReassignmentsResponse.OngoingPartitionReassignment


class ReassignmentHandlers:
    """Put partitions on other brokers, and list those that wait for a fenced one."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._topics = context.controller.image.topics
        self._placement = context.placement
        self._nodes = context.nodes
        self._rules = context.rules
        self._access = context.access
        self.apis = (
            ServedApi(AlterPartitionReassignmentsRequest, self._alter, 0, 1),
            ServedApi(ListPartitionReassignmentsRequest, self._list, 0, 0, refuse=_refuse_list),
        )

    async def _alter(
        self, request: AlterPartitionReassignmentsRequest, call: Call
    ) -> AlterPartitionReassignmentsResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return _UNAUTHORIZED
        may_grow = request.allow_replication_factor_change
        async with self._controller.turn:
            records: list[PartitionChangeRecord] = []
            results = [
                _Altered(topic.name, tuple(self._result(topic.name, p, records, may_grow) for p in topic.partitions))
                async for topic in in_slices(request.topics)
            ]
            if len(records) > MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            self._controller.commit(records)
        return AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=may_grow,
            error_message=None if results else "",
            responses=tuple(results),
        )

    def _result(self, name: str, asked: _Asked, records: list[PartitionChangeRecord], may_grow: bool) -> _Result:
        try:
            record = self._record(name, asked, may_grow=may_grow)
        except ItemError as error:
            return _Result(asked.partition_index, error.code, error.message)
        if record is not None:
            records.append(record)
        return _Result(asked.partition_index, error_message=None)

    def _record(self, name: str, asked: _Asked, *, may_grow: bool) -> PartitionChangeRecord | None:
        topic = self._topics.by_name.get(name)
        if topic is None:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
        partition = topic.partitions.get(asked.partition_index)
        if partition is None:
            reason = f"Unable to find partition {name}:{asked.partition_index}."
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
        unclean = self._rules.of(name).unclean_elections
        if asked.replicas is None:
            target = reverted(partition, unclean=unclean)
        else:
            self._placement.check_assignment(asked.replicas, None)
            size = len(partition.replicas) - len(partition.adding_replicas)
            if not may_grow and len(asked.replicas) != size:
                reason = f"The replication factor is changed from {size} to {len(asked.replicas)}"
                raise ItemError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
            target = reassigned(partition, asked.replicas, self._nodes)
        leader = any_leader(partition, target, self._nodes, unclean=unclean and asked.replicas is None)
        return change_record(topic.topic_id, partition, target, leader, self._nodes)

    async def _list(
        self, request: ListPartitionReassignmentsRequest, call: Call
    ) -> ListPartitionReassignmentsResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE):
            return _UNAUTHORIZED
        asked: list[tuple[str, Iterable[int] | None]] = [(name, None) for name in self._topics.by_name]
        if request.topics is not None:
            asked = [(topic.name, topic.partition_indexes) for topic in request.topics]
        topics = [
            listed
            async for name, numbers in in_slices(asked)
            if (topic := self._topics.by_name.get(name)) is not None and (listed := _ongoing(topic, numbers)).partitions
        ]
        return ListPartitionReassignmentsResponse(error_message=None, topics=tuple(topics))


def _refuse_list(
    request: ListPartitionReassignmentsRequest,
    _version: int,
    code: int,
    *,
    message: str | None = None,
    throttle_time_ms: int = 0,
) -> ListPartitionReassignmentsResponse:
    """The error, with the partitions of the request."""
    topics = (
        _OngoingTopic(topic.name, tuple(map(_Ongoing, topic.partition_indexes))) for topic in request.topics or ()
    )
    return ListPartitionReassignmentsResponse(throttle_time_ms, code, message, tuple(topics))


def _ongoing(topic: Topic, numbers: Iterable[int] | None) -> _OngoingTopic:
    """The partitions of a topic that wait for replicas; all that do for None."""
    found = (topic.partitions.get(number) for number in (topic.partitions if numbers is None else numbers))
    return _OngoingTopic(
        topic.name,
        tuple(
            _Ongoing(one.partition_id, one.replicas, one.adding_replicas, one.removing_replicas)
            for one in found
            if one is not None and is_being_reassigned(one)
        ),
    )
