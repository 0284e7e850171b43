"""Deleting groups and removing their members."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.admin.operations.groups import REMOVED_BY_ADMIN
from kafkawire.model.groups.descriptions import MemberToRemove
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    GroupAuthorizationFailedError,
    GroupDeletionFailedError,
    GroupIdNotFoundError,
    NonEmptyGroupError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import OperationTimeoutError

Codes = Mapping[str, int]
Left = LeaveGroupResponse.MemberResponse


def deletes(
    codes: Callable[[int, str], int], homes: Mapping[str, int] | None = None
) -> dict[type[Message], NodeHandler]:
    def answer(node: int, request: Request) -> Message:
        assert isinstance(request.body, DeleteGroupsRequest)
        result = DeleteGroupsResponse.DeletableGroupResult
        return DeleteGroupsResponse(
            results=tuple(result(name, codes(node, name)) for name in request.body.groups_names)
        )

    return {DeleteGroupsRequest: answer, **coordinators({} if homes is None else homes)}


def leaves(answer: Callable[[LeaveGroupRequest], LeaveGroupResponse]) -> dict[type[Message], NodeHandler]:
    def handle(_: int, request: Request) -> Message:
        assert isinstance(request.body, LeaveGroupRequest)
        return answer(request.body)

    return {LeaveGroupRequest: handle, **coordinators({})}


def all_leave(request: LeaveGroupRequest) -> LeaveGroupResponse:
    return LeaveGroupResponse(members=tuple(Left(each.member_id, each.group_instance_id) for each in request.members))


def asked_to_leave(cluster: StandInCluster) -> list[LeaveGroupRequest]:
    return [body for _, body in cluster.asked if isinstance(body, LeaveGroupRequest)]


async def test_groups_of_a_coordinator_are_deleted_together_each_with_its_outcome() -> None:
    codes = {"full": ErrorCode.NON_EMPTY_GROUP, "none": ErrorCode.GROUP_ID_NOT_FOUND}
    handlers = deletes(lambda _, name: codes.get(name, ErrorCode.NONE), {"far": 2})
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        results = await client.delete_consumer_groups(["a", "full", "none", "far"])
        requests = [(node, b.groups_names) for node, b in cluster.asked if isinstance(b, DeleteGroupsRequest)]
    assert sorted(requests) == [(1, ("a", "full", "none")), (2, ("far",))]
    assert list(results.values()) == ["a", "far"]
    assert [type(error) for error in results.errors().values()] == [NonEmptyGroupError, GroupIdNotFoundError]
    assert [error.outcome_unknown for error in results.errors().values()] == [False, False]


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
async def test_a_group_that_has_moved_is_deleted_at_its_new_coordinator(code: ErrorCode) -> None:
    homes = {"g": 1}

    def codes(node: int, name: str) -> int:
        homes[name] = 2
        return code if node == 1 else 0

    async with StandInCluster(2, deletes(codes, homes)) as cluster, cluster.client() as client:
        (await client.delete_share_groups(["g"])).all()


async def test_a_deletion_without_answer_says_that_its_outcome_is_unknown() -> None:
    handlers: dict[type[Message], NodeHandler] = {DeleteGroupsRequest: lambda *_: Answer(), **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        error = (await client.delete_streams_groups(["g"], timeout=0.2)).errors()["g"]
    assert isinstance(error, OperationTimeoutError)
    assert error.operation == "delete_streams_groups"
    assert error.outcome_unknown


@pytest.mark.parametrize("newest", [2, 3])
async def test_errors_of_groups_that_a_broker_cannot_delete(newest: int) -> None:
    def answer(_: int, request: Request) -> Message:
        result = DeleteGroupsResponse.DeletableGroupResult
        code, text = ErrorCode.GROUP_DELETION_FAILED, "the topology could not be deleted"
        return DeleteGroupsResponse(
            results=(result("g", code, text if request.header.request_api_version >= 3 else None),)
        )

    versions: dict[int, range] = {ApiKey.DELETE_GROUPS: range(newest + 1)}
    handlers: dict[type[Message], NodeHandler] = {DeleteGroupsRequest: answer, **coordinators({})}
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        error = (await client.delete_streams_groups(["g"])).errors()["g"]
    assert isinstance(error, GroupDeletionFailedError)
    assert error.message == ("the topology could not be deleted" if newest == 3 else "")


async def test_given_members_are_removed_by_either_name_each_with_its_outcome() -> None:
    def answer(request: LeaveGroupRequest) -> LeaveGroupResponse:
        codes: Codes = {"gone": ErrorCode.UNKNOWN_MEMBER_ID}
        members = (Left(m.member_id, m.group_instance_id, codes.get(m.member_id, 0)) for m in request.members)
        return LeaveGroupResponse(members=tuple(reversed(tuple(members))))

    here, named, gone = MemberToRemove("m"), MemberToRemove(group_instance_id="i"), MemberToRemove("gone")
    async with StandInCluster(1, leaves(answer)) as cluster, cluster.client() as client:
        results = await client.remove_members_from_consumer_group("g", [here, named, gone], reason="bye")
        (request,) = asked_to_leave(cluster)
    assert (request.group_id, {member.reason for member in request.members}) == ("g", {"bye"})
    assert list(results.values()) == [here, named]
    assert isinstance(results.errors()[gone], UnknownMemberIdError)


async def test_a_member_without_a_name_is_not_sent() -> None:
    async with StandInCluster(1, leaves(all_leave)) as cluster, cluster.client() as client:
        results = await client.remove_members_from_consumer_group("g", [MemberToRemove(), MemberToRemove("m")])
        (request,) = asked_to_leave(cluster)
    assert [member.member_id for member in request.members] == ["m"]
    assert isinstance(results.errors()[MemberToRemove()], UnknownMemberIdError)


async def test_an_error_of_the_group_is_that_of_every_member() -> None:
    def answer(_: LeaveGroupRequest) -> LeaveGroupResponse:
        return LeaveGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)

    async with StandInCluster(1, leaves(answer)) as cluster, cluster.client() as client:
        results = await client.remove_members_from_consumer_group("g", [MemberToRemove("a"), MemberToRemove("b")])
    assert [type(error) for error in results.errors().values()] == [GroupAuthorizationFailedError] * 2


async def test_all_members_means_the_described_members() -> None:
    def described(_: int, __: Request) -> Message:
        member = ConsumerGroupDescribeResponse.Member
        members = (member(member_id="m1"), member(member_id="m2", instance_id="i"))
        group = ConsumerGroupDescribeResponse.DescribedGroup(group_id="g", members=members)
        return ConsumerGroupDescribeResponse(groups=(group,))

    handlers = leaves(all_leave) | {ConsumerGroupDescribeRequest: described}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        results = await client.remove_members_from_consumer_group("g")
        (request,) = asked_to_leave(cluster)
    assert list(results.all()) == [MemberToRemove("m1"), MemberToRemove(group_instance_id="i")]
    assert {member.reason for member in request.members} == {REMOVED_BY_ADMIN}


async def test_all_members_of_a_group_that_does_not_exist_is_an_error() -> None:
    def described(_: int, __: Request) -> Message:
        group = ConsumerGroupDescribeResponse.DescribedGroup(
            error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id="g"
        )
        return ConsumerGroupDescribeResponse(groups=(group,))

    handlers = leaves(all_leave) | {ConsumerGroupDescribeRequest: described}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        with pytest.raises(GroupAuthorizationFailedError):
            await client.remove_members_from_consumer_group("g")


@pytest.mark.parametrize("newest", range(2, 6))
async def test_the_reason_is_sent_to_brokers_that_accept_one(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.LEAVE_GROUP: range(newest + 1)}
    async with StandInCluster(1, leaves(all_leave), versions=versions) as cluster, cluster.client() as client:
        results = await client.remove_members_from_consumer_group("g", [MemberToRemove("m")], reason="x" * 300)
        reasons = [member.reason for request in asked_to_leave(cluster) for member in request.members]
    assert reasons == {2: [], 5: ["x" * 255]}.get(newest, [None])
    assert [type(error) for error in results.errors().values()] == ([UnsupportedVersionError] if newest == 2 else [])
