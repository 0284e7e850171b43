"""Describing share groups and streams groups."""

from __future__ import annotations

from tests.stand_ins.cluster import NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.groups.descriptions import GroupState, ShareGroupDescription, ShareGroupMember
from kafkawire.model.groups.streams import (
    StreamsEndpoint,
    StreamsGlobalStore,
    StreamsGroupDescription,
    StreamsGroupMember,
    StreamsInternalTopic,
    StreamsNodeType,
    StreamsSubtopology,
    StreamsTask,
    StreamsTasks,
    StreamsTopology,
    StreamsTopologyDescriptionStatus,
    StreamsTopologyNode,
)
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import GroupIdNotFoundError, UnsupportedVersionError
from kafkawire.rpc import Request
from kafkawire.wire import Message

BITS = 1 << AclOperation.READ | 1 << AclOperation.DESCRIBE


def share_groups(_: int, request: Request) -> Message:
    response = ShareGroupDescribeResponse
    assert isinstance(request.body, ShareGroupDescribeRequest)
    topics = (response.TopicPartitions(Uuid(b"1" * 16), "u", (1,)), response.TopicPartitions(Uuid(), "t", (1, 0)))
    member = response.Member("m", "r", 3, "c", "/h", ("t", "u"), response.Assignment(topics))
    known = response.DescribedGroup(
        group_id="g", group_state="Stable", group_epoch=4, assignment_epoch=3, assignor_name="simple",
        members=(member,), authorized_operations=BITS,
    )  # fmt: skip
    return response(
        groups=tuple(
            known if name == "g" else response.DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, "not a share group", name)
            for name in request.body.group_ids
        )
    )


def streams_groups(_: int, request: Request) -> Message:
    response = StreamsGroupDescribeResponse
    assert isinstance(request.body, StreamsGroupDescribeRequest)
    pairs = (response.KeyValue("k", "v"),)
    tasks = response.TaskIds("0", (1, 0))
    member = response.Member(
        member_id="m", member_epoch=2, instance_id="i", rack_id="r", client_id="c", client_host="/h",
        topology_epoch=1, process_id="p", user_endpoint=response.Endpoint("host", 65_535), client_tags=pairs,
        task_offsets=(response.TaskOffset("0", 1, 7),), task_end_offsets=(response.TaskOffset("0", 1, 9),),
        assignment=response.Assignment((tasks,), (), ()), target_assignment=response.Assignment((), (tasks,), (tasks,)),
        is_classic=False,
    )  # fmt: skip
    subtopology = response.Subtopology(
        "0", ("in",), ("sink",), (response.TopicInfo("log", 3, 1, pairs),), (response.TopicInfo("re", 0, 0, ()),)
    )
    topologies: dict[str, StreamsGroupDescribeResponse.Topology | None] = {
        "g": response.Topology(1, (subtopology,)), "unknown": None, "empty": response.Topology(0, None)
    }  # fmt: skip
    return response(
        groups=tuple(
            response.DescribedGroup(
                group_id=name, group_state="NotReady", group_epoch=5, assignment_epoch=4, topology=topologies[name],
                members=(member,), authorized_operations=BITS,
            )
            if name in topologies
            else response.DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, "not a streams group", name)
            for name in request.body.group_ids
        )
    )  # fmt: skip


async def test_share_groups_are_described_whole_each_with_its_outcome() -> None:
    handlers: dict[type[Message], NodeHandler] = {ShareGroupDescribeRequest: share_groups, **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        groups = await client.describe_share_groups(["g", "other"], include_authorized_operations=True)
    assert groups["g"] == ShareGroupDescription(
        group_id="g", state=GroupState.STABLE, coordinator=1, assignor="simple", group_epoch=4, assignment_epoch=3,
        authorized_operations=frozenset({AclOperation.READ, AclOperation.DESCRIBE}),
        members=(
            ShareGroupMember(
                member_id="m", client_id="c", client_host="/h", member_epoch=3, subscribed_topics=("t", "u"),
                assignment=(TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 1)), rack_id="r",
            ),
        ),
    )  # fmt: skip
    assert isinstance(groups.errors()["other"], GroupIdNotFoundError)


