"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup, the requests of the classic protocol."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.live_groups import refused_join
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_NULL_NAME_SINCE: Final = 7
_PROTOCOL_SINCE: Final = 5
_BATCHES_SINCE: Final = 3


class GroupMemberHandlers:
    """Let clients be members of groups with the classic protocol."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._members = context.group_members
        self.apis = (
            ServedApi(JoinGroupRequest, self._join, 0, 9),
            ServedApi(SyncGroupRequest, self._sync, 0, 5),
            ServedApi(HeartbeatRequest, self._heartbeat, 0, 4),
            ServedApi(LeaveGroupRequest, self._leave, 0, 5),
        )

    async def _join(self, request: JoinGroupRequest, call: Call) -> JoinGroupResponse | Refused:
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if request.group_id:
            joining = Joining(request, call.version, call.client_id, f"/{call.session.host}")
            may_see = self._access.may_describe(call.session, ResourceType.TOPIC)
            answer = await self._members.join(joining, may_see)
        else:
            answer = refused_join(ErrorCode.INVALID_GROUP_ID, request.member_id)
        if call.version < _NULL_NAME_SINCE:
            return replace(answer, protocol_name=answer.protocol_name or "")
        return replace(answer, protocol_name=answer.protocol_name or None)

    async def _sync(self, request: SyncGroupRequest, call: Call) -> SyncGroupResponse | Refused:
        is_named = request.protocol_type is not None and request.protocol_name is not None
        if call.version >= _PROTOCOL_SINCE and not is_named:
            return Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if not request.group_id:
            return SyncGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
        return await self._members.sync(request)

    def _heartbeat(self, request: HeartbeatRequest, call: Call) -> HeartbeatResponse | Refused:
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if not request.group_id:
            return HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID)
        return HeartbeatResponse(error_code=self._members.heartbeat(request))

    async def _leave(self, request: LeaveGroupRequest, call: Call) -> LeaveGroupResponse | Refused:
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if not request.group_id:
            return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
        if call.version >= _BATCHES_SINCE:
            return LeaveGroupResponse(members=await self._members.leave(request.group_id, request.members))
        one = LeaveGroupRequest.MemberIdentity(request.member_id)
        (result,) = await self._members.leave(request.group_id, [one])
        return LeaveGroupResponse(error_code=result.error_code)

    def _may_read(self, group_id: str, call: Call) -> bool:
        return self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, group_id)
