"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup requests, for groups of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafkawire.broker.groups.by_kind import GroupsByKind
from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.live_groups import refused_join
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.protocol import (
    HeartbeatRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode


class GroupMembers:
    """Passes the requests of members with the classic protocol to their group, of whichever kind it is by then.

    Args:
        coordinator: has the records of all groups.
        groups: of all kinds; share groups and streams groups have no such members.
    """

    def __init__(self, coordinator: GroupCoordinator, groups: GroupsByKind) -> None:
        self._coordinator = coordinator
        self._classic, self._consumer, self._share, self._streams = groups

    async def join(self, joining: Joining, may_see: Callable[[str], bool]) -> JoinGroupResponse:
        """The answer to a JoinGroup request, which may wait for other members.

        Args:
            joining: the request with its client.
            may_see: whether the client may see a topic that a regular expression of the group matches.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        group_id, refused = joining.request.group_id, self._classic.refusal(joining)
        if refused is not None:
            return refused
        await self._coordinator.prepare([group_id])
        streams_group = self._streams.group(group_id)
        is_of_streams = streams_group is not None and not streams_group.is_empty
        if is_of_streams or self._share.group(group_id) is not None:
            return refused_join(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
        if streams_group is not None:
            self._streams.make_room_for_classic(group_id)
        group = self._consumer.group(group_id)
        if group is not None and group.state.members:
            return await self._consumer.join(group, joining, may_see)
        if group is not None:
            self._consumer.make_room_for_classic(group_id)
        return await self._classic.join(joining)

    async def sync(self, request: SyncGroupRequest) -> SyncGroupResponse:
        """The answer to a SyncGroup request, which may wait for the leader.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if request.group_id in self._coordinator.state.by_id:
            await self._coordinator.prepare([request.group_id])
        others = (self._share.group(request.group_id), self._streams.group(request.group_id))
        if any(each is not None for each in others):
            return SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
        group = self._consumer.group(request.group_id)
        return await (self._classic.sync(request) if group is None else self._consumer.sync(group, request))

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        """The error for a heartbeat."""
        group = self._consumer.group(request.group_id)
        return self._classic.heartbeat(request) if group is None else self._consumer.beat(group, request)

    async def leave(
        self, group_id: str, members: Sequence[LeaveGroupRequest.MemberIdentity]
    ) -> Sequence[LeaveGroupResponse.MemberResponse]:
        """The results of a LeaveGroup request.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if group_id in self._coordinator.state.by_id:
            await self._coordinator.prepare([group_id])
        group = self._consumer.group(group_id)
        if group is None:
            return await self._classic.leave(group_id, members)
        return await self._consumer.leave(group, members)