async def test_streams_groups_are_described_whole_each_with_its_outcome() -> None:
    handlers: dict[type[Message], NodeHandler] = {StreamsGroupDescribeRequest: streams_groups, **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        groups = await client.describe_streams_groups(["g", "other"], include_authorized_operations=True)
    tasks = (StreamsTask("0", 0), StreamsTask("0", 1))
    assert groups["g"] == StreamsGroupDescription(
        group_id="g", state=GroupState.NOT_READY, coordinator=1, group_epoch=5, assignment_epoch=4,
        authorized_operations=frozenset({AclOperation.READ, AclOperation.DESCRIBE}),
        topology=StreamsTopology(
            1,
            (
                StreamsSubtopology(
                    "0", ("in",), ("sink",), (StreamsInternalTopic("log", 3, 1, {"k": "v"}),),
                    (StreamsInternalTopic("re", None, None, {}),),
                ),
            ),
        ),
        members=(
            StreamsGroupMember(
                member_id="m", member_epoch=2, group_instance_id="i", rack_id="r", client_id="c", client_host="/h",
                topology_epoch=1, process_id="p", endpoint=StreamsEndpoint("host", 65_535), client_tags={"k": "v"},
                task_offsets={StreamsTask("0", 1): 7}, task_end_offsets={StreamsTask("0", 1): 9},
                assignment=StreamsTasks(active=tasks), target_assignment=StreamsTasks((), tasks, tasks),
                is_classic=False,
            ),
        ),
    )  # fmt: skip
    assert isinstance(groups.errors()["other"], GroupIdNotFoundError)


def described_topologies(_: int, request: Request) -> Message:
    response = StreamsGroupDescribeResponse
    assert isinstance(request.body, StreamsGroupDescribeRequest)
    node = response.TopologyDescriptionNode
    source, processor = node("in", 1, ("t",), None, (), ("count",)), node("count", 2, (), None, ("counts",), ("out",))
    nodes = (source, processor, node("out", 3, (), "sums", (), ()), node("odd", 9, (), None, (), ()))
    description = response.TopologyDescription(
        (response.TopologyDescriptionSubtopology("0", nodes),),
        (response.TopologyDescriptionGlobalStore(source, processor),),
    )
    group = response.DescribedGroup(
        group_id="g", group_state="Stable", topology=None, members=(), assignor_name="sticky",
        topology_description=description if request.body.include_topology_description else None,
        topology_description_status=3 if request.body.include_topology_description else 0,
    )  # fmt: skip
    return response(groups=(group,))


async def test_the_nodes_of_an_application_are_described_if_they_are_wanted() -> None:
    handlers: dict[type[Message], NodeHandler] = {StreamsGroupDescribeRequest: described_topologies, **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        without = (await client.describe_streams_groups(["g"]))["g"]
        group = (await client.describe_streams_groups(["g"], include_topology_description=True))["g"]
    assert without.topology_description is None
    assert without.topology_description_status is StreamsTopologyDescriptionStatus.NOT_REQUESTED
    assert group.topology_description_status is StreamsTopologyDescriptionStatus.AVAILABLE
    assert group.assignor == "sticky"
    assert group.topology_description is not None
    source = StreamsTopologyNode("in", StreamsNodeType.SOURCE, ("t",), None, (), ("count",))
    processor = StreamsTopologyNode("count", StreamsNodeType.PROCESSOR, (), None, ("counts",), ("out",))
    sink, odd = group.topology_description.subtopologies["0"][2:]
    assert group.topology_description.subtopologies["0"][:2] == (source, processor)
    assert (sink.type, sink.sink_topic) == (StreamsNodeType.SINK, "sums")
    assert odd.type.is_unknown
    assert group.topology_description.global_stores == (StreamsGlobalStore(source, processor),)


async def test_brokers_that_describe_no_nodes_say_so() -> None:
    versions: dict[int, range] = {ApiKey.STREAMS_GROUP_DESCRIBE: range(1)}
    handlers: dict[type[Message], NodeHandler] = {StreamsGroupDescribeRequest: streams_groups, **coordinators({})}
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        refused = (await client.describe_streams_groups(["g"], include_topology_description=True)).errors()["g"]
        assert isinstance(refused, UnsupportedVersionError)
        assert (await client.describe_streams_groups(["g"]))["g"].assignor is None


async def test_a_topology_that_is_not_known_is_none() -> None:
    handlers: dict[type[Message], NodeHandler] = {StreamsGroupDescribeRequest: streams_groups, **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        groups = (await client.describe_streams_groups(["unknown", "empty"])).all()
    assert groups["unknown"].topology is None
    assert groups["empty"].topology == StreamsTopology(0, None)
    assert groups["empty"].authorized_operations is None


async def test_brokers_without_such_groups_say_so() -> None:
    async with StandInCluster(1, coordinators({})) as cluster, cluster.client() as client:
        share = (await client.describe_share_groups(["g"])).errors()["g"]
        streams = (await client.describe_streams_groups(["g"])).errors()["g"]
    assert isinstance(share, UnsupportedVersionError)
    assert "ShareGroupDescribe" in share.message
    assert isinstance(streams, UnsupportedVersionError)
