"""The state of a streams group as a fold of its records, which are Apache Kafka's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, TypeAlias

from kafkawire.broker.groups.assignors.tasks import NO_TASKS, Tasks
from kafkawire.broker.groups.commits import CommitRules, CommittedTopic
from kafkawire.broker.groups.streams.member import LEFT, StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import TaskOwners, partitions_of
from kafkawire.broker.groups.streams.states import StreamsGroupStatus
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)
from kafkawire.wire import Message

StreamsKey: TypeAlias = (
    StreamsGroupMetadataKey
    | StreamsGroupMemberMetadataKey
    | StreamsGroupTopologyKey
    | StreamsGroupTargetAssignmentMetadataKey
    | StreamsGroupTargetAssignmentMemberKey
    | StreamsGroupCurrentMemberAssignmentKey
)
"""The keys of the records of streams groups."""

StreamsChange: TypeAlias = tuple[StreamsKey, Message | None]
"""Key and value of a record; None as value deletes the key."""

_FIRST_EPOCH: Final = 1


class StreamsGroupState:
    """A group of KIP-1071 as of its last record.

    Args:
        group_id: its id.
        records: the records that it has.

    Attributes:
        epoch: rises with each change of members, topology and topics.
        metadata_hash: of the topics of the topology.
        validated_topology_epoch: of the topology that fits to the topics; -1 if it does not.
        assignment_configs: with which the last target assignment was computed.
        topology: of the application; None if it is not known.
        assignment_epoch: the epoch for which the target assignment was computed.
        assigned_at_ms: when; 0 if it is not known.
        members: by id, in the order in which they came.
        targets: member id to target assignment.
        owners: the processes that have tasks.
    """

    def __init__(self, group_id: str, records: Iterable[StreamsChange] = ()) -> None:
        self.group_id = group_id
        self.epoch = _FIRST_EPOCH
        self.metadata_hash = 0
        self.validated_topology_epoch = 0
        self.assignment_configs: Mapping[str, str] = {}
        self.topology: StreamsGroupTopologyValue | None = None
        self.assignment_epoch = _FIRST_EPOCH
        self.assigned_at_ms = 0
        self.members: dict[str, StreamsMember] = {}
        self.targets: dict[str, Tasks] = {}
        self.owners = TaskOwners()
        self._subtopologies: Mapping[str, str] = {}
        for key, value in records:
            self.apply(key, value)

    def apply(self, key: StreamsKey, value: Message | None) -> None:
        """Apply a record."""
        match key, value:
            case StreamsGroupMetadataKey(), StreamsGroupMetadataValue():
                self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
                self.validated_topology_epoch = value.validated_topology_epoch
                self.assignment_configs = {each.key: each.value for each in value.last_assignment_configs or ()}
            case StreamsGroupTopologyKey(), StreamsGroupTopologyValue() | None:
                self._set_topology(value)
            case StreamsGroupTargetAssignmentMetadataKey(), StreamsGroupTargetAssignmentMetadataValue():
                self.assignment_epoch, self.assigned_at_ms = value.assignment_epoch, value.assignment_timestamp
            case StreamsGroupTargetAssignmentMemberKey(), StreamsGroupTargetAssignmentMemberValue():
                tasks = (value.active_tasks, value.standby_tasks, value.warmup_tasks)
                self.targets[key.member_id] = Tasks(*map(partitions_of, tasks))
            case StreamsGroupTargetAssignmentMemberKey(), None:
                self.targets.pop(key.member_id, None)
            case StreamsGroupMemberMetadataKey(), StreamsGroupMemberMetadataValue():
                self._put(self._member(key.member_id).with_metadata(value))
            case StreamsGroupMemberMetadataKey(), None:
                self._disown(self.members.pop(key.member_id, None))
            case StreamsGroupCurrentMemberAssignmentKey(), StreamsGroupCurrentMemberAssignmentValue():
                self._put(self._member(key.member_id).with_current(value))
            case StreamsGroupCurrentMemberAssignmentKey(), None if key.member_id in self.members:
                member = self._member(key.member_id)
                gone = StreamsGroupCurrentMemberAssignmentValue(LEFT, LEFT, member.state)
                self._put(member.with_current(gone))

    @property
    def state(self) -> StreamsGroupStatus:
        """The state of the group."""
        if not self.members:
            return StreamsGroupStatus.EMPTY
        if self.topology is None or self.topology.epoch != self.validated_topology_epoch:
            return StreamsGroupStatus.NOT_READY
        if self.epoch > self.assignment_epoch:
            return StreamsGroupStatus.ASSIGNING
        are_there = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return StreamsGroupStatus.STABLE if are_there else StreamsGroupStatus.RECONCILING

    @property
    def subscribed(self) -> Collection[str]:
        """The topics that the members read."""
        return self._subtopologies.keys() if self.members else ()

    def subtopology_of(self, topic: str) -> str | None:
        """The id of the subtopology that reads a topic; None if none does."""
        return self._subtopologies.get(topic)

    def commit_rules(self, names: Callable[[Uuid], str | None]) -> CommitRules[StreamsMember]:
        """Which commits it accepts.

        Args:
            names: id to name of the topics that exist.
        """

        def owned_since(member: StreamsMember, topic: CommittedTopic) -> Mapping[int, int]:
            subtopology = self.subtopology_of(topic.name or names(topic.topic_id) or "")
            return {} if subtopology is None else member.owned_since(subtopology)

        return CommitRules(self.members, owned_since)

    def target(self, member_id: str) -> Tasks:
        """The target assignment of a member."""
        return self.targets.get(member_id, NO_TASKS)

    def _set_topology(self, topology: StreamsGroupTopologyValue | None) -> None:
        self.topology = topology
        self._subtopologies = {
            name: each.subtopology_id
            for each in (() if topology is None else topology.subtopologies)
            for name in (*each.source_topics, *(topic.name for topic in each.repartition_source_topics))
        }

    def _member(self, member_id: str) -> StreamsMember:
        return self.members.get(member_id) or StreamsMember(member_id)

    def _put(self, member: StreamsMember) -> None:
        self._disown(self.members.get(member.member_id))
        self.members[member.member_id] = member
        for owned in (member.assigned, member.revoking):
            self.owners.add(member.process_id, owned)

    def _disown(self, member: StreamsMember | None) -> None:
        if member is not None:
            for owned in (member.assigned, member.revoking):
                self.owners.remove(member.process_id, owned)
