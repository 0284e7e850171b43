"""A share group of KIP-932: heartbeats and times in; answers, records and timers out.

The rules are those of Apache Kafka 4.3 (``GroupMetadataManager``). Nothing here waits or writes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.assigned_group import AssignedGroup
from kafkawire.broker.groups.assignors.assignment import Assignment
from kafkawire.broker.groups.assignors.simple_assignor import assign_simply
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.share.group_state import ShareChange, ShareGroupState, ShareKey
from kafkawire.broker.groups.share.member import LEFT, ShareMember
from kafkawire.broker.groups.share.settings import ShareGroupSettings
from kafkawire.broker.groups.share.shared_partitions import (
    Shared,
    SharedPartitions,
    SharedTopic,
    as_sets,
    united,
)
from kafkawire.broker.groups.subscriptions import subscribed_to
from kafkawire.broker.groups.target_assignment import as_sets as without_order, changed_targets
from kafkawire.broker.groups.timers import Now
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    ShareGroupMemberMetadataKey,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from kafkawire.protocol.error_codes import ErrorCode

ASSIGNOR: Final = "simple"
"""The name of the assignor; Kafka's users can put another in its place, in Java."""

_NO_PARTITIONS: Final = SharedPartitions()


def check(request: ShareGroupHeartbeatRequest) -> None:
    """Check a request by itself.

    Raises:
        GroupError: it is not valid.
    """
    for text, name in ((request.member_id, "MemberId"), (request.group_id, "GroupId"), (request.rack_id, "RackId")):
        if text is not None and not text.strip():
            raise GroupError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    if not request.member_epoch and not request.subscribed_topic_names:
        raise GroupError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEFT:
        raise GroupError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


