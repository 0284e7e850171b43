"""A streams group of KIP-1071: heartbeats and times in; answers, records and timers out.

The rules are those of Apache Kafka 4.3 (``GroupMetadataManager``). Nothing here waits or writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.assigned_group import NO_ROOM, AssignedGroup
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, Partitions, Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams import joining, target_assignment
from kafkawire.broker.groups.streams.endpoints import by_endpoint
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState, StreamsKey
from kafkawire.broker.groups.streams.long_work import AT_ONCE, Work
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import Task
from kafkawire.broker.groups.streams.reconciliation import Aim, check_state, reconciled
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.states import StreamsMemberState
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.groups.streams.topology import ConfiguredTopology, InternalTopic, configured_topology
from kafkawire.broker.groups.timers import Now, TimerKind
from kafkawire.broker.groups.topics import KnownTopics, hashes_of
from kafkawire.model.java_order import in_java_order, java_hash, timeline_order
from kafkawire.protocol import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)
from kafkawire.protocol.error_codes import ErrorCode

_STANDBY_REPLICAS: Final = "num.standby.replicas"
_NOT_VALIDATED: Final = -1
_STALE: Final = "behind"
_TASK_BYTES: Final = 300
"""About how much memory a task of a member takes."""
_LONG: Final = 1000
"""How many steps of some microseconds each may be done at once."""
_TOPIC: Final = 10
"""The steps for a topic that is hashed; each of its partitions is one more."""
_MEMBER: Final = 5
"""The steps for a member that gets tasks; each of these is one more."""

Status = StreamsGroupHeartbeatResponse.Status


class Answer(NamedTuple):
    """What follows from a heartbeat.

    Attributes:
        response: for the client.
        internal_topics: those that are to be created, by name.
    """

    response: StreamsGroupHeartbeatResponse
    internal_topics: Mapping[str, InternalTopic]


class _Metadata(NamedTuple):
    """What a heartbeat finds of the topics.

    Attributes:
        configured: the topology with the topics.
        metadata_hash: of the topics.
        validated_epoch: of the topology if it is ready.
    """

    configured: ConfiguredTopology
    metadata_hash: int
    validated_epoch: int


class _Target(NamedTuple):
    """A target assignment.

    Attributes:
        epoch: of it.
        tasks: of the member.
    """

    epoch: int
    tasks: Tasks


class StreamsGroup(AssignedGroup[StreamsKey]):
    """A group with its timers: each method takes an event and its time, and ``changes`` returns the records to write.

    Args:
        group_id: its id.
        records: the records that it has.
        settings: the broker's.
        topics: of the cluster.
        now: begins the sessions of the members in the records.

    Attributes:
        state: the records, folded.
        configured: the topology with the topics, as of the last heartbeat; None before the first.
        size_of_tasks: the part of ``size`` for the tasks, as of the last heartbeat.
    """

    def __init__(
        self,
        group_id: str,
        records: Iterable[StreamsChange],
        settings: StreamsGroupSettings,
        topics: KnownTopics,
        now: Now,
    ) -> None:
        self.state = StreamsGroupState(group_id, records)
        super().__init__(self.state, topics, "streams", settings.most_members)
        self.configured: ConfiguredTopology | None = None
        self._settings = settings
        self._looked_at = -1
        self.size_of_tasks = 0
        self._is_recorded = self.state.topology is not None
        self._endpoint_epoch = 0
        self._requested_shutdown: str | None = None
        if self.state.topology is not None:
            self.size += _size(self.state.topology)
        for member in self.state.members.values():
            self._begin_session(member.member_id, now)
            self._time_revocation(member, now)

    # Heartbeats.

    def heartbeat(
        self,
        request: StreamsGroupHeartbeatRequest,
        client: tuple[str, str],
        now: Now,
        work: Work = AT_ONCE,
        has_room: Callable[[int], bool] = lambda _: True,
    ) -> Answer:
        """A member joins, or lives.

        Args:
            request: the request.
            client: id and host of the client, the host as Kafka records it (``/127.0.0.1``).
            now: the time.
            work: finds what may take long.
            has_room: whether the group may take a number of bytes more.

        Raises:
            GroupError: it is refused; nothing has changed then.
            LongWorkError: it is to be tried again after some work; nothing has changed then.
        """
        before = self._known(request)
        after = joining.updated(before, request, client)
        topology = self._checked_topology(request, work)
        status = [*self._stale(after)]
        metadata = self._configure(topology, request, work)
        more = self._size_of_tasks(metadata.configured) - self.size_of_tasks
        if more > 0 and not has_room(more):
            raise GroupError(ErrorCode.GROUP_MAX_SIZE_REACHED, NO_ROOM)
        reported = joining.reported(request)
        check_state(after, reported)
        records = [*self._brought(before, after, topology)]
        epoch = self._begin_epoch(metadata, records, has_changed=after != before)
        if self.is_empty:
            self._delay(now)
        reasons = self._reasons_to_wait(epoch, now)
        status += reasons
        target = _Target(self.state.assignment_epoch, self.state.target(after.member_id))
        if timers.ASSIGNMENT in self.timers:
            target = target._replace(tasks=NO_TASKS)
        elif epoch > self.state.assignment_epoch and not reasons:
            targets = self._targets(after, metadata.configured, work)
            records += self._targeted(epoch, targets, now)
            target = _Target(epoch, targets[after.member_id])
        aim = Aim(*target, reported, lambda task: self._is_unreleased(task, after))
        last = after if after.is_reconciled_to(target.epoch) else reconciled(after, aim)
        if last != after:
            records.append((StreamsGroupCurrentMemberAssignmentKey(self.group_id, last.member_id), last.current))
        response = self._answer(request, before, last, metadata.configured, status)
        self._looked_at = self._topics.changes
        self.size_of_tasks += more
        self.size += more + (0 if self.state.topology is not None else _size(topology))
        for record in records:
            self._write(*record)
        if last != after:
            self._time_revocation(last, now)
        self._begin_session(last.member_id, now)
        return Answer(response, metadata.configured.internal_topics if metadata.configured.problem is not None else {})

    def _known(self, request: StreamsGroupHeartbeatRequest) -> StreamsMember:
        """The member that sends a heartbeat; a new one if it joins."""
        is_joining = request.member_epoch == 0
        if is_joining and len(self.state.members) >= self._most_members:
            reason = f"The streams group has reached its maximum capacity of {self._most_members} members."
            raise GroupError(ErrorCode.GROUP_MAX_SIZE_REACHED, reason)
        member = self.state.members.get(request.member_id)
        if member is None and not is_joining:
            raise self._unknown(request.member_id)
        member = member or StreamsMember(request.member_id)
        joining.check_epoch(member, request)
        return member

    def _size_of_tasks(self, configured: ConfiguredTopology) -> int:
        return _TASK_BYTES * configured.tasks * (1 + self._settings.standby_replicas(self.group_id))

    def _stale(self, member: StreamsMember) -> Iterable[Status]:
        topology = self.state.topology
        if topology is not None and member.topology_epoch < topology.epoch:
            own, groups = (f"topology epoch {epoch}" for epoch in (member.topology_epoch, topology.epoch))
            yield Status(StreamsStatus.STALE_TOPOLOGY, f"The member's {own} is {_STALE} the group's {groups}.")

    def _checked_topology(self, request: StreamsGroupHeartbeatRequest, work: Work) -> StreamsGroupTopologyValue:
        known, asked = self.state.topology, request.topology
        is_long = asked is not None and is_large(asked)
        return work.result(joining.checked_topology, known, asked, is_long=is_long)

    def _configure(
        self, topology: StreamsGroupTopologyValue, request: StreamsGroupHeartbeatRequest, work: Work
    ) -> _Metadata:
        """Look at the topics again if the topology is new or they may have changed."""
        configured, metadata_hash = self.configured, self.state.metadata_hash
        is_new = self.state.topology is None
        if is_new or configured is None or self._looked_at != self._topics.changes:
            counts = self._topics.counts_of(_required(topology))
            unhashed = self._topics.unhashed(counts)
            is_long = sum(_TOPIC + len(each.partitions) for each in unhashed) > _LONG
            self._topics.learn(work.result(hashes_of, unhashed, is_long=is_long))
            metadata_hash = self._topics.hash_of(counts)
            if is_new or configured is None or metadata_hash != self.state.metadata_hash:
                configured = work.result(_configured, topology, counts, is_long=is_large(topology))
        if configured.is_ready:
            joining.check_tasks(configured.subtopologies, request)
        self.configured = configured
        return _Metadata(configured, metadata_hash, topology.epoch if configured.is_ready else _NOT_VALIDATED)

    def _brought(
        self, before: StreamsMember, after: StreamsMember, topology: StreamsGroupTopologyValue
    ) -> Iterable[StreamsChange]:
        """The records of what a member brings."""
        if after != before:
            yield StreamsGroupMemberMetadataKey(self.group_id, after.member_id), after.metadata
        if self.state.topology is None:
            yield StreamsGroupTopologyKey(self.group_id), topology

    def _begin_epoch(self, metadata: _Metadata, records: list[StreamsChange], *, has_changed: bool) -> int:
        """Begin an epoch if it must; returns the epoch."""
        state = self.state
        configs = {_STANDBY_REPLICAS: str(self._settings.standby_replicas(self.group_id))}
        must_bump = (
            has_changed
            or metadata.metadata_hash != state.metadata_hash
            or metadata.validated_epoch != state.validated_topology_epoch
            or configs != state.assignment_configs
        )
        if must_bump:
            records.append(self._metadata(metadata.metadata_hash, metadata.validated_epoch, configs))
        return state.epoch + must_bump

    def _metadata(self, metadata_hash: int, validated_epoch: int, configs: Mapping[str, str]) -> StreamsChange:
        """The record of a new epoch."""
        config = StreamsGroupMetadataValue.LastAssignmentConfig
        value = StreamsGroupMetadataValue(
            self.state.epoch + 1,
            metadata_hash,
            validated_epoch,
            tuple(config(name, configs[name]) for name in sorted(configs)),
        )
        return StreamsGroupMetadataKey(self.group_id), value

    def _is_unreleased(self, task: Task, member: StreamsMember) -> bool:
        return self.state.owners.is_unreleased(task, member.process_id)

    # Target assignments.

    def _delay(self, now: Now) -> None:
        """Let a group without members wait for more of them before it assigns tasks."""
        delay = self._settings.initial_delay_ms(self.group_id)
        if delay > 0 and timers.ASSIGNMENT not in self.timers:
            self.timers.set(timers.ASSIGNMENT, now.seconds + delay / 1000)

    def _reasons_to_wait(self, epoch: int, now: Now) -> Sequence[Status]:
        """Why no target assignment is computed, though there may be a new epoch."""
        if timers.ASSIGNMENT in self.timers:
            return (_delayed("initial rebalance delay"),)
        is_too_early = epoch > self.state.assignment_epoch and not self._is_due(now)
        return (_delayed("assignment interval"),) if is_too_early else ()

    def _targets(self, member: StreamsMember, configured: ConfiguredTopology, work: Work) -> Mapping[str, Tasks]:
        specs = target_assignment.specs
        known, updated = specs(self.state, self.state.members.values()), specs(self.state, (member,))
        replicas = self._settings.standby_replicas(self.group_id)
        is_long = _is_long(configured, replicas, len(known))
        return work.result(target_assignment.target_assignment, known, updated, configured, replicas, is_long=is_long)

    def _is_due(self, now: Now) -> bool:
        interval, last = self._settings.assignment_ms(self.group_id), self.state.assigned_at_ms
        return not last or not interval or now.ms >= last + interval

    def _targeted(self, epoch: int, targets: Mapping[str, Tasks], now: Now) -> Iterable[StreamsChange]:
        yield from target_assignment.changes(self.state, targets)
        value = StreamsGroupTargetAssignmentMetadataValue(epoch, now.ms)
        yield StreamsGroupTargetAssignmentMetadataKey(self.group_id), value

    def _assign_after_delay(self, now: Now) -> None:
        state, configured = self.state, self.configured
        if not state.members or state.epoch <= state.assignment_epoch or configured is None or not self._is_due(now):
            return
        standby_replicas = int(state.assignment_configs.get(_STANDBY_REPLICAS, "0"))
        if _is_long(configured, standby_replicas, len(state.members)):
            return  # the next heartbeat does it
        known = target_assignment.specs(state, state.members.values())
        targets = target_assignment.target_assignment(known, {}, configured, standby_replicas)
        for record in [*self._targeted(state.epoch, targets, now)]:
            self._write(*record)

    # Answers.

    def _answer(
        self,
        request: StreamsGroupHeartbeatRequest,
        before: StreamsMember,
        member: StreamsMember,
        configured: ConfiguredTopology,
        status: list[Status],
    ) -> StreamsGroupHeartbeatResponse:
        if request.shutdown_application:
            self._requested_shutdown = self._requested_shutdown or member.member_id
        has_news = request.member_epoch == 0 or before.assigned != member.assigned
        endpoint_epoch = self._endpoint_epoch + (has_news and member.endpoint is not None)
        of_endpoints = None
        if endpoint_epoch != request.endpoint_information_epoch:
            others = (self.state.members[each] for each in timeline_order(self.state.members, java_hash))
            others_and_own = (*(each for each in others if each.member_id != member.member_id), member)
            of_endpoints = by_endpoint(others_and_own, configured.subtopologies, self._partitions_of)
        if configured.problem is not None:
            status.append(Status(configured.problem.status, configured.problem.detail))
        if self._requested_shutdown is not None:
            detail = "encountered a fatal error and requested a shutdown for the entire application."
            status.append(
                Status(StreamsStatus.SHUTDOWN_APPLICATION, f"Streams group member {self._requested_shutdown} {detail}")
            )
        tasks = member.assigned.tasks
        response = StreamsGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self._settings.heartbeat_ms(self.group_id),
            status=tuple(status),
            active_tasks=_task_ids(tasks.active) if has_news else None,
            standby_tasks=_task_ids(tasks.standby) if has_news else None,
            warmup_tasks=_task_ids(tasks.warmup) if has_news else None,
            endpoint_information_epoch=endpoint_epoch if self._is_recorded else 0,
            partitions_by_user_endpoint=of_endpoints,
        )
        self._endpoint_epoch = endpoint_epoch
        if not self._is_recorded:
            self._forget_unrecorded()
        return response

    def _forget_unrecorded(self) -> None:
        """Forget what is not in records: Kafka makes a group again from them after the heartbeat that creates it."""
        self._is_recorded = True
        self.configured, self._endpoint_epoch, self._requested_shutdown = None, 0, None

    # Members that leave, and timers.

    def leave(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        """A member leaves.

        Raises:
            GroupError: it is none.
        """
        if request.shutdown_application:
            self._requested_shutdown = self._requested_shutdown or request.member_id
        if request.member_id not in self.state.members:
            raise self._unknown(request.member_id)
        self._fence(request.member_id)
        return StreamsGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def expire(self, now: Now) -> None:
        """Let the timers fire that are due, the earliest first."""
        for timer in self.timers.due(now.seconds):
            if timer.kind is TimerKind.ASSIGNMENT:
                self._assign_after_delay(now)
            elif timer.member_id in self.state.members:
                self._fence(timer.member_id)

    def _fence(self, member_id: str) -> None:
        for timer in timers.of_member(member_id):
            self.timers.cancel(timer)
        state = self.state
        record = self._metadata(state.metadata_hash, state.validated_topology_epoch, state.assignment_configs)
        self._write(StreamsGroupCurrentMemberAssignmentKey(self.group_id, member_id), None)
        self._write(StreamsGroupTargetAssignmentMemberKey(self.group_id, member_id), None)
        self._write(StreamsGroupMemberMetadataKey(self.group_id, member_id), None)
        self._write(*record)
        if self.is_empty:
            self._requested_shutdown = None
            self.size -= self.size_of_tasks
            self.size_of_tasks = 0

    def _begin_session(self, member_id: str, now: Now) -> None:
        session = self._settings.session_ms(self.group_id)
        self.timers.set(timers.session(member_id), now.seconds + session / 1000)

    def _time_revocation(self, member: StreamsMember, now: Now) -> None:
        timer = timers.revocation(member.member_id)
        if member.state is StreamsMemberState.UNREVOKED_TASKS:
            self.timers.set(timer, now.seconds + max(member.rebalance_timeout_ms, 0) / 1000)
        else:
            self.timers.cancel(timer)

    def _partitions_of(self, name: str) -> int | None:
        topic = self._topics.id_of(name)
        return None if topic is None else self._topics.partitions_of(topic)


def _configured(topology: StreamsGroupTopologyValue, counts: Mapping[str, int]) -> ConfiguredTopology:
    return configured_topology(topology, counts.get)


def _is_long(configured: ConfiguredTopology, standby_replicas: int, members: int) -> bool:
    """Whether it takes long to assign tasks."""
    return configured.tasks * (1 + standby_replicas) + _MEMBER * members > _LONG


def is_large(topology: StreamsGroupTopologyValue | StreamsGroupHeartbeatRequest.Topology) -> bool:
    """Whether it takes long to find out what a topology means: it has many topics, configurations or groups."""
    most = _LONG
    for each in topology.subtopologies:
        topics = (*each.repartition_source_topics, *each.state_changelog_topics)
        most -= 1 + len(each.source_topics) + len(each.repartition_sink_topics)
        most -= sum(1 + len(topic.topic_configs) for topic in topics)
        most -= sum(1 + len(one.source_topics) + len(one.repartition_source_topics) for one in each.copartition_groups)
        if most < 0:
            return True
    return False


def _required(topology: StreamsGroupTopologyValue) -> Iterable[str]:
    """The topics that a topology needs."""
    return {
        name
        for each in topology.subtopologies
        for name in (
            *each.source_topics,
            *(topic.name for topic in (*each.repartition_source_topics, *each.state_changelog_topics)),
        )
    }


def _size(topology: StreamsGroupTopologyValue) -> int:
    """About how many bytes of memory a topology takes."""
    return len(topology.encode(0))


def _delayed(why: str) -> Status:
    return Status(StreamsStatus.ASSIGNMENT_DELAYED, f"Assignment delayed due to the configured {why}.")


def _task_ids(partitions: Partitions) -> tuple[StreamsGroupHeartbeatResponse.TaskIds, ...]:
    ids = StreamsGroupHeartbeatResponse.TaskIds
    return tuple(ids(subtopology, partitions[subtopology]) for subtopology in in_java_order(partitions))
