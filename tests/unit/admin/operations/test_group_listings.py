"""Listing groups: all nodes, filters that old brokers lack, and nodes that fail."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.model.groups.descriptions import GroupListing, GroupState, GroupType
from kafkawire.protocol import ListGroupsRequest, ListGroupsResponse
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import ClusterAuthorizationFailedError, UnsupportedVersionError
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import OperationTimeoutError

Group = ListGroupsResponse.ListedGroup


def lists(
    groups: Mapping[int, tuple[Group, ...]], codes: Mapping[int, list[int]] | None = None
) -> dict[type[Message], NodeHandler]:
    """Each node lists its groups, after it has answered with its codes one by one."""

    def answer(node: int, _: Request) -> Message:
        left = (codes or {}).get(node, [])
        return ListGroupsResponse(error_code=left.pop(0)) if left else ListGroupsResponse(groups=groups.get(node, ()))

    return {ListGroupsRequest: answer}


def asked(cluster: StandInCluster) -> list[ListGroupsRequest]:
    return [body for _, body in cluster.asked if isinstance(body, ListGroupsRequest)]


async def test_the_groups_of_all_nodes_are_put_together() -> None:
    groups = {
        1: (Group("a", "consumer", "Stable", "classic"),),
        2: (Group("b", "share", "Empty", "share"),),
        3: (Group("c", "", "Hibernating", "futuristic"),),
    }
    async with StandInCluster(3, lists(groups)) as cluster, cluster.client() as client:
        listed = (await client.list_groups()).all()
    assert listed == (
        GroupListing("a", "consumer", GroupState.STABLE, GroupType.CLASSIC),
        GroupListing("b", "share", GroupState.EMPTY, GroupType.SHARE),
        GroupListing("c", "", GroupState("Hibernating"), GroupType("futuristic")),
    )


async def test_a_node_that_is_still_loading_is_asked_again_and_no_other() -> None:
    codes: dict[int, list[int]] = {2: [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE]}
    groups = {1: (Group("a"),), 2: (Group("b"),)}
    async with StandInCluster(2, lists(groups, codes)) as cluster, cluster.client() as client:
        assert [group.group_id for group in (await client.list_groups()).all()] == ["a", "b"]
        assert sorted(node for node, _ in cluster.asked) == [1, 2, 2, 2]


async def test_a_node_that_fails_is_reported_beside_the_groups_of_the_others() -> None:
    codes = {2: [int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)]}
    async with StandInCluster(2, lists({1: (Group("a"),)}, codes)) as cluster, cluster.client() as client:
        listed = await client.list_groups()
    assert [group.group_id for group in listed.values()] == ["a"]
    assert [(node, type(error), error.node) for node, error in listed.errors().items()] == [
        (2, ClusterAuthorizationFailedError, 2)
    ]
    with pytest.raises(ExceptionGroup):
        listed.all()


async def test_nodes_are_looked_up_for_each_call() -> None:
    async with StandInCluster(2, lists({1: (Group("a"),), 2: (Group("b"),)})) as cluster, cluster.client() as client:
        (await client.list_groups()).all()
        await cluster.brokers.pop(2).stop()
        assert [group.group_id for group in (await client.list_groups()).all()] == ["a"]


async def test_that_no_node_answers_names_the_method() -> None:
    async with StandInCluster(1, lists({})) as cluster, cluster.client() as client:
        await cluster.brokers[1].stop()
        with pytest.raises(OperationTimeoutError, match="list_groups timed out"):
            await client.list_groups(timeout=0.2)


@pytest.mark.parametrize("newest", range(6))
async def test_brokers_of_every_version_list_their_groups(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.LIST_GROUPS: range(newest + 1)}
    groups = {1: (Group("a", "consumer", "Stable", "consumer"),)}
    async with StandInCluster(1, lists(groups), versions=versions) as cluster, cluster.client() as client:
        (group,) = (await client.list_groups()).all()
    assert (group.group_id, group.protocol_type) == ("a", "consumer")
    assert group.state is (GroupState.STABLE if newest >= 4 else None)
    assert group.type is (GroupType.CONSUMER if newest >= 5 else None)


@pytest.mark.parametrize(("newest", "served"), [(5, True), (4, True), (3, False)])
async def test_a_filter_of_states_fails_at_brokers_that_do_not_know_it(newest: int, served: bool) -> None:
    versions: dict[int, range] = {ApiKey.LIST_GROUPS: range(newest + 1)}
    async with StandInCluster(1, lists({}), versions=versions) as cluster, cluster.client() as client:
        listed = await client.list_groups(states=[GroupState.STABLE, GroupState.EMPTY])
        assert [body.states_filter for body in asked(cluster)] == ([("Stable", "Empty")] if served else [])
    assert [type(error) for error in listed.errors().values()] == ([] if served else [UnsupportedVersionError])


@pytest.mark.parametrize(
    ("types", "served"),
    [
        ({GroupType.CLASSIC}, True),
        ({GroupType.CLASSIC, GroupType.CONSUMER}, True),
        ({GroupType.CONSUMER}, False),
        ({GroupType.SHARE}, False),
        ({GroupType.CLASSIC, GroupType.SHARE}, False),
    ],
)
async def test_a_filter_of_types_is_dropped_only_where_old_brokers_have_no_other(
    types: set[GroupType], served: bool
) -> None:
    versions: dict[int, range] = {ApiKey.LIST_GROUPS: range(5)}
    async with StandInCluster(1, lists({1: (Group("a"),)}), versions=versions) as cluster, cluster.client() as client:
        listed = await client.list_groups(types=types)
        assert [body.types_filter for body in asked(cluster)] == ([()] if served else [])
    assert [group.group_id for group in listed.values()] == (["a"] if served else [])
    assert [type(error) for error in listed.errors().values()] == ([] if served else [UnsupportedVersionError])


async def test_a_filter_of_types_is_sent_to_brokers_that_know_it() -> None:
    async with StandInCluster(1, lists({})) as cluster, cluster.client() as client:
        (await client.list_groups(types=[GroupType.CLASSIC])).all()
        assert [body.types_filter for body in asked(cluster)] == [("classic",)]


async def test_groups_of_consumers_are_recognized_by_type_and_protocol_type() -> None:
    groups = {1: (Group("consumers", "consumer"), Group("simple", ""), Group("workers", "connect"))}
    async with StandInCluster(1, lists(groups)) as cluster, cluster.client() as client:
        listed = (await client.list_consumer_groups()).all()
        assert [set(body.types_filter) for body in asked(cluster)] == [{"classic", "consumer"}]
    assert [(group.group_id, group.is_simple_consumer_group) for group in listed] == [
        ("consumers", False),
        ("simple", True),
    ]
