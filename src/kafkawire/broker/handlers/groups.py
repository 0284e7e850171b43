"""FindCoordinator, ListGroups, DescribeGroups and DeleteGroups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import partial
from types import MappingProxyType
from typing import Final

from kafkawire.broker.authorization import NO_OPERATIONS_REQUESTED
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.groups.classic.group import ClassicGroup
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.group_descriptions import of_groups
from kafkawire.broker.refusals import MALFORMED
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_BATCHES_SINCE: Final = 4
_SHARE_SINCE: Final = 6
_NOT_FOUND_SINCE: Final = 6
_PARTITION: Final = re.compile(r"[+-]?[0-9]{1,11}", re.ASCII)
_INT32: Final = range(-(1 << 31), 1 << 31)
_WORDS: Final[Mapping[ErrorCode, str]] = MappingProxyType(
    {
        ErrorCode.NONE: "NONE",
        ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
        ErrorCode.INVALID_REQUEST: MALFORMED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional Id authorization failed.",
    }
)
"""Kafka's messages before version 4 of FindCoordinator; later versions have none."""


class CoordinatorType(IntEnum):
    """The kinds of keys in FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class GroupHandlers:
    """Find coordinators; list, describe and delete groups."""

    def __init__(self, context: HandlerContext) -> None:
        self._cluster = context.cluster
        self._coordinator = context.coordinator
        self._groups = context.groups
        self._transactions = context.transactions
        self._access = context.access
        self.apis = (
            ServedApi(FindCoordinatorRequest, self._find_coordinator, 0, 6),
            ServedApi(ListGroupsRequest, self._list_groups, 0, 5),
            ServedApi(DescribeGroupsRequest, self._describe_groups, 0, 6),
            ServedApi(DeleteGroupsRequest, self._delete_groups, 0, 2, highest_later=3),
        )

    async def _find_coordinator(self, request: FindCoordinatorRequest, call: Call) -> Message | Refused:
        if request.key_type not in set(CoordinatorType):
            return Refused(ErrorCode.INVALID_REQUEST, MALFORMED)
        is_of_share_groups = request.key_type == CoordinatorType.SHARE and call.version >= _SHARE_SINCE
        if is_of_share_groups and not self._access.allows_on_cluster(call.session, AclOperation.CLUSTER_ACTION):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
        if call.version >= _BATCHES_SINCE:
            keys = in_slices(request.coordinator_keys)
            found = [self._coordinator_of(key, request.key_type, call) async for key in keys]
            return FindCoordinatorResponse(coordinators=tuple(found))
        one = self._coordinator_of(request.key, request.key_type, call)
        return FindCoordinatorResponse(
            error_code=one.error_code,
            error_message=one.error_message,
            node_id=one.node_id,
            host=one.host,
            port=one.port,
        )

    def _coordinator_of(self, key: str, key_type: int, call: Call) -> FindCoordinatorResponse.Coordinator:
        refused = self._key_refused(key, key_type, call)
        message = "" if call.version >= _BATCHES_SINCE else _WORDS[refused]
        if refused:
            return FindCoordinatorResponse.Coordinator(key, -1, "", -1, refused, message)
        if key_type == CoordinatorType.GROUP:
            self._coordinator.expect()
        elif key_type == CoordinatorType.TRANSACTION:
            self._transactions.expect()
        else:
            self._groups.share.share_coordinator.expect()
        own = self._cluster.endpoint(call.session.listener)
        return FindCoordinatorResponse.Coordinator(key, self._cluster.node_id, own.host, own.port, refused, message)

    def _key_refused(self, key: str, key_type: int, call: Call) -> ErrorCode:
        describe = AclOperation.DESCRIBE
        match key_type:
            case CoordinatorType.GROUP if not self._access.allows(call.session, describe, ResourceType.GROUP, key):
                return ErrorCode.GROUP_AUTHORIZATION_FAILED
            case CoordinatorType.TRANSACTION if not self._access.allows(
                call.session, describe, ResourceType.TRANSACTIONAL_ID, key
            ):
                return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            case CoordinatorType.SHARE if call.version < _SHARE_SINCE or not _is_share_partition_key(key):
                return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE

    async def _list_groups(self, request: ListGroupsRequest, call: Call) -> ListGroupsResponse:
        await self._coordinator.durable()
        states = {state.lower().strip() for state in request.states_filter}
        types = {kind.lower() for kind in request.types_filter}
        sees_all = self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE)
        groups = [
            group
            async for group_id in in_slices(tuple(self._coordinator.state.by_id))
            if sees_all or self._allows(call, AclOperation.DESCRIBE, group_id)
            if (group := self._listed(group_id)) is not None
            if not states or group.group_state.lower() in states
            if not types or group.group_type in types
        ]
        return ListGroupsResponse(groups=tuple(groups))

    def _listed(self, group_id: str) -> ListGroupsResponse.ListedGroup | None:
        listed, stored = ListGroupsResponse.ListedGroup, self._coordinator.state.by_id.get(group_id)
        if stored is None:
            return None
        kind, assigned = stored.kind.value, self._groups.assigned(group_id)
        if assigned is not None:
            return listed(group_id, kind, assigned.state.state.value, kind)
        group = self._groups.classic.group(group_id)
        return None if group is None else listed(group_id, group.protocol_type, group.state.value, kind)

    async def _describe_groups(self, request: DescribeGroupsRequest, call: Call) -> DescribeGroupsResponse:
        await self._coordinator.durable()
        refused = partial(DescribeGroupsResponse.DescribedGroup, ErrorCode.GROUP_AUTHORIZATION_FAILED, None)
        described = await of_groups(
            request.groups,
            may=partial(self._allows, call, AclOperation.DESCRIBE),
            describe=partial(self._described, call=call, with_operations=request.include_authorized_operations),
            refuse=refused,
        )
        return DescribeGroupsResponse(groups=described)

    def _described(self, group_id: str, call: Call, *, with_operations: bool) -> DescribeGroupsResponse.DescribedGroup:
        described = DescribeGroupsResponse.DescribedGroup
        group, dead = self._groups.classic.group(group_id), State.DEAD.value
        if group is None and call.version >= _NOT_FOUND_SINCE:
            is_other = group_id in self._coordinator.state.by_id
            reason = f"Group {group_id} is not a classic group." if is_other else f"Group {group_id} not found."
            return described(ErrorCode.GROUP_ID_NOT_FOUND, reason, group_id, dead)
        operations = (
            self._access.operations(call.session, ResourceType.GROUP, group_id)
            if with_operations
            else NO_OPERATIONS_REQUESTED
        )
        if group is None:
            return described(group_id=group_id, group_state=dead, authorized_operations=operations)
        is_stable = group.state is State.STABLE
        protocol = group.protocol if is_stable else None
        return described(
            group_id=group_id,
            group_state=group.state.value,
            protocol_type=group.protocol_type,
            protocol_data=protocol or "",
            members=tuple(_members(group, protocol)),
            authorized_operations=operations,
        )

    async def _delete_groups(self, request: DeleteGroupsRequest, call: Call) -> DeleteGroupsResponse:
        group_ids = dict.fromkeys(request.groups_names)
        results = []
        async for group_id in in_slices(group_ids):
            if group_id in self._coordinator.state.by_id:
                await self._groups.share.prepare_to_end(group_id)
            error = self._deletion_error(group_id, call)
            if not error:
                self._groups.share.end_states(group_id)
                self._groups.forget(group_id)
                self._coordinator.commit(list(self._coordinator.state.by_id[group_id].removal()))
            results.append(DeleteGroupsResponse.DeletableGroupResult(group_id, error))
        await self._groups.share.share_coordinator.durable()
        await self._coordinator.durable()
        return DeleteGroupsResponse(results=tuple(results))

    def _deletion_error(self, group_id: str, call: Call) -> ErrorCode:
        if not self._allows(call, AclOperation.DELETE, group_id):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED
        assigned = self._groups.assigned(group_id)
        if assigned is not None:
            return ErrorCode.NONE if assigned.is_empty else ErrorCode.NON_EMPTY_GROUP
        group = self._groups.classic.group(group_id)
        return ErrorCode.GROUP_ID_NOT_FOUND if group is None else group.deletion_error

    def _allows(self, call: Call, operation: AclOperation, group_id: str) -> bool:
        return self._access.allows(call.session, operation, ResourceType.GROUP, group_id)


def _members(group: ClassicGroup, protocol: str | None) -> Iterator[DescribeGroupsResponse.DescribedGroupMember]:
    """The members of a group; their metadata only for the protocol of a stable group."""
    for member in group.roster.members.values():
        yield DescribeGroupsResponse.DescribedGroupMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata(protocol),
            member.assignment,
        )


def _is_share_partition_key(key: str) -> bool:
    """Whether a key is ``group:topic id:partition``, as Kafka parses it (KIP-932)."""
    group, _, rest = key.rpartition(":")[0].rpartition(":")
    partition = key.rpartition(":")[2]
    if not group.strip() or not _PARTITION.fullmatch(partition) or int(partition) not in _INT32:
        return False
    try:
        Uuid.from_text(rest)
    except ValueError:
        return False
    return True
