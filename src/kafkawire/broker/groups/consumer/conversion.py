"""Classic groups as consumer groups and the other way round, as Apache Kafka converts them (KIP-848)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from kafkawire.broker.groups.assignors.assignment import Assignment, normalized
from kafkawire.broker.groups.classic import roster
from kafkawire.broker.groups.classic.group import ClassicGroup
from kafkawire.broker.groups.classic.group_records import CONSUMER
from kafkawire.broker.groups.consumer.group_state import ConsumerChange, ConsumerGroupState
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.consumer.target_assignment import recorded
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.subscriptions import names_in_order
from kafkawire.broker.groups.timers import Now
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import in_java_order, java_hash, timeline_order
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    ConsumerProtocolAssignment,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import decode_assignment, decode_subscription, encode_assignment
from kafkawire.records.version_prefix import read_prefix
from kafkawire.wire import DecodeError

ClassicMetadata = ConsumerGroupMemberMetadataValue.ClassicMemberMetadata
ClassicProtocol = ConsumerGroupMemberMetadataValue.ClassicProtocol

_NEWEST_ASSIGNMENT: Final = ConsumerProtocolAssignment.VERSIONS.stop - 1


# From a classic group to a consumer group.


def check_upgrade(group: ClassicGroup, settings: ConsumerGroupSettings) -> None:
    """Check that a classic group with members may become a consumer group.

    Raises:
        GroupError: it may not.
    """
    if not settings.migration.upgrades:
        raise _no_upgrade(group, "online upgrade is disabled.")
    if group.protocol_type != CONSUMER:
        raise _no_upgrade(group, "the group does not use the consumer embedded protocol.")
    if len(group.roster.members) > settings.most_members:
        raise _no_upgrade(group, "the group size exceeds the consumer group maximum size.")


def upgraded(group: ClassicGroup, topics: KnownTopics) -> Sequence[ConsumerChange]:
    """The records of a classic group as a consumer group: each member keeps what it has.

    Args:
        group: has members.
        topics: of the cluster.

    Raises:
        GroupError: what the members have cannot be read, or would be lost.
    """
    group_id, epoch = group.group_id, group.generation
    if group.protocol is None:  # the first members wait for others
        raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    converted = [*_converted(group, group.protocol, topics)]
    owned = [(topic, partition) for _, each in converted for topic in each for partition in each[topic]]
    if len(owned) > len(frozenset(owned)):  # the leader gave a partition to two members
        raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    names = {name for member, _ in converted for name in member.topics}
    target, current = ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupCurrentMemberAssignmentKey
    return (
        *((ConsumerGroupMemberMetadataKey(group_id, each.member_id), each.metadata) for each, _ in converted),
        (ConsumerGroupMetadataKey(group_id), ConsumerGroupMetadataValue(epoch, topics.hash_of(names))),
        *((target(group_id, each.member_id), recorded(assigned)) for each, assigned in converted),
        (
            ConsumerGroupTargetAssignmentMetadataKey(group_id),
            ConsumerGroupTargetAssignmentMetadataValue(epoch, 0),
        ),
        *((current(group_id, each.member_id), each.current) for each, _ in converted),
    )


def _converted(group: ClassicGroup, protocol: str, topics: KnownTopics) -> Iterator[tuple[Member, Assignment]]:
    for member_id in timeline_order(in_java_order(group.roster.members), java_hash):
        member = group.roster.members[member_id]
        try:
            subscription, _ = decode_subscription(member.metadata(protocol))
            assigned = _assigned(group, member, topics)
        except DecodeError as error:
            raise _no_upgrade(group, "the embedded consumer protocol is malformed.") from error
        converted = Member(
            member_id,
            member.instance_id,
            subscription.rack_id or None,
            member.rebalance_timeout_ms,
            member.client_id,
            member.client_host,
            names_in_order(subscription.topics),
            classic=classic_metadata(member.session_timeout_ms, member.protocols),
            epoch=group.generation,
            previous_epoch=group.generation,
            assigned={topic: dict.fromkeys(partitions, group.generation) for topic, partitions in assigned.items()},
        )
        yield converted, assigned


def _assigned(group: ClassicGroup, member: roster.Member, topics: KnownTopics) -> Assignment:
    """What the leader assigned to a member; nothing if it has not yet."""
    if not member.assignment:
        return {}
    assignment, _ = decode_assignment(member.assignment)
    if assignment.user_data:
        raise _no_upgrade(
            group,
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
            "assignor before re-attempting the upgrade.",
        )
    by_id = ((topics.id_of(each.topic), each.partitions) for each in assignment.assigned_partitions)
    return normalized((topic, partitions) for topic, partitions in by_id if topic is not None)


def classic_metadata(session_timeout_ms: int, protocols: roster.Protocols) -> ClassicMetadata:
    """What a consumer group records of a member with the classic protocol."""
    return ClassicMetadata(session_timeout_ms, tuple(ClassicProtocol(name, metadata) for name, metadata in protocols))


def _no_upgrade(group: ClassicGroup, reason: str) -> GroupError:
    upgrade = f"Cannot upgrade classic group {group.group_id} to consumer group because"
    return GroupError(ErrorCode.GROUP_ID_NOT_FOUND, f"{upgrade} {reason}")


# From a consumer group to a classic group.


def may_downgrade(
    state: ConsumerGroupState, gone: Collection[str], settings: ConsumerGroupSettings, *, newcomers: int = 0
) -> bool:
    """Whether a consumer group becomes a classic group when members are gone: all others are classic.

    Args:
        state: the group.
        gone: the ids of the members that are gone.
        settings: of groups.
        newcomers: how many classic members come instead.
    """
    left = [member for member_id, member in state.members.items() if member_id not in gone]
    count = len(left) + newcomers
    return (
        settings.migration.downgrades
        and 0 < count <= settings.classic.most_members
        and all(member.is_classic for member in left)
    )


def downgraded(
    state: ConsumerGroupState,
    gone: Collection[str],
    settings: ConsumerGroupSettings,
    topics: KnownTopics,
    now: Now,
) -> ClassicGroup | None:
    """A consumer group as a classic group: each member has its target assignment.

    Args:
        state: the group; all members that are not gone are classic.
        gone: the ids of members that are left out.
        settings: of groups.
        topics: of the cluster.
        now: begins the sessions of the members.

    Returns:
        The group with its record in ``outcome``; None if a classic group cannot have these members.
    """
    group = ClassicGroup(state.group_id, None, settings.classic, now)
    left = [each for each in timeline_order(state.members, java_hash) if each not in gone]
    group.begin_with(state.epoch, (_as_classic(state.members[member_id]) for member_id in left), now)
    for member in group.roster.members.values():
        assigned = state.target(member.member_id)
        try:
            member.assignment = encoded(assigned.items(), member.metadata(group.protocol), topics)
        except DecodeError:
            return None
    return group if group.record_members() else None


def _as_classic(member: Member) -> roster.Member:
    classic = member.classic or ClassicMetadata()
    return roster.Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        classic.session_timeout_ms,
        tuple((each.name, bytes(each.metadata)) for each in classic.supported_protocols),
    )


def encoded(partitions: Iterable[tuple[Uuid, Iterable[int]]], metadata: bytes, topics: KnownTopics) -> bytes:
    """The assignment of a member, in the version of its metadata.

    Raises:
        DecodeError: the metadata has no version that there can be.
    """
    version = read_prefix(metadata, ConsumerProtocolAssignment.NAME)
    if version < 0:
        raise DecodeError("version", f"there is no version {version}", message_name=ConsumerProtocolAssignment.NAME)
    named = ((topics.name_of(topic), each) for topic, each in partitions)
    assigned = tuple(
        ConsumerProtocolAssignment.TopicPartition(name, (*each,)) for name, each in named if name is not None
    )
    return encode_assignment(ConsumerProtocolAssignment(assigned), min(version, _NEWEST_ASSIGNMENT))
