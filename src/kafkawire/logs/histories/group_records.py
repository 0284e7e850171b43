"""Groups, as the records of the group coordinator change them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeAlias

from kafkawire.layout import Uuid
from kafkawire.logs.histories.group_state import (
    CLASSIC,
    CONSUMER,
    SHARE,
    STREAMS,
    Assigned,
    Group,
    Member,
    classic_group,
)
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    GroupMetadataKey,
    GroupMetadataValue,
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)
from kafkawire.wire import Message

Changed: TypeAlias = tuple[str, str | None]
"""A group and the member that changed; None if any member may have changed, or the group was deleted."""

_KINDS: Final = {
    ConsumerGroupMetadataKey.NAME: CONSUMER,
    ConsumerGroupMemberMetadataKey.NAME: CONSUMER,
    ConsumerGroupCurrentMemberAssignmentKey.NAME: CONSUMER,
    ConsumerGroupRegularExpressionKey.NAME: CONSUMER,
    ShareGroupMetadataKey.NAME: SHARE,
    ShareGroupMemberMetadataKey.NAME: SHARE,
    ShareGroupCurrentMemberAssignmentKey.NAME: SHARE,
    StreamsGroupMetadataKey.NAME: STREAMS,
    StreamsGroupMemberMetadataKey.NAME: STREAMS,
    StreamsGroupCurrentMemberAssignmentKey.NAME: STREAMS,
    StreamsGroupTopologyKey.NAME: STREAMS,
}
"""The kind of group that a record with this key belongs to."""

GROUP_RECORDS: Final = frozenset(name.removesuffix("Key") for name in (*_KINDS, GroupMetadataKey.NAME))
"""Names of the record types with the current state of groups; the other types have target assignments."""


def group_of(key: Message) -> str | None:
    """The group id in a key."""
    group_id: str | None = key.group if isinstance(key, GroupMetadataKey) else getattr(key, "group_id", None)
    return group_id


class _TopicPartitions(Protocol):
    @property
    def topic_id(self) -> Uuid: ...
    @property
    def partitions(self) -> Sequence[int]: ...


class _Tasks(Protocol):
    @property
    def subtopology_id(self) -> str: ...
    @property
    def partitions(self) -> Sequence[int]: ...


class GroupRecords:
    """Applies records to groups.

    Attributes:
        groups: by their ids.
    """

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}

    def apply(self, key: Message, value: Message | None) -> Changed | None:
        """Apply a record; a null value deletes the group, member or assignment of the key.

        Returns:
            The group and member that changed, or None.
        """
        match key:
            case GroupMetadataKey():
                return self._classic(key.group, value)
            case ConsumerGroupMetadataKey() | ShareGroupMetadataKey() | StreamsGroupMetadataKey():
                return self._metadata(key.group_id, _KINDS[key.NAME], value)
            case ConsumerGroupRegularExpressionKey():
                return self._regular_expression(key, value)
            case StreamsGroupTopologyKey():
                return self._topology(key.group_id, value)
            case ConsumerGroupMemberMetadataKey() | ShareGroupMemberMetadataKey() | StreamsGroupMemberMetadataKey():
                return self._member(key.group_id, key.member_id, _KINDS[key.NAME], value)
            case (
                ConsumerGroupCurrentMemberAssignmentKey()
                | ShareGroupCurrentMemberAssignmentKey()
                | StreamsGroupCurrentMemberAssignmentKey()
            ):
                return self._assignment(key.group_id, key.member_id, _KINDS[key.NAME], value)
            case _:
                return None

    def error_of(self, group_id: str) -> str | None:
        """The error of the first member of a group whose protocol bytes could not be decoded, or None."""
        group = self.groups.get(group_id)
        return None if group is None else next((each.error for each in group.members.values() if each.error), None)

    def _classic(self, group_id: str, value: Message | None) -> Changed | None:
        if isinstance(value, GroupMetadataValue):
            self.groups[group_id] = classic_group(value)
        elif self._existing(group_id, CLASSIC) is None:
            return None
        else:
            del self.groups[group_id]
        return group_id, None

    def _metadata(self, group_id: str, kind: str, value: Message | None) -> Changed | None:
        match value:
            case ConsumerGroupMetadataValue() | ShareGroupMetadataValue() | StreamsGroupMetadataValue():
                self._ensure_group(group_id, kind).epoch = value.epoch
            case _ if self._existing(group_id, kind) is None:
                return None
            case _:
                del self.groups[group_id]
        return group_id, None

    def _regular_expression(self, key: ConsumerGroupRegularExpressionKey, value: Message | None) -> Changed | None:
        if isinstance(value, ConsumerGroupRegularExpressionValue):
            self._ensure_group(key.group_id, CONSUMER).topics_of_regex[key.regular_expression] = tuple(value.topics)
        elif (group := self._existing(key.group_id, CONSUMER)) is None:
            return None
        else:
            group.topics_of_regex.pop(key.regular_expression, None)
        return key.group_id, None

    def _topology(self, group_id: str, value: Message | None) -> Changed | None:
        if isinstance(value, StreamsGroupTopologyValue):
            topics = (topic for part in value.subtopologies or () for topic in part.source_topics)
            self._ensure_group(group_id, STREAMS).source_topics = tuple(dict.fromkeys(topics))
        elif (group := self._existing(group_id, STREAMS)) is None:
            return None
        else:
            group.source_topics = None
        return group_id, None

    def _member(self, group_id: str, member_id: str, kind: str, value: Message | None) -> Changed | None:
        match value:
            case ConsumerGroupMemberMetadataValue():
                member = self._ensure_member(group_id, member_id, kind)
                member.instance_id = value.instance_id
                member.protocol = value.server_assignor
                member.topics = tuple(value.subscribed_topic_names)
                member.regex = value.subscribed_topic_regex
            case ShareGroupMemberMetadataValue():
                member = self._ensure_member(group_id, member_id, kind)
                member.topics = tuple(value.subscribed_topic_names)
            case StreamsGroupMemberMetadataValue():
                member = self._ensure_member(group_id, member_id, kind)
                member.instance_id = value.instance_id
            case _:
                group = self._existing(group_id, kind)
                return None if group is None or group.members.pop(member_id, None) is None else (group_id, member_id)
        member.client_id, member.client_host = value.client_id, value.client_host
        return group_id, member_id

    def _assignment(self, group_id: str, member_id: str, kind: str, value: Message | None) -> Changed | None:
        match value:
            case ConsumerGroupCurrentMemberAssignmentValue() | ShareGroupCurrentMemberAssignmentValue():
                self._ensure_member(group_id, member_id, kind).assignment = _topics(value.assigned_partitions)
            case StreamsGroupCurrentMemberAssignmentValue():
                self._ensure_member(group_id, member_id, kind).assignment = (
                    *_tasks("active", value.active_tasks),
                    *_tasks("standby", value.standby_tasks),
                    *_tasks("warmup", value.warmup_tasks),
                )
            case _:
                group = self._existing(group_id, kind)
                if group is None or member_id not in group.members:
                    return None
                group.members[member_id].assignment = None
        return group_id, member_id

    def _existing(self, group_id: str, kind: str) -> Group | None:
        """The group, if it is of this kind: a tombstone only affects a group of its own kind."""
        group = self.groups.get(group_id)
        return group if group is not None and group.kind == kind else None

    def _ensure_group(self, group_id: str, kind: str) -> Group:
        """The group; a group of another kind with this id is replaced."""
        group = self._existing(group_id, kind)
        if group is None:
            group = self.groups[group_id] = Group(kind)
        return group

    def _ensure_member(self, group_id: str, member_id: str, kind: str) -> Member:
        return self._ensure_group(group_id, kind).members.setdefault(member_id, Member())


def _topics(assigned: Sequence[_TopicPartitions]) -> tuple[Assigned, ...]:
    return tuple((None, str(each.topic_id), None, None, tuple(each.partitions)) for each in assigned)


def _tasks(role: str, tasks: Sequence[_Tasks]) -> Iterator[Assigned]:
    return ((None, None, each.subtopology_id, role, tuple(each.partitions)) for each in tasks)
