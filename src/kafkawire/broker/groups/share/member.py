"""A member of a share group, as the records have it."""

from __future__ import annotations

from typing import Final, Self

from msgspec.structs import replace

from kafkawire.broker.groups.assignors.assignment import NOTHING, Assignment, normalized
from kafkawire.broker.groups.subscriptions import names_in_order, recorded_names
from kafkawire.protocol import ShareGroupCurrentMemberAssignmentValue, ShareGroupMemberMetadataValue
from kafkawire.wire.message import Struct

LEFT: Final = -1
"""The epoch of a member that leaves."""


class ShareMember(Struct, frozen=True):
    """A member of a share group.

    Attributes:
        member_id: made by its client.
        rack_id: ``client.rack``; None if it has none.
        client_id, client_host: of its client, the host as Kafka records it (``/127.0.0.1``).
        topics: to which it subscribes, in the order of Kafka's set.
        epoch: of the member.
        previous_epoch: before that.
        assigned: what it reads.
    """

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    epoch: int = 0
    previous_epoch: int = -1
    assigned: Assignment = NOTHING

    @property
    def instance_id(self) -> str | None:
        """None: share groups have no static members."""
        return None

    @property
    def size(self) -> int:
        """About how many bytes of memory its client determines."""
        names = (self.member_id, self.rack_id or "", self.client_id, *self.topics)
        return sum(len(name) for name in names)

    # Records.

    def with_metadata(self, value: ShareGroupMemberMetadataValue) -> Self:
        """The member with the fields of a record."""
        return replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=names_in_order(value.subscribed_topic_names),
        )

    def with_current(self, value: ShareGroupCurrentMemberAssignmentValue) -> Self:
        """The member with the epoch and the partitions of a record."""
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned=normalized((each.topic_id, each.partitions) for each in value.assigned_partitions),
        )

    @property
    def metadata(self) -> ShareGroupMemberMetadataValue:
        """The record of its subscription."""
        return ShareGroupMemberMetadataValue(
            self.rack_id, self.client_id, self.client_host, recorded_names(self.topics)
        )

    @property
    def current(self) -> ShareGroupCurrentMemberAssignmentValue:
        """The record of its epoch and partitions."""
        topics = ShareGroupCurrentMemberAssignmentValue.TopicPartitions
        assigned = tuple(topics(topic, partitions) for topic, partitions in self.assigned.items())
        return ShareGroupCurrentMemberAssignmentValue(self.epoch, self.previous_epoch, assigned_partitions=assigned)
