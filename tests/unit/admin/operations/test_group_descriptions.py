"""Describing groups: two protocols for consumers, coordinators, and the bytes of members."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.groups.descriptions import ClassicGroupMember, ConsumerGroupMember, GroupState, GroupType
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    InvalidGroupIdError,
    UnsupportedVersionError,
)
from kafkawire.records.consumer_protocol import encode_assignment, encode_subscription
from kafkawire.rpc import Request
from kafkawire.wire import Message

New = ConsumerGroupDescribeResponse.DescribedGroup
Classic = DescribeGroupsResponse.DescribedGroup

ASSIGNMENT = encode_assignment(
    ConsumerProtocolAssignment(
        assigned_partitions=(ConsumerProtocolAssignment.TopicPartition("t", (2, 0)),), user_data=None
    ),
    3,
)
SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(topics=("t", "u"), rack_id="r1"), 3)


def describes(
    new: Callable[[int, str], New] | None = None, classic: Callable[[int, str], Classic] | None = None
) -> dict[type[Message], NodeHandler]:
    """Each group is described by functions of node and group; an API without one is not offered."""
    handlers: dict[type[Message], NodeHandler] = {}
    if new is not None:

        def answer_new(node: int, request: Request) -> Message:
            assert isinstance(request.body, ConsumerGroupDescribeRequest)
            return ConsumerGroupDescribeResponse(groups=tuple(new(node, group) for group in request.body.group_ids))

        handlers[ConsumerGroupDescribeRequest] = answer_new
    if classic is not None:

        def answer_classic(node: int, request: Request) -> Message:
            assert isinstance(request.body, DescribeGroupsRequest)
            return DescribeGroupsResponse(groups=tuple(classic(node, group) for group in request.body.groups))

        handlers[DescribeGroupsRequest] = answer_classic
    return handlers | coordinators({})


def not_found(_: int, group: str) -> New:
    return New(error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message="not of that kind", group_id=group)


def stable(_: int, group: str) -> New:
    topics = ConsumerGroupDescribeResponse.TopicPartitions
    assignment = ConsumerGroupDescribeResponse.Assignment
    member = ConsumerGroupDescribeResponse.Member(
        member_id="m", instance_id="i", rack_id="r", member_epoch=4, client_id="c", client_host="/h",
        subscribed_topic_names=("t",), subscribed_topic_regex="x.*", member_type=1,
        assignment=assignment((topics(Uuid(b"1" * 16), "t", (1, 0)),)), target_assignment=assignment(()),
    )  # fmt: skip
    return New(
        group_id=group, group_state="Reconciling", group_epoch=5, assignment_epoch=4, assignor_name="uniform",
        members=(member,), authorized_operations=1 << AclOperation.READ,
    )  # fmt: skip


def classic_group(
    _: int,
    group: str,
    *,
    kind: str = "consumer",
    assignment: bytes = ASSIGNMENT,
    metadata: bytes = SUBSCRIPTION,
) -> Classic:
    member = DescribeGroupsResponse.DescribedGroupMember("m", None, "c", "/h", metadata, assignment)
    return Classic(group_id=group, group_state="Stable", protocol_type=kind, protocol_data="range", members=(member,))


def empty(_: int, group: str) -> Classic:
    return Classic(group_id=group, group_state="Empty", protocol_type="", protocol_data="")


def asked(cluster: StandInCluster, kind: type[Message]) -> list[Message]:
    return [body for _, body in cluster.asked if isinstance(body, kind)]


async def test_a_group_of_the_consumer_protocol_is_described_whole() -> None:
    async with StandInCluster(1, describes(stable)) as cluster, cluster.client() as client:
        group = (await client.describe_consumer_groups(["g"], include_authorized_operations=True))["g"]
    assert (group.type, group.state, group.coordinator) == (GroupType.CONSUMER, GroupState.RECONCILING, 1)
    assert (group.group_epoch, group.assignment_epoch, group.assignor) == (5, 4, "uniform")
    assert group.authorized_operations == frozenset({AclOperation.READ})
    assert not group.is_simple_consumer_group
    assert group.members == (
        ConsumerGroupMember(
            member_id="m", group_instance_id="i", client_id="c", client_host="/h",
            assignment=(TopicPartition("t", 0), TopicPartition("t", 1)), target_assignment=(), rack_id="r",
            member_epoch=4, subscribed_topics=("t",), subscribed_regex="x.*", is_upgraded=True,
        ),
    )  # fmt: skip


async def test_only_groups_that_are_not_of_the_new_protocol_are_asked_for_by_the_old_one() -> None:
    def new(node: int, group: str) -> New:
        return stable(node, group) if group == "new" else not_found(node, group)

    def classic(node: int, group: str) -> Classic:
        if group == "none":
            return Classic(error_code=ErrorCode.GROUP_ID_NOT_FOUND, error_message="no such group", group_id=group)
        return classic_group(node, group)

    async with StandInCluster(1, describes(new, classic)) as cluster, cluster.client() as client:
        groups = await client.describe_consumer_groups(["new", "old", "none"])
        (request,) = asked(cluster, DescribeGroupsRequest)
        assert isinstance(request, DescribeGroupsRequest)
        assert request.groups == ("old", "none")
    assert {name: group.type for name, group in groups.values().items()} == {
        "new": GroupType.CONSUMER,
        "old": GroupType.CLASSIC,
    }
    error = groups.errors()["none"]
    assert isinstance(error, GroupIdNotFoundError)
    assert error.message == "no such group"


async def test_a_coordinator_that_answers_unsupported_version_is_asked_by_the_old_protocol() -> None:
    def new(_: int, group: str) -> New:
        return New(error_code=ErrorCode.UNSUPPORTED_VERSION, group_id=group)

    async with StandInCluster(1, describes(new, classic_group)) as cluster, cluster.client() as client:
        assert (await client.describe_consumer_groups(["g"]))["g"].type is GroupType.CLASSIC


async def test_brokers_without_the_new_protocol_are_asked_by_the_old_one_at_once() -> None:
    async with StandInCluster(1, describes(None, classic_group)) as cluster, cluster.client() as client:
        group = (await client.describe_consumer_groups(["g"]))["g"]
    assert (group.type, group.assignor, group.group_epoch) == (GroupType.CLASSIC, "range", None)
    assert group.members == (
        ConsumerGroupMember(
            member_id="m", group_instance_id=None, client_id="c", client_host="/h",
            assignment=(TopicPartition("t", 0), TopicPartition("t", 2)), rack_id="r1", subscribed_topics=("t", "u"),
            is_upgraded=False,
        ),
    )  # fmt: skip


async def test_a_downgrade_is_no_attempt() -> None:
    def secret(_: int, group: str) -> Classic:
        return Classic(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group)

    async with StandInCluster(1, describes(None, secret)) as cluster, cluster.client() as client:
        assert (await client.describe_consumer_groups(["g"])).errors()["g"].attempts == 1
        assert (await client.describe_share_groups(["g"])).errors()["g"].attempts == 0


async def test_other_errors_of_the_new_protocol_are_final() -> None:
    def new(_: int, group: str) -> New:
        return New(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group)

    async with StandInCluster(1, describes(new, classic_group)) as cluster, cluster.client() as client:
        errors = (await client.describe_consumer_groups(["g"])).errors()
        assert isinstance(errors["g"], GroupAuthorizationFailedError)
        assert asked(cluster, DescribeGroupsRequest) == []


async def test_a_classic_group_that_is_not_of_consumers_is_refused_by_the_consumers_method_only() -> None:
    def connect(node: int, group: str) -> Classic:
        return classic_group(node, group, kind="connect", assignment=b"\x01", metadata=b"\x02")

    async with StandInCluster(1, describes(not_found, connect)) as cluster, cluster.client() as client:
        error = (await client.describe_consumer_groups(["g"])).errors()["g"]
        assert isinstance(error, GroupIdNotFoundError)
        assert "'connect': use describe_classic_groups" in error.message
        group = (await client.describe_classic_groups(["g"]))["g"]
    assert (group.protocol_type, group.protocol, group.state) == ("connect", "range", GroupState.STABLE)
    assert group.members == (ClassicGroupMember("m", None, "c", "/h", metadata=b"\x02", assignment=b"\x01"),)


async def test_an_assignment_that_makes_no_sense_leaves_the_bytes_and_the_other_groups() -> None:
    def classic(node: int, group: str) -> Classic:
        return classic_group(node, group, assignment=b"\xff" if group == "odd" else ASSIGNMENT)

    async with StandInCluster(1, describes(None, classic)) as cluster, cluster.client() as client:
        groups = await client.describe_consumer_groups(["odd", "fine"])
        assert list(groups.values()) == ["fine"]
        assert "the member m of the group odd" in str(groups.errors()["odd"])
        (member,) = (await client.describe_classic_groups(["odd"]))["odd"].members
    assert (member.assignment, member.partitions) == (b"\xff", None)


async def test_a_subscription_that_makes_no_sense_hides_topics_only() -> None:
    def classic(node: int, group: str) -> Classic:
        return classic_group(node, group, metadata=b"\x00")

    async with StandInCluster(1, describes(None, classic)) as cluster, cluster.client() as client:
        (member,) = (await client.describe_classic_groups(["g"]))["g"].members
        assert (member.subscribed_topics, member.rack_id) == (None, None)
        (member_of_group,) = (await client.describe_consumer_groups(["g"]))["g"].members
    assert member_of_group.subscribed_topics == ()
    assert member_of_group.assignment == (TopicPartition("t", 0), TopicPartition("t", 2))


async def test_members_of_a_group_that_has_not_settled_have_nothing() -> None:
    def joining(node: int, group: str) -> Classic:
        return classic_group(node, group, assignment=b"", metadata=b"")

    async with StandInCluster(1, describes(None, joining)) as cluster, cluster.client() as client:
        (member,) = (await client.describe_consumer_groups(["g"]))["g"].members
    assert (member.assignment, member.subscribed_topics) == ((), ())


async def test_a_group_that_only_keeps_offsets_is_simple() -> None:
    async with StandInCluster(1, describes(not_found, empty)) as cluster, cluster.client() as client:
        group = (await client.describe_consumer_groups(["g"]))["g"]
    assert group.is_simple_consumer_group
    assert (group.state, group.members) == (GroupState.EMPTY, ())


async def test_dead_groups_of_older_brokers_are_not_found() -> None:
    def dead(_: int, group: str) -> Classic:
        return Classic(group_id=group, group_state="Dead")

    versions: dict[int, range] = {ApiKey.DESCRIBE_GROUPS: range(6)}
    async with StandInCluster(1, describes(None, dead), versions=versions) as cluster, cluster.client() as client:
        assert isinstance((await client.describe_classic_groups(["g"])).errors()["g"], GroupIdNotFoundError)
        assert isinstance((await client.describe_consumer_groups(["g"])).errors()["g"], GroupIdNotFoundError)


@pytest.mark.parametrize("newest", range(7))
async def test_brokers_of_every_version_describe_classic_groups(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.DESCRIBE_GROUPS: range(newest + 1)}
    handlers = describes(None, classic_group)
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        assert (await client.describe_classic_groups(["g"]))["g"].protocol == "range"
        authorized = await client.describe_classic_groups(["g"], include_authorized_operations=True)
    assert [type(error) for error in authorized.errors().values()] == ([UnsupportedVersionError] if newest < 3 else [])


async def test_groups_of_a_coordinator_share_a_request() -> None:
    handlers = describes(stable) | coordinators({"a": 1, "b": 2, "c": 1})
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        groups = (await client.describe_consumer_groups(list("abc"))).all()
        assert {name: group.coordinator for name, group in groups.items()} == {"a": 1, "b": 2, "c": 1}
        assert len(asked(cluster, ConsumerGroupDescribeRequest)) == 2


@pytest.mark.parametrize(
    "code",
    [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR],
)
async def test_a_group_whose_coordinator_has_moved_is_asked_for_at_the_new_one(code: ErrorCode) -> None:
    homes = {"a": 1, "b": 1}

    def new(node: int, group: str) -> New:
        if group == "b" and node == 1:
            homes["b"] = 2
            return New(error_code=code, group_id=group)
        return stable(node, group)

    handlers = describes(new) | coordinators(homes)
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        groups = (await client.describe_consumer_groups(["a", "b"])).all()
        assert {name: group.coordinator for name, group in groups.items()} == {"a": 1, "b": 2}
        assert len(asked(cluster, FindCoordinatorRequest)) == 2


async def test_a_coordinator_that_hangs_up_is_looked_up_again() -> None:
    homes = {"g": 1}

    def hang_up(node: int, _: Request) -> Message | Answer:
        if node == 1:
            homes["g"] = 2
            return Answer(close=True)
        return ConsumerGroupDescribeResponse(groups=(stable(node, "g"),))

    handlers: dict[type[Message], NodeHandler] = {ConsumerGroupDescribeRequest: hang_up, **coordinators(homes)}
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        assert (await client.describe_consumer_groups(["g"]))["g"].coordinator == 2


async def test_an_error_of_finding_a_coordinator_is_an_error_of_its_group_only() -> None:
    def find(_: int, request: Request) -> Message:
        found = coordinators({})[FindCoordinatorRequest](1, request)
        assert isinstance(found, FindCoordinatorResponse)
        return FindCoordinatorResponse(
            coordinators=tuple(
                FindCoordinatorResponse.Coordinator(each.key, -1, "", -1, ErrorCode.INVALID_GROUP_ID, "bad")
                if each.key == "bad"
                else each
                for each in found.coordinators
            )
        )

    handlers = describes(stable) | {FindCoordinatorRequest: find}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        groups = await client.describe_consumer_groups(["bad", "g"])
    assert list(groups.values()) == ["g"]
    assert isinstance(groups.errors()["bad"], InvalidGroupIdError)
