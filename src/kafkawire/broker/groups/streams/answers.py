"""The answers of a streams group to heartbeats, and what they have that no record has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kafkawire.broker.groups.assignors.tasks import Partitions
from kafkawire.broker.groups.streams.endpoints import by_endpoint
from kafkawire.broker.groups.streams.group_state import StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.partition_counts import PartitionsOf
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.groups.streams.topology import ConfiguredTopology
from kafkawire.model.java_order import in_java_order, java_hash, timeline_order
from kafkawire.protocol import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse

Status: TypeAlias = StreamsGroupHeartbeatResponse.Status


class Answers:
    """Makes the answers of a group.

    Args:
        state: of the group.
        settings: the broker's.
        partitions_of: the partition count of a topic; None if there is no such topic.
    """

    def __init__(self, state: StreamsGroupState, settings: StreamsGroupSettings, partitions_of: PartitionsOf) -> None:
        self._state = state
        self._settings = settings
        self._partitions_of = partitions_of
        self._endpoint_epoch = 0
        self._requested_shutdown: str | None = None

    def answer(
        self,
        request: StreamsGroupHeartbeatRequest,
        before: StreamsMember,
        member: StreamsMember,
        configured: ConfiguredTopology,
        status: Sequence[Status],
    ) -> StreamsGroupHeartbeatResponse:
        """The answer to a heartbeat.

        Args:
            request: the heartbeat.
            before: the member before it.
            member: the member after it.
            configured: the topology of the group with the topics.
            status: conditions that come first.

        Raises:
            GroupError: a member has an endpoint while the topology is not ready, which Kafka does not expect.
        """
        has_news = request.member_epoch == 0 or before.assigned != member.assigned
        endpoint_epoch = self._endpoint_epoch + self._has_endpoint_news(request, before, member)
        of_endpoints = None
        if endpoint_epoch != request.endpoint_information_epoch:
            others = (self._state.members[each] for each in timeline_order(self._state.members, java_hash))
            others_and_own = (*(each for each in others if each.member_id != member.member_id), member)
            of_endpoints = by_endpoint(
                others_and_own, configured.subtopologies, self._partitions_of, is_later=self._settings.is_later
            )
        self._endpoint_epoch = endpoint_epoch
        tasks, group_id = member.assigned.tasks, self._state.group_id
        return StreamsGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self._settings.heartbeat_ms(group_id),
            task_offset_interval_ms=self._settings.task_offset_ms,
            acceptable_recovery_lag=self._settings.recovery_lag,
            status=(*status, *self._conditions(configured)),
            active_tasks=_task_ids(tasks.active) if has_news else None,
            standby_tasks=_task_ids(tasks.standby) if has_news else None,
            warmup_tasks=_task_ids(tasks.warmup) if has_news else None,
            endpoint_information_epoch=endpoint_epoch,
            partitions_by_user_endpoint=of_endpoints,
        )

    def note_shutdown(self, request: StreamsGroupHeartbeatRequest) -> None:
        """Note whether a member wants all of its application to end; all others learn of the first one that does."""
        if request.shutdown_application:
            self._requested_shutdown = self._requested_shutdown or request.member_id

    def end_shutdown(self) -> None:
        """The group has no members any more."""
        self._requested_shutdown = None

    def forget(self) -> None:
        """Forget what no record has."""
        self._endpoint_epoch, self._requested_shutdown = 0, None

    def _conditions(self, configured: ConfiguredTopology) -> Sequence[Status]:
        conditions = list[Status]()
        if configured.problem is not None:
            conditions.append(Status(configured.problem.status, configured.problem.detail))
        if self._requested_shutdown is not None:
            detail = "encountered a fatal error and requested a shutdown for the entire application."
            member = f"Streams group member {self._requested_shutdown} {detail}"
            conditions.append(Status(StreamsStatus.SHUTDOWN_APPLICATION, member))
        return conditions

    def _has_endpoint_news(
        self, request: StreamsGroupHeartbeatRequest, before: StreamsMember, member: StreamsMember
    ) -> bool:
        """Whether other members must hear of the partitions of a member again."""
        has_other_tasks = before.assigned != member.assigned
        if self._settings.is_later:
            return before.endpoint != member.endpoint or (has_other_tasks and member.endpoint is not None)
        return member.endpoint is not None and (request.member_epoch == 0 or has_other_tasks)


def _task_ids(partitions: Partitions) -> tuple[StreamsGroupHeartbeatResponse.TaskIds, ...]:
    ids = StreamsGroupHeartbeatResponse.TaskIds
    return tuple(ids(subtopology, partitions[subtopology]) for subtopology in in_java_order(partitions))
