"""ShareGroupHeartbeat and ShareGroupDescribe (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from kafkawire.broker.authorization import NO_OPERATIONS_REQUESTED
from kafkawire.broker.features import SHARE_FEATURE
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.share.group import ASSIGNOR, ShareGroup
from kafkawire.broker.groups.share.member import ShareMember
from kafkawire.broker.handlers.consumer_groups import HIDDEN_TOPICS
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.group_descriptions import of_groups
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_LONGEST_MEMBER_ID: Final = 36

Described = ShareGroupDescribeResponse.DescribedGroup
DescribedMember = ShareGroupDescribeResponse.Member
DescribedTopic = ShareGroupDescribeResponse.TopicPartitions


class ShareGroupHandlers:
    """Let clients be members of share groups, and describe these."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._coordinator = context.coordinator
        self._features = context.controller.image.features
        self._groups = context.groups.share
        self._topics = context.groups.share.topics
        self.apis = (
            ServedApi(ShareGroupHeartbeatRequest, self._heartbeat, 1, 1),
            ServedApi(ShareGroupDescribeRequest, self._describe, 1, 1),
        )

    async def _heartbeat(
        self, request: ShareGroupHeartbeatRequest, call: Call
    ) -> ShareGroupHeartbeatResponse | Refused:
        if not self._features.levels.get(SHARE_FEATURE):
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if not 0 < len(request.member_id) <= _LONGEST_MEMBER_ID:
            return Refused(ErrorCode.INVALID_REQUEST)
        may_see = self._access.may_describe(call.session, ResourceType.TOPIC)
        if not all(map(may_see, request.subscribed_topic_names or ())):
            return ShareGroupHeartbeatResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        try:
            return await self._groups.heartbeat(request, (call.client_id, f"/{call.session.host}"))
        except GroupError as refused:
            return ShareGroupHeartbeatResponse(error_code=refused.code, error_message=refused.message)

    async def _describe(self, request: ShareGroupDescribeRequest, call: Call) -> ShareGroupDescribeResponse | Refused:
        if not self._features.levels.get(SHARE_FEATURE):
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        await self._coordinator.durable()
        described = await of_groups(
            request.group_ids,
            may=self._access.may_describe(call.session, ResourceType.GROUP),
            describe=partial(self._described, call=call, with_operations=request.include_authorized_operations),
            refuse=lambda group_id: Described(ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id),
        )
        return ShareGroupDescribeResponse(groups=described)

    def _described(self, group_id: str, call: Call, *, with_operations: bool) -> Described:
        if not group_id:
            return Described(ErrorCode.INVALID_GROUP_ID, group_id=group_id)
        try:
            group = self._groups.found(group_id)
        except GroupError as refused:
            return Described(refused.code, refused.message, group_id)
        members = tuple(self._members(group))
        shown = {topic.topic_name for member in members for topic in member.assignment.topic_partitions}
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
            assignor_name=ASSIGNOR,
            members=members,
            authorized_operations=operations,
        )

    def _members(self, group: ShareGroup) -> Iterator[DescribedMember]:
        for member in group.state.members.values():
            yield DescribedMember(
                member.member_id,
                member.rack_id,
                member.epoch,
                member.client_id,
                member.client_host,
                member.topics,
                self._assignment(member),
            )

    def _assignment(self, member: ShareMember) -> ShareGroupDescribeResponse.Assignment:
        named = ((topic, self._topics.name_of(topic), each) for topic, each in member.assigned.items())
        return ShareGroupDescribeResponse.Assignment(
            tuple(DescribedTopic(topic, name, each) for topic, name, each in named if name is not None)
        )
