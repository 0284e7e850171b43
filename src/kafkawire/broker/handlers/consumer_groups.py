"""ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from kafkawire.broker.authorization import NO_OPERATIONS_REQUESTED
from kafkawire.broker.features import GROUP_FEATURE
from kafkawire.broker.groups.consumer.group import ConsumerGroup
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.target_assignment import preferred_assignor
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.group_descriptions import of_groups
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

HIDDEN_TOPICS: Final = "The group has described topic(s) that the client is not authorized to describe."
"""Kafka's message for groups whose members have topics that the client may not see."""

_CLASSIC_MEMBER: Final = 0
_CONSUMER_MEMBER: Final = 1

Described = ConsumerGroupDescribeResponse.DescribedGroup
DescribedMember = ConsumerGroupDescribeResponse.Member
DescribedTopic = ConsumerGroupDescribeResponse.TopicPartitions


class ConsumerGroupHandlers:
    """Let clients be members of consumer groups, and describe these."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._coordinator = context.coordinator
        self._features = context.controller.image.features
        self._groups = context.groups.consumer
        self._classic = context.groups.classic
        self._topics = context.groups.consumer.topics
        self.apis = (
            ServedApi(ConsumerGroupHeartbeatRequest, self._heartbeat, 0, 1),
            ServedApi(ConsumerGroupDescribeRequest, self._describe, 0, 1),
        )

    @property
    def _is_served(self) -> bool:
        return self._groups.is_served and bool(self._features.levels.get(GROUP_FEATURE))

    async def _heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, call: Call
    ) -> ConsumerGroupHeartbeatResponse | Refused:
        if not self._is_served:
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        may_see = self._access.may_describe(call.session, ResourceType.TOPIC)
        if not all(map(may_see, request.subscribed_topic_names or ())):
            return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        client = (call.client_id, f"/{call.session.host}")
        try:
            return await self._groups.heartbeat(request, call.version, client, may_see)
        except GroupError as refused:
            return ConsumerGroupHeartbeatResponse(error_code=refused.code, error_message=refused.message)

    async def _describe(
        self, request: ConsumerGroupDescribeRequest, call: Call
    ) -> ConsumerGroupDescribeResponse | Refused:
        if not self._is_served:
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        await self._coordinator.durable()
        described = await of_groups(
            request.group_ids,
            may=self._access.may_describe(call.session, ResourceType.GROUP),
            describe=partial(self._described, call=call, with_operations=request.include_authorized_operations),
            refuse=lambda group_id: Described(ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id),
        )
        return ConsumerGroupDescribeResponse(groups=described)

    def _described(self, group_id: str, call: Call, *, with_operations: bool) -> Described:
        if not group_id:
            return Described(ErrorCode.INVALID_GROUP_ID, group_id=group_id)
        group = self._groups.group(group_id)
        if group is None:
            is_other = group_id in self._coordinator.state.by_id or self._classic.group(group_id) is not None
            reason = f"Group {group_id} is not a consumer group." if is_other else f"Group {group_id} not found."
            return Described(ErrorCode.GROUP_ID_NOT_FOUND, reason, group_id)
        members = tuple(self._members(group))
        shown = {
            topic.topic_name
            for member in members
            for each in (member.assignment, member.target_assignment)
            for topic in each.topic_partitions
        }
        if not all(map(self._access.may_describe(call.session, ResourceType.TOPIC), shown)):
            return Described(ErrorCode.TOPIC_AUTHORIZATION_FAILED, HIDDEN_TOPICS, group_id)
        operations = NO_OPERATIONS_REQUESTED
        if with_operations:
            operations = self._access.operations(call.session, ResourceType.GROUP, group_id)
        return Described(
            group_id=group_id,
            group_state=group.state.state.value,
            group_epoch=group.state.epoch,
            assignment_epoch=group.state.assignment_epoch,
            assignor_name=preferred_assignor(group.state.members.values(), self._groups.assignors),
            members=members,
            authorized_operations=operations,
        )

    def _members(self, group: ConsumerGroup) -> Iterator[DescribedMember]:
        for member in group.state.members.values():
            yield DescribedMember(
                member.member_id,
                member.instance_id,
                member.rack_id,
                member.epoch,
                member.client_id,
                member.client_host,
                member.topics,
                member.regex,
                self._assignment(_responsible(member)),
                self._assignment(group.state.target(member.member_id).items()),
                _CLASSIC_MEMBER if member.is_classic else _CONSUMER_MEMBER,
            )

    def _assignment(self, partitions: Iterable[tuple[Uuid, Iterable[int]]]) -> ConsumerGroupDescribeResponse.Assignment:
        named = ((topic, self._topics.name_of(topic), each) for topic, each in partitions)
        return ConsumerGroupDescribeResponse.Assignment(
            tuple(DescribedTopic(topic, name, tuple(each)) for topic, name, each in named if name is not None)
        )


def _responsible(member: Member) -> Iterable[tuple[Uuid, Iterable[int]]]:
    """What a member owns, including what it must give up: it still reads that."""
    for topic in dict.fromkeys((*member.assigned, *member.revoking)):
        yield topic, (*member.assigned.get(topic, ()), *member.revoking.get(topic, ()))
