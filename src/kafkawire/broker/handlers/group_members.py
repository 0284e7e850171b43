"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of classic groups."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups.classic.group import Joining
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
    """Let clients be members of classic groups."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._groups = context.classic_groups
        self._consumer_groups = context.consumer_groups
        self.apis = (
            ServedApi(JoinGroupRequest, self._join, 0, 9),
            ServedApi(SyncGroupRequest, self._sync, 0, 5),
            ServedApi(HeartbeatRequest, self._heartbeat, 0, 4),
            ServedApi(LeaveGroupRequest, self._leave, 0, 5),
        )

    async def _join(self, request: JoinGroupRequest, call: Call) -> JoinGroupResponse | Refused:
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        error = ErrorCode.INVALID_GROUP_ID
        if request.group_id:
            error = await self._consumer_groups.make_room_for_classic(request.group_id)
        if error:
            answer = JoinGroupResponse(error_code=error, member_id=request.member_id)
        else:
            answer = await self._groups.join(Joining(request, call.version, call.client_id, f"/{call.session.host}"))
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
        return await self._groups.sync(request)

    def _heartbeat(self, request: HeartbeatRequest, call: Call) -> HeartbeatResponse | Refused:
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if not request.group_id:
            return HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID)
        return HeartbeatResponse(error_code=self._groups.heartbeat(request))

    async def _leave(self, request: LeaveGroupRequest, call: Call) -> LeaveGroupResponse | Refused:
        if not self._may_read(request.group_id, call):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if not request.group_id:
            return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
        is_classic = self._consumer_groups.group(request.group_id) is None
        leave = self._groups.leave if is_classic else self._consumer_groups.leave
        if call.version >= _BATCHES_SINCE:
            return LeaveGroupResponse(members=await leave(request.group_id, request.members))
        one = LeaveGroupRequest.MemberIdentity(request.member_id)
        (result,) = await leave(request.group_id, [one])
        return LeaveGroupResponse(error_code=result.error_code)

    def _may_read(self, group_id: str, call: Call) -> bool:
        return self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, group_id)
