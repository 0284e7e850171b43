"""A consumer group that members with the classic protocol join too (KIP-848): their requests as events.

The rules are those of Apache Kafka 4.3 (``GroupMetadataManager.classicGroupJoinToConsumerGroup`` and its like). The
generation of a classic member is its epoch. The coordinator assigns; no member leads.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.assignors.assignment import normalized
from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.classic.group_records import CONSUMER
from kafkawire.broker.groups.consumer.conversion import (
    ClassicMetadata,
    ClassicProtocol,
    classic_metadata,
    downgraded,
    encoded,
    may_downgrade,
)
from kafkawire.broker.groups.consumer.group import ConsumerGroup, with_id
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.reconciliation import Reported
from kafkawire.broker.groups.consumer.settings import MigrationPolicy
from kafkawire.broker.groups.consumer.states import MemberState
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.subscriptions import subscribed_to
from kafkawire.broker.groups.timers import Now
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerProtocolSubscription,
    HeartbeatRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import decode_subscription
from kafkawire.wire import DecodeError

_ID_REQUIRED_SINCE: Final = 4  # KIP-394


class MixedGroup(ConsumerGroup):
    """A consumer group with the requests of classic members."""

    # JoinGroup.

    def join(self, joining: Joining, now: Now) -> JoinGroupResponse:
        """A client with the classic protocol joins, or joins again because its epoch lags.

        Raises:
            GroupError: it is refused; nothing has changed then.
        """
        request, state = joining.request, self.state
        member_id = request.member_id or str(Uuid.random())
        self._check_join(joining, member_id)
        instance_id = request.group_instance_id
        if not request.member_id and instance_id is None and joining.version >= _ID_REQUIRED_SINCE:
            return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, protocol_name=None, member_id=member_id)
        known = None if instance_id is None else state.static_member(instance_id)
        replaced = None if request.member_id else known
        before = self._joining(joining, member_id) if replaced is None else with_id(replaced, member_id)
        subscription = _subscription(joining)
        downgrades = (
            known is not None
            and not known.is_classic
            and may_downgrade(state, [known.member_id], self._settings, newcomers=1)
        )
        is_new = member_id not in state.members
        if replaced is not None:
            self._replace(replaced, before)
        after = _joined(before, joining, subscription)
        has_changed = self._change(before, after, now)
        reported = self._reported(subscription)
        classic = self._as_classic(now) if downgrades else None
        is_current = state.assignment_epoch >= state.epoch
        if classic is None:
            self._assign(now, member_id if is_new else None)
        if classic is None or is_current:
            after = self._reconcile(after, reported, now, has_changed=has_changed)
        if classic is None:
            self._await_sync(after, joining, now)
        else:
            if not is_current:
                classic.rebalance(now)
            self._become(classic)
        return JoinGroupResponse(
            generation_id=after.epoch,
            protocol_type=CONSUMER,
            protocol_name=joining.protocols[0][0],
            member_id=member_id,
        )

    def _check_join(self, joining: Joining, member_id: str) -> None:
        state, names = self.state, [name for name, _ in joining.protocols]
        if self._settings.migration is MigrationPolicy.DISABLED:
            raise _inconsistent("The migration of groups is disabled.")
        self._check_room(member_id)
        supported = state.supported_by_classic
        if joining.request.protocol_type != CONSUMER or not (names if supported is None else supported & {*names}):
            raise _inconsistent(f"Member {member_id}'s protocols are not supported.")

    def _joining(self, joining: Joining, member_id: str) -> Member:
        """The member that joins, if it does not take the place of another."""
        instance_id = joining.request.group_instance_id
        if joining.request.member_id and instance_id is not None:
            return self._existing(member_id, instance_id)
        return self.state.members.get(member_id) or Member(member_id)

    def _reported(self, subscription: ConsumerProtocolSubscription) -> Reported:
        """What the client says that it owns."""
        owned = ConsumerGroupHeartbeatRequest.TopicPartitions
        by_id = ((self._topics.id_of(each.topic), each.partitions) for each in subscription.owned_partitions)
        return tuple(owned(topic, partitions) for topic, partitions in by_id if topic is not None)

    def _as_classic(self, now: Now) -> ClassicGroup | None:
        return downgraded(self.state, (), self._settings, self._topics, now)

    def _await_sync(self, member: Member, joining: Joining, now: Now) -> None:
        self._begin_session(member, now)
        self.timers.cancel(timers.join(member.member_id))
        self.timers.cancel(timers.revocation(member.member_id))
        self.timers.set(timers.sync(member.member_id), now.seconds + joining.rebalance_timeout_ms / 1000)

    # SyncGroup and Heartbeat.

    def sync(self, request: SyncGroupRequest, now: Now) -> SyncGroupResponse:
        """A classic member wants its assignment.

        Raises:
            GroupError: it is refused.
        """
        member, classic = self._classic(request.member_id, request.group_instance_id, request.generation_id)
        protocol = next(iter(classic.supported_protocols), ClassicProtocol())
        names = ((request.protocol_type, CONSUMER), (request.protocol_name, protocol.name))
        if any(given is not None and given != own for given, own in names):
            raise _inconsistent("The protocol is not the one of the group.")
        if self.state.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._await_join(member, now)
            raise GroupError(ErrorCode.REBALANCE_IN_PROGRESS, "The member must join again.")
        try:
            assignment = encoded(normalized(member.assigned.items()).items(), protocol.metadata, self._topics)
        except DecodeError as error:
            raise _malformed() from error
        self.timers.cancel(timers.sync(member.member_id))
        self._begin_session(member, now)
        return SyncGroupResponse(
            protocol_type=request.protocol_type, protocol_name=request.protocol_name, assignment=assignment
        )

    def beat(self, request: HeartbeatRequest, now: Now) -> ErrorCode:
        """A classic member lives; returns whether it must join again.

        Raises:
            GroupError: it is refused.
        """
        member, _ = self._classic(request.member_id, request.group_instance_id, request.generation_id)
        self._begin_session(member, now)
        if not self._must_join_again(member):
            return ErrorCode.NONE
        self._await_join(member, now)
        return ErrorCode.REBALANCE_IN_PROGRESS

    def _classic(self, member_id: str, instance_id: str | None, generation: int) -> tuple[Member, ClassicMetadata]:
        member = self._existing(member_id, instance_id)
        if member.classic is None:
            reason = f"Member {member_id} does not use the classic protocol."
            raise GroupError(ErrorCode.UNKNOWN_MEMBER_ID, reason)
        if generation != member.epoch:
            raise GroupError(ErrorCode.ILLEGAL_GENERATION, f"The epoch of member {member_id} is {member.epoch}.")
        return member, member.classic

    def _must_join_again(self, member: Member) -> bool:
        """Whether there is a newer assignment, something to give up, or something that has become free."""
        match member.state:
            case MemberState.UNREVOKED_PARTITIONS:
                return True
            case MemberState.UNRELEASED_PARTITIONS if not self._waits_for_others(member):
                return True
        return member.epoch < self.state.assignment_epoch

    def _waits_for_others(self, member: Member) -> bool:
        return any(
            partition not in member.assigned.get(topic, ()) and self.state.owner(topic, partition) is not None
            for topic, partitions in self.state.target(member.member_id).items()
            for partition in partitions
        )

    def _await_join(self, member: Member, now: Now) -> None:
        timer = timers.join(member.member_id)
        if timer not in self.timers:
            self.timers.set(timer, now.seconds + max(member.rebalance_timeout_ms, 0) / 1000)


def _joined(member: Member, joining: Joining, subscription: ConsumerProtocolSubscription) -> Member:
    """The member with what a JoinGroup request has; it subscribes to no regular expression."""
    instance_id = joining.request.group_instance_id
    return replace(
        member,
        instance_id=member.instance_id if instance_id is None else instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=joining.rebalance_timeout_ms,
        client_id=joining.client_id,
        client_host=joining.client_host,
        topics=subscribed_to(subscription.topics, member.topics),
        regex="",
        classic=classic_metadata(joining.request.session_timeout_ms, joining.protocols),
    )


def _subscription(joining: Joining) -> ConsumerProtocolSubscription:
    try:
        return decode_subscription(joining.protocols[0][1])[0]
    except DecodeError as error:
        raise _malformed() from error


def _inconsistent(reason: str) -> GroupError:
    return GroupError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, reason)


def _malformed() -> GroupError:
    return GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
