"""The state of a share group as a fold of its records, which are Apache Kafka's."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TypeAlias

from kafkawire.broker.groups.assigned_state import AssignedState
from kafkawire.broker.groups.assignors.assignment import normalized
from kafkawire.broker.groups.share.member import LEFT, ShareMember
from kafkawire.broker.groups.share.shared_partitions import SharedPartitions
from kafkawire.protocol import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from kafkawire.wire import Message

ShareKey: TypeAlias = (
    ShareGroupMetadataKey
    | ShareGroupMemberMetadataKey
    | ShareGroupTargetAssignmentMetadataKey
    | ShareGroupTargetAssignmentMemberKey
    | ShareGroupCurrentMemberAssignmentKey
    | ShareGroupStatePartitionMetadataKey
)
"""The keys of the records of share groups."""

ShareChange: TypeAlias = tuple[ShareKey, Message | None]
"""Key and value of a record; None as value deletes the key."""


class ShareGroupStatus(Enum):
    """The states of a group, with Kafka's names."""

    EMPTY = "Empty"
    STABLE = "Stable"


class ShareGroupState(AssignedState[ShareMember]):
    """A group of KIP-932 as of its last record.

    Args:
        group_id: its id.
        records: the records that it has.

    Attributes:
        partitions: those for which it has states; None if it never had any.
    """

    def __init__(self, group_id: str, records: Iterable[ShareChange] = ()) -> None:
        super().__init__(group_id)
        self.partitions: SharedPartitions | None = None
        for key, value in records:
            self.apply(key, value)

    def apply(self, key: ShareKey, value: Message | None) -> None:
        """Apply a record."""
        match key, value:
            case ShareGroupMetadataKey(), ShareGroupMetadataValue():
                self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            case ShareGroupTargetAssignmentMetadataKey(), ShareGroupTargetAssignmentMetadataValue():
                self.assignment_epoch, self.assigned_at_ms = value.assignment_epoch, value.assignment_timestamp
            case ShareGroupTargetAssignmentMemberKey(), ShareGroupTargetAssignmentMemberValue():
                self.targets[key.member_id] = normalized(
                    (each.topic_id, each.partitions) for each in value.topic_partitions
                )
            case ShareGroupTargetAssignmentMemberKey(), None:
                self.targets.pop(key.member_id, None)
            case ShareGroupMemberMetadataKey(), ShareGroupMemberMetadataValue():
                self._put(self._member(key.member_id).with_metadata(value))
            case ShareGroupMemberMetadataKey(), None:
                self._count(self.members.pop(key.member_id, None), -1)
            case ShareGroupCurrentMemberAssignmentKey(), ShareGroupCurrentMemberAssignmentValue():
                self._put(self._member(key.member_id).with_current(value))
            case ShareGroupCurrentMemberAssignmentKey(), None if key.member_id in self.members:
                gone = ShareGroupCurrentMemberAssignmentValue(LEFT, LEFT)
                self._put(self._member(key.member_id).with_current(gone))
            case ShareGroupStatePartitionMetadataKey(), ShareGroupStatePartitionMetadataValue():
                self.partitions = SharedPartitions.recorded(value)
            case ShareGroupStatePartitionMetadataKey(), None:
                self.partitions = None

    @property
    def state(self) -> ShareGroupStatus:
        """The state of the group."""
        return ShareGroupStatus.STABLE if self.members else ShareGroupStatus.EMPTY

    def _member(self, member_id: str) -> ShareMember:
        return self.members.get(member_id) or ShareMember(member_id)

    def _put(self, member: ShareMember) -> None:
        self._count(self.members.get(member.member_id), -1)
        self.members[member.member_id] = member
        self._count(member, 1)
