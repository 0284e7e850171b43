"""A member of a consumer group, as the records have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Self, TypeAlias

from msgspec import field
from msgspec.structs import replace

from kafkawire.broker.groups.consumer.states import MemberState
from kafkawire.broker.groups.subscriptions import names_in_order, recorded_names
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ConsumerGroupCurrentMemberAssignmentValue, ConsumerGroupMemberMetadataValue
from kafkawire.wire.message import Struct

Owned: TypeAlias = Mapping[Uuid, Mapping[int, int]]
"""Topic id to partitions, each with the epoch at which the member got it."""

LEFT: Final = -1
"""The epoch of a member that leaves."""

LEFT_FOR_A_WHILE: Final = -2
"""The epoch of a static member that leaves and comes back (KIP-345)."""

RecordedPartitions: TypeAlias = Sequence[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions]


class Member(Struct, frozen=True):
    """A member of a consumer group.

    Attributes:
        member_id: made by its client.
        instance_id: ``group.instance.id`` of a static member; None for others.
        rack_id: ``client.rack``.
        rebalance_timeout_ms: the time that it has to give up partitions; -1 if it is not known.
        client_id, client_host: of its client, the host as Kafka records it (``/127.0.0.1``).
        topics: to which it subscribes by name, in the order of Kafka's set.
        regex: to whose matches it subscribes; None or empty for none.
        assignor: that it prefers; None for none.
        classic: of a member that uses the classic protocol: its session timeout, and what it supports.
        epoch: of the member; -2 for a static member that comes back.
        previous_epoch: before that.
        state: the state.
        assigned: what it owns or is to own.
        revoking: what it must give up.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    regex: str | None = ""
    assignor: str | None = None
    classic: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = None
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Owned = field(default_factory=dict)
    revoking: Owned = field(default_factory=dict)

    @property
    def is_classic(self) -> bool:
        """Whether it uses the classic protocol."""
        return self.classic is not None

    def owned_since(self, topic_id: Uuid) -> Mapping[int, int]:
        """The epoch at which it got each of its partitions of a topic, also of those that it must give up."""
        return {**self.revoking.get(topic_id, {}), **self.assigned.get(topic_id, {})}

    @property
    def size(self) -> int:
        """About how many bytes of memory its client determines."""
        names = (self.member_id, self.instance_id, self.rack_id, self.client_id, self.regex, self.assignor)
        supported = () if self.classic is None else self.classic.supported_protocols
        metadata = sum(len(each.name) + len(each.metadata) for each in supported)
        return metadata + sum(len(name) for name in (*names, *self.topics) if name is not None)

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all of the target assignment of an epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch

    def has_left_for_a_while(self) -> Self:
        """The member after it has left as a static member that comes back."""
        assigned = {topic: dict.fromkeys(partitions, 0) for topic, partitions in self.assigned.items()}
        return replace(self, epoch=LEFT_FOR_A_WHILE, assigned=assigned, revoking={})

    # Records.

    def with_metadata(self, value: ConsumerGroupMemberMetadataValue) -> Self:
        """The member with the fields of a record."""
        return replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=names_in_order(value.subscribed_topic_names),
            regex=value.subscribed_topic_regex,
            assignor=value.server_assignor,
            classic=value.classic_member_metadata,
        )

    def with_current(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> Self:
        """The member with the epoch and the partitions of a record."""
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=MemberState.of(value.state),
            assigned=_owned(value.assigned_partitions, value.member_epoch),
            revoking=_owned(value.partitions_pending_revocation, value.member_epoch),
        )

    @property
    def metadata(self) -> ConsumerGroupMemberMetadataValue:
        """The record of its subscription."""
        return ConsumerGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=recorded_names(self.topics),
            subscribed_topic_regex=self.regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.assignor,
            classic_member_metadata=self.classic,
        )

    @property
    def current(self) -> ConsumerGroupCurrentMemberAssignmentValue:
        """The record of its epoch and partitions."""
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=self.epoch,
            previous_member_epoch=self.previous_epoch,
            state=self.state,
            assigned_partitions=_recorded(self.assigned),
            partitions_pending_revocation=_recorded(self.revoking),
        )


def _owned(recorded: RecordedPartitions, epoch: int) -> Owned:
    """Releases before 4.3 record no epochs; then it is that of the member."""
    owned = {}
    for each in recorded:
        epochs = each.assignment_epochs
        if epochs is None or len(epochs) != len(each.partitions):
            epochs = (max(epoch, 0),) * len(each.partitions)
        owned[each.topic_id] = dict(zip(each.partitions, epochs, strict=True))
    return owned


def _recorded(owned: Owned) -> RecordedPartitions:
    return tuple(
        ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions(topic, (*partitions,), (*partitions.values(),))
        for topic, partitions in owned.items()
    )