class ShareGroup(AssignedGroup[ShareKey]):
    """A group with its timers: each method takes an event and its time, and ``changes`` returns the records to write.

    Args:
        group_id: its id.
        records: the records that it has.
        settings: the broker's.
        topics: of the cluster.
        now: begins the sessions of the members in the records.

    Attributes:
        state: the records, folded.
        wanted: the partitions whose states are to begin now. The caller takes them, and calls ``begin`` when they have.
    """

    def __init__(
        self,
        group_id: str,
        records: Iterable[ShareChange],
        settings: ShareGroupSettings,
        topics: KnownTopics,
        now: Now,
    ) -> None:
        self.state = ShareGroupState(group_id, records)
        super().__init__(self.state, topics, "share", settings.most_members)
        self.wanted: Shared = {}
        self._settings = settings
        self._initializing_since_ms = now.ms
        for member_id in self.state.members:
            self._begin_session(member_id, now)

    @property
    def partitions(self) -> SharedPartitions:
        """The partitions for which it has states."""
        return self.state.partitions or _NO_PARTITIONS

    # Heartbeats.

    def heartbeat(
        self, request: ShareGroupHeartbeatRequest, client: tuple[str, str], now: Now
    ) -> ShareGroupHeartbeatResponse:
        """A member joins, or lives.

        Args:
            request: the request.
            client: id and host of the client, the host as Kafka records it (``/127.0.0.1``).
            now: the time.

        Raises:
            GroupError: it is refused; nothing has changed then.
        """
        self._check_room(request.member_id)
        before = self._known(request)
        after = _updated(before, request, client)
        if after != before:
            self._write(ShareGroupMemberMetadataKey(self.group_id, after.member_id), after.metadata)
        has_changed = self._change(before, after)
        self._assign(now)
        after = self._reconcile(after, has_changed=has_changed)
        self._begin_session(after.member_id, now)
        self._want_states(now)
        has_news = without_order(after.assigned) != without_order(before.assigned)
        is_full = request.subscribed_topic_names is not None
        return ShareGroupHeartbeatResponse(
            member_id=after.member_id,
            member_epoch=after.epoch,
            heartbeat_interval_ms=self._settings.heartbeat_ms(self.group_id),
            assignment=_assignment(after) if is_full or has_news else None,
        )

    def _known(self, request: ShareGroupHeartbeatRequest) -> ShareMember:
        """The member that sends a heartbeat; a new one if it joins."""
        member, epoch = self.state.members.get(request.member_id), request.member_epoch
        if member is None and epoch:
            raise self._unknown(request.member_id)
        if member is None or epoch in {0, member.epoch} or epoch == member.previous_epoch < member.epoch:
            return member or ShareMember(request.member_id)
        than, suffix = ("greater", "") if epoch > member.epoch else ("smaller", _previous(member))
        raise GroupError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The share group member has a {than} member epoch ({epoch}) than the one known by the group coordinator "
            f"({member.epoch}){suffix}. The member must abandon all its partitions and rejoin.",
        )

    def _change(self, before: ShareMember, after: ShareMember) -> bool:
        """Begin an epoch if it must; returns whether it does."""
        is_pending = self.state.assignment_epoch >= self.state.epoch and self._has_unassigned()
        must_bump = is_pending or frozenset(after.topics) != frozenset(before.topics)
        metadata_hash = self._hash_of_new_epoch(must_bump=must_bump)
        if metadata_hash is not None:
            self._bump(metadata_hash)
        return metadata_hash is not None

    def _has_unassigned(self) -> bool:
        """Whether the target assignment has other partitions of some topic than those with states."""
        assigned: dict[Uuid, set[int]] = {}
        for target in self.state.targets.values():
            for topic, partitions in target.items():
                assigned.setdefault(topic, set()).update(partitions)
        subscribed = self.state.subscribed
        return any(
            shared.name in subscribed and frozenset(assigned.get(topic, ())) != shared.partitions
            for topic, shared in self.partitions.initialized.items()
        )

    def _bump(self, metadata_hash: int) -> None:
        value = ShareGroupMetadataValue(self.state.epoch + 1, metadata_hash)
        self._write(ShareGroupMetadataKey(self.group_id), value)

    def _assign(self, now: Now) -> None:
        """Compute the target assignment of a new epoch, but not too often."""
        state = self.state
        if not self._may_assign(now, self._settings.assignment_ms(self.group_id)):
            return
        assignable = as_sets(self.partitions.initialized)
        targets = [*changed_targets(state, self._topics, assign_simply, assignable=assignable)]
        for member_id, target in targets:
            self._write(ShareGroupTargetAssignmentMemberKey(self.group_id, member_id), _recorded(target))
        value = ShareGroupTargetAssignmentMetadataValue(state.epoch, now.ms)
        self._write(ShareGroupTargetAssignmentMetadataKey(self.group_id), value)

    def _reconcile(self, member: ShareMember, *, has_changed: bool) -> ShareMember:
        """The member with its target assignment: it need not wait for others."""
        epoch = self.state.assignment_epoch
        if not has_changed and member.epoch == epoch:
            return member
        subscribed = {self._topics.id_of(name) for name in member.topics}
        target = self.state.target(member.member_id)
        assigned = {topic: partitions for topic, partitions in target.items() if topic in subscribed}
        after = replace(member, assigned=assigned)
        if member.epoch != epoch:
            after = replace(after, epoch=epoch, previous_epoch=member.epoch)
        if after != member:
            self._write(ShareGroupCurrentMemberAssignmentKey(self.group_id, after.member_id), after.current)
        return after

    # Members that leave, and timers.

    def leave(self, request: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse:
        """A member leaves.

        Raises:
            GroupError: it is none.
        """
        if request.member_id not in self.state.members:
            raise self._unknown(request.member_id)
        self._fence(request.member_id)
        return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def expire(self, now: Now) -> None:
        """Let the timers fire that are due, the earliest first."""
        for timer in self.timers.due(now.seconds):
            if timer.member_id in self.state.members:
                self._fence(timer.member_id)

    def _fence(self, member_id: str) -> None:
        self.timers.cancel(timers.session(member_id))
        self._write(ShareGroupCurrentMemberAssignmentKey(self.group_id, member_id), None)
        self._write(ShareGroupTargetAssignmentMemberKey(self.group_id, member_id), None)
        self._write(ShareGroupMemberMetadataKey(self.group_id, member_id), None)
        self._bump(self._topics.hash_of(self.state.subscribed))

    def _begin_session(self, member_id: str, now: Now) -> None:
        session = self._settings.session_ms(self.group_id)
        self.timers.set(timers.session(member_id), now.seconds + session / 1000)

    # States of partitions.

    def _want_states(self, now: Now) -> None:
        """Let the states of partitions of subscribed topics begin, again if they have not after a while."""
        begun = self.partitions.initialized
        if now.ms - self._initializing_since_ms < self._settings.retry_ms:
            begun = united(begun, self.partitions.initializing)
        wanted = {}
        for name in self.state.subscribed:
            topic = self._topics.id_of(name)
            if topic is None:
                continue
            known = begun[topic].partitions if topic in begun else frozenset()
            count = self._topics.partitions_of(topic)
            if len(known) < count:
                wanted[topic] = SharedTopic(name, frozenset(range(count)) - known)
        if wanted:
            self.want(wanted, now)

    def want(self, topics: Shared, now: Now) -> None:
        """Record partitions whose states are about to begin."""
        if topics:
            self._initializing_since_ms = now.ms
            self.record(self.partitions.with_more(topics))
            self.wanted = topics

    def begin(self, topics: Shared) -> None:
        """Record partitions whose states have begun, except those of topics that were deleted in the meantime."""
        named = {
            topic: SharedTopic(self._topics.name_of(topic) or each.name, each.partitions)
            for topic, each in topics.items()
            if each.partitions and topic in self.partitions.initializing
        }
        if named:
            self.record(self.partitions.begun(named))

    def forget_topics(self, topics: Collection[Uuid]) -> None:
        """Forget the partitions of topics that were deleted."""
        after = self.partitions.without_topics(topics)
        if after != self.partitions:
            self.record(after)

    def record(self, partitions: SharedPartitions) -> None:
        """Record the partitions for which it has states."""
        self._write(ShareGroupStatePartitionMetadataKey(self.group_id), partitions.record(self._topics))


def _updated(member: ShareMember, request: ShareGroupHeartbeatRequest, client: tuple[str, str]) -> ShareMember:
    """The member with the fields that a heartbeat has; those that are null have not changed."""
    names = request.subscribed_topic_names
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        client_id=client[0],
        client_host=client[1],
        topics=member.topics if names is None else subscribed_to(names, member.topics),
    )


def _previous(member: ShareMember) -> str:
    return f", and it does not match the previous member epoch ({member.previous_epoch})"


def _recorded(target: Assignment) -> ShareGroupTargetAssignmentMemberValue:
    topics = ShareGroupTargetAssignmentMemberValue.TopicPartition
    return ShareGroupTargetAssignmentMemberValue(tuple(topics(topic, each) for topic, each in target.items()))


def _assignment(member: ShareMember) -> ShareGroupHeartbeatResponse.Assignment:
    topics = ShareGroupHeartbeatResponse.TopicPartitions
    return ShareGroupHeartbeatResponse.Assignment(
        tuple(topics(topic, partitions) for topic, partitions in member.assigned.items())
    )
