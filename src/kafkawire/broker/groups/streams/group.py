"""A streams group of KIP-1071: heartbeats and times in; answers, records and timers out.

The rules are those of Apache Kafka 4.3 or 4.4 (``GroupMetadataManager``). Nothing here waits or writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.assigned_group import NO_ROOM, AssignedGroup
from kafkawire.broker.groups.assignors.tasks import NO_TASKS, MemberSpec, Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams import joining, target_assignment
from kafkawire.broker.groups.streams.answers import Answers, Status
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState, StreamsKey
from kafkawire.broker.groups.streams.group_topology import GroupTopology, TopologyMetadata
from kafkawire.broker.groups.streams.long_work import AT_ONCE, Work
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import as_sets
from kafkawire.broker.groups.streams.reconciliation import Aim, check_state, reconciled
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.states import StreamsMemberState
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.groups.streams.target_assignment import Rules
from kafkawire.broker.groups.streams.task_offsets import NO_TASK_OFFSETS, TaskOffsets
from kafkawire.broker.groups.streams.topology import ConfiguredTopology, InternalTopic
from kafkawire.broker.groups.timers import Now, TimerKind
from kafkawire.broker.groups.topics import KnownTopics
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
_STALE: Final = "behind"
_TASK_BYTES: Final = 300
"""About how much memory a task of a member takes."""


class Answer(NamedTuple):
    """What follows from a heartbeat.

    Attributes:
        response: for the client.
        internal_topics: those that are to be created, by name.
    """

    response: StreamsGroupHeartbeatResponse
    internal_topics: Mapping[str, InternalTopic]


class _Target(NamedTuple):
    """A target assignment.

    Attributes:
        epoch: of it.
        tasks: of each member.
    """

    epoch: int
    tasks: Mapping[str, Tasks]


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
        size_of_tasks: the part of ``size`` for the tasks, as of the last heartbeat.
        task_offsets: member id to the offsets of its tasks.
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
        self._topology = GroupTopology(self.state, topics)
        self.task_offsets: dict[str, TaskOffsets] = {}
        self._settings = settings
        self._first: _Target | None = None
        self.size_of_tasks = 0
        self._is_recorded = self.state.topology is not None
        self._answers = Answers(self.state, settings, self._topology.partitions_of)
        if self.state.topology is not None:
            self.size += _size(self.state.topology)
        for member in self.state.members.values():
            self._begin_session(member.member_id, now)
            self._time_revocation(member, now)

    @property
    def configured(self) -> ConfiguredTopology | None:
        """The topology with the topics, as of the last heartbeat; None before the first."""
        return self._topology.configured

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
        after = joining.updated(before, request, client, is_later=self._settings.is_later)
        topology = self._topology.checked(request, work)
        status = [*self._stale(after)]
        metadata = self._topology.configure(topology, request, work)
        offsets = self.task_offsets.get(after.member_id, NO_TASK_OFFSETS).updated(request)
        more = self._size_of_tasks(metadata.configured) - self.size_of_tasks
        if not has_room(more):
            raise GroupError(ErrorCode.GROUP_MAX_SIZE_REACHED, NO_ROOM)
        reported = joining.reported(request)
        check_state(after, reported)
        records = [*self._brought(before, after, topology)]
        epoch = self._begin_epoch(metadata, records, has_changed=after != before)
        if self.is_empty:
            self._delay(now)
        reasons = self._reasons_to_wait(epoch, now)
        status += reasons
        target = _Target(self.state.assignment_epoch, self.state.targets)
        if timers.ASSIGNMENT in self.timers:
            target = target._replace(tasks={})
        elif epoch > self.state.assignment_epoch and not reasons:
            all_offsets = {**self.task_offsets, after.member_id: offsets}
            target = _Target(epoch, self._targets(after, metadata.configured, all_offsets, work))
            records += self._targeted(epoch, target.tasks, now)
        target = self._noted(target)
        aim = self._aim(after, target, reported)
        last = after if after.is_reconciled_to(target.epoch) else reconciled(after, aim)
        if last != after:
            records.append((StreamsGroupCurrentMemberAssignmentKey(self.group_id, last.member_id), last.current))
        self._keep_offsets(last.member_id, offsets)
        self._answers.note_shutdown(request)
        response = self._answers.answer(request, before, last, metadata.configured, status)
        self._topology.note_changes()
        if not self._is_recorded:
            response = replace(response, endpoint_information_epoch=0)
            self._forget_unrecorded()
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
        is_known = self._settings.is_later and request.member_id in self.state.members
        if is_joining and len(self.state.members) >= self._most_members and not is_known:
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

    def _brought(
        self, before: StreamsMember, after: StreamsMember, topology: StreamsGroupTopologyValue
    ) -> Iterable[StreamsChange]:
        """The records of what a member brings."""
        if after != before:
            yield StreamsGroupMemberMetadataKey(self.group_id, after.member_id), after.metadata
        if self.state.topology is None:
            yield StreamsGroupTopologyKey(self.group_id), topology

    def _begin_epoch(self, metadata: TopologyMetadata, records: list[StreamsChange], *, has_changed: bool) -> int:
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

    def _targets(
        self,
        member: StreamsMember,
        configured: ConfiguredTopology,
        offsets: Mapping[str, TaskOffsets],
        work: Work,
    ) -> Mapping[str, Tasks]:
        known, updated = self._specs(self.state.members.values(), offsets), self._specs((member,), offsets)
        rules = Rules(self._settings.standby_replicas(self.group_id), self._settings.is_later)
        is_long = target_assignment.is_long(configured, rules, len(known))
        return work.result(target_assignment.target_assignment, known, updated, configured, rules, is_long=is_long)

    def _specs(
        self, members: Collection[StreamsMember], offsets: Mapping[str, TaskOffsets]
    ) -> Mapping[str, MemberSpec]:
        return target_assignment.specs(self.state, members, offsets if self._settings.is_later else None)

    def _noted(self, target: _Target) -> _Target:
        """The target assignment that a heartbeat has found first for an epoch, which is all that Kafka 4.4 refines."""
        if not self._settings.is_later:
            return target
        if self._first is None or self._first.epoch != target.epoch:
            self._first = _Target(target.epoch, dict(target.tasks))
        return self._first

    def _aim(self, member: StreamsMember, target: _Target, reported: Tasks | None) -> Aim:
        """What the member shall come to."""
        is_later, owners = self._settings.is_later, self.state.owners
        is_unreleased = partial(
            owners.is_unreleased, process_id=member.process_id, own=as_sets(member.assigned) if is_later else None
        )
        tasks = target.tasks.get(member.member_id, NO_TASKS)
        return Aim(target.epoch, tasks, reported, is_unreleased, converts=is_later)

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
        rules = Rules(int(state.assignment_configs.get(_STANDBY_REPLICAS, "0")), self._settings.is_later)
        if target_assignment.is_long(configured, rules, len(state.members)):
            return  # the next heartbeat does it
        known = self._specs(state.members.values(), self.task_offsets)
        targets = target_assignment.target_assignment(known, {}, configured, rules)
        for record in [*self._targeted(state.epoch, targets, now)]:
            self._write(*record)

    # What no record has.

    def _forget_unrecorded(self) -> None:
        """Forget what is not in records: Kafka makes a group again from them after the heartbeat that creates it."""
        self._is_recorded = True
        self._first = None
        self._topology.forget()
        self._answers.forget()
        for member_id in [*self.task_offsets]:
            self._keep_offsets(member_id, NO_TASK_OFFSETS)

    def _keep_offsets(self, member_id: str, offsets: TaskOffsets) -> None:
        before = self.task_offsets.pop(member_id, NO_TASK_OFFSETS)
        if offsets is not before:
            self.size += offsets.size - before.size
        if offsets.restored or offsets.ends:
            self.task_offsets[member_id] = offsets

    # Members that leave, and timers.

    def leave(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        """A member leaves.

        Raises:
            GroupError: it is none.
        """
        self._answers.note_shutdown(request)
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
        self._keep_offsets(member_id, NO_TASK_OFFSETS)
        if self.is_empty:
            self._answers.end_shutdown()
            self.size -= self.size_of_tasks
            self.size_of_tasks = 0
            if self._settings.is_later:
                value = StreamsGroupTargetAssignmentMetadataValue(state.epoch, 0)
                self._write(StreamsGroupTargetAssignmentMetadataKey(self.group_id), value)

    def _begin_session(self, member_id: str, now: Now) -> None:
        session = self._settings.session_ms(self.group_id)
        self.timers.set(timers.session(member_id), now.seconds + session / 1000)

    def _time_revocation(self, member: StreamsMember, now: Now) -> None:
        timer = timers.revocation(member.member_id)
        if member.state is StreamsMemberState.UNREVOKED_TASKS:
            self.timers.set(timer, now.seconds + max(member.rebalance_timeout_ms, 0) / 1000)
        else:
            self.timers.cancel(timer)


def _size(topology: StreamsGroupTopologyValue) -> int:
    """About how many bytes of memory a topology takes."""
    return len(topology.encode(0))


def _delayed(why: str) -> Status:
    return Status(StreamsStatus.ASSIGNMENT_DELAYED, f"Assignment delayed due to the configured {why}.")
