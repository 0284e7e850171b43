"""Classic, consumer and share groups as an admin client sees them; streams groups have a module of their own."""

from __future__ import annotations

import msgspec

from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.tolerant_enums import TolerantText

CONSUMER_PROTOCOL = "consumer"
"""The protocol type of classic groups whose members are consumers."""


class GroupType(TolerantText):
    """By which protocol the members of a group find out what each has to do.

    Attributes:
        CLASSIC: they settle it themselves, by JoinGroup and SyncGroup; also offsets without members.
        CONSUMER: the coordinator settles it, for consumers (KIP-848).
        SHARE: the coordinator settles it, for consumers that share partitions (KIP-932).
        STREAMS: the coordinator settles it, for Kafka Streams (KIP-1071).
    """

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class GroupState(TolerantText):
    """What a group is doing; which states there are depends on its type."""

    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    NOT_READY = "NotReady"


class GroupListing(msgspec.Struct, frozen=True):
    """A group in a list.

    Attributes:
        group_id: its id.
        protocol_type: what its members call their protocol: ``consumer``, ``share``, ``connect`` ...; empty for a
            classic group that only keeps offsets.
        state: its state; None from brokers before 2.6.
        type: its protocol; None from brokers before 3.8, which have classic groups only.
    """

    group_id: str
    protocol_type: str
    state: GroupState | None
    type: GroupType | None

    @property
    def is_simple_consumer_group(self) -> bool:
        """Whether it only keeps offsets for consumers that choose their partitions themselves."""
        return self.type in {None, GroupType.CLASSIC} and not self.protocol_type


class ConsumerGroupMember(msgspec.Struct, frozen=True):
    """A member of a consumer group.

    Attributes:
        member_id: its id.
        group_instance_id: its name if it is a static member.
        client_id, client_host: who it says it is, and the address that it comes from.
        assignment: the partitions that it has.
        target_assignment: those that it is to have; None in a classic group.
        rack_id: where it stands, if it says so.
        member_epoch: the epoch of the group that it has caught up with; None in a classic group.
        subscribed_topics: the topics that it wants.
        subscribed_regex: the topics that it wants, as a regular expression; None for none.
        is_upgraded: whether it speaks the consumer protocol rather than the classic one; None from brokers before
            4.0.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    assignment: tuple[TopicPartition, ...]
    target_assignment: tuple[TopicPartition, ...] | None = None
    rack_id: str | None = None
    member_epoch: int | None = None
    subscribed_topics: tuple[str, ...] = ()
    subscribed_regex: str | None = None
    is_upgraded: bool | None = None


class ConsumerGroupDescription(msgspec.Struct, frozen=True):
    """A group of consumers, by the consumer protocol or by the classic one.

    Attributes:
        group_id: its id.
        type: which of the two protocols.
        state: its state.
        coordinator: id of the node that coordinates it.
        assignor: what hands out partitions; empty while nothing does.
        members: who is in it.
        group_epoch: how often it has changed; None for a classic group.
        assignment_epoch: the epoch that the targets of its members are made for; None for a classic group.
        is_simple_consumer_group: whether it only keeps offsets for consumers that choose their partitions themselves.
        authorized_operations: the operations that the caller may perform; None if they were not requested.
    """

    group_id: str
    type: GroupType
    state: GroupState
    coordinator: int
    assignor: str
    members: tuple[ConsumerGroupMember, ...]
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    is_simple_consumer_group: bool = False
    authorized_operations: frozenset[AclOperation] | None = None


class ClassicGroupMember(msgspec.Struct, frozen=True):
    """A member of a classic group.

    Attributes:
        member_id: its id.
        group_instance_id: its name if it is a static member.
        client_id, client_host: who it says it is, and the address that it comes from.
        metadata, assignment: its metadata and its assignment, in the bytes of its protocol.
        partitions: the assignment of a consumer; None for members that are no consumers, and for bytes that are no
            assignment.
        subscribed_topics: the topics that a consumer wants; None likewise.
        rack_id: where a consumer stands, if it says so.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes
    partitions: tuple[TopicPartition, ...] | None = None
    subscribed_topics: tuple[str, ...] | None = None
    rack_id: str | None = None


class ClassicGroupDescription(msgspec.Struct, frozen=True):
    """A classic group, of consumers or of anything else: Kafka Connect, schema registries ...

    Attributes:
        group_id: its id.
        protocol_type: what its members call their protocol: ``consumer``, ``connect`` ...; empty if there never were
            any.
        protocol: which variant of it they have agreed on: for consumers the assignor; empty while there is none.
        state: its state.
        coordinator: id of the node that coordinates it.
        members: who is in it.
        authorized_operations: the operations that the caller may perform; None if they were not requested.
    """

    group_id: str
    protocol_type: str
    protocol: str
    state: GroupState
    coordinator: int
    members: tuple[ClassicGroupMember, ...]
    authorized_operations: frozenset[AclOperation] | None = None

    @property
    def is_simple_consumer_group(self) -> bool:
        """Whether it only keeps offsets for consumers that choose their partitions themselves."""
        return not self.protocol_type


class ShareGroupMember(msgspec.Struct, frozen=True):
    """A member of a share group.

    Attributes:
        member_id: its id.
        client_id, client_host: who it says it is, and the address that it comes from.
        assignment: the partitions that it shares.
        member_epoch: the epoch of the group that it has caught up with.
        subscribed_topics: the topics that it wants.
        rack_id: where it stands, if it says so.
    """

    member_id: str
    client_id: str
    client_host: str
    assignment: tuple[TopicPartition, ...]
    member_epoch: int
    subscribed_topics: tuple[str, ...]
    rack_id: str | None = None


class ShareGroupDescription(msgspec.Struct, frozen=True):
    """A share group (KIP-932).

    Attributes:
        group_id: its id.
        state: its state.
        coordinator: id of the node that coordinates it.
        assignor: what hands out partitions.
        members: who is in it.
        group_epoch: how often it has changed.
        assignment_epoch: the epoch that partitions were last handed out in.
        authorized_operations: the operations that the caller may perform; None if they were not requested.
    """

    group_id: str
    state: GroupState
    coordinator: int
    assignor: str
    members: tuple[ShareGroupMember, ...]
    group_epoch: int
    assignment_epoch: int
    authorized_operations: frozenset[AclOperation] | None = None


class MemberToRemove(msgspec.Struct, frozen=True):
    """A member of a group, by either of its names.

    Attributes:
        member_id: its id; empty if it is given by its other name.
        group_instance_id: its name if it is a static member.
    """

    member_id: str = ""
    group_instance_id: str | None = None
