"""New administrative features of Kafka 4.4, at brokers with and without them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.releases import broker_releases, is_at_least, releases
from tests.stand_ins.broker import StandInBroker
from tests.stand_ins.cluster import FAST, StandInCluster

from kafkawire.admin.client import AdminClient, BlockingAdminClient
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.needs import Support
from kafkawire.model.groups.streams import (
    StreamsGroupDescription,
    StreamsNodeType,
    StreamsTopologyDescriptionStatus,
    StreamsTopologyNode,
)
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import (
    ControllerIdNotRegisteredError,
    GroupIdNotFoundError,
    InvalidRequestError,
    NonEmptyGroupError,
    RebootstrapRequiredError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import OperationTimeoutError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

TOPOLOGY_PLUGIN = {
    "group.streams.topology.description.plugin.class": (
        "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
    )
}
SOURCE, EACH = "KSTREAM-SOURCE-000000000", "KSTREAM-FOREACH-000000000"
"""What the names of nodes begin with in Kafka Streams."""

WITH = [release for release in releases() if is_at_least(release, "4.4")]
BEFORE = [release for release in broker_releases() if not is_at_least(release, "4.4")]


@pytest.fixture(params=WITH)
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


async def connect(port: int, host: str, settings: ConnectionSettings) -> None:
    channel = await Channel.connect(host, port, settings, deadline=asyncio.get_running_loop().time() + 10)
    assert ApiKey.UNREGISTER_CONTROLLER in channel.versions.ranges
    await channel.close()


async def test_a_broker_refuses_clients_of_another_node_or_cluster_and_controllers_do_not_check(broker: Broker) -> None:
    right = ConnectionSettings(cluster_id=broker.cluster_id, node_id=broker.node_id)
    for port in (broker.port, broker.controller_port):
        await connect(port, broker.host, right)
        await connect(port, broker.host, ConnectionSettings())
    for wrong in (
        ConnectionSettings(cluster_id="another", node_id=broker.node_id),
        ConnectionSettings(cluster_id=broker.cluster_id, node_id=99),
    ):
        with pytest.raises(RebootstrapRequiredError):
            await connect(broker.port, broker.host, wrong)
        await connect(broker.controller_port, broker.host, wrong)


async def test_a_client_that_reaches_another_cluster_raises_an_error(broker: Broker) -> None:
    """The stand-in names a node of its own, at the address of a real broker of another cluster."""
    async with StandInCluster(1) as cluster:
        bootstrap = cluster.brokers[1]
        elsewhere = StandInBroker()
        elsewhere.host, elsewhere.port = broker.host, broker.port
        cluster.brokers[2] = elsewhere
        async with AdminClient(f"{bootstrap.host}:{bootstrap.port}", settings=FAST) as client:
            error = (await client.describe_log_dirs([2], timeout=0.5)).errors()[2]
    assert isinstance(error, OperationTimeoutError)
    assert f"what answers at {broker.address} is not node 2 of the cluster stand-in" in str(error.__cause__)


def test_a_client_of_the_right_cluster_is_served_after_a_reconnect(broker: Broker, admin: BlockingAdminClient) -> None:
    nodes = [broker.node_id]
    admin.describe_log_dirs(nodes).all()
    admin._wait_for(admin._client._cluster.pool.start_over)
    admin.describe_log_dirs(nodes).all()


def test_registrations_of_controllers(broker: Broker, admin: BlockingAdminClient) -> None:
    controllers = f"{broker.host}:{broker.controller_port}"
    with BlockingAdminClient(bootstrap_controllers=controllers) as at_controllers:
        for client in (admin, at_controllers):
            with pytest.raises(ControllerIdNotRegisteredError, match="Controller ID 77 is not currently registered"):
                client.unregister_controller(77)
            with pytest.raises(InvalidRequestError, match="cannot unregister itself"):
                client.unregister_controller(broker.node_id)
        found = admin.capabilities().all()[broker.node_id]["unregister_controller"]
        assert (found.support, found.version) == (Support.SUPPORTED, 0)


@pytest.mark.parametrize("release", BEFORE)
def test_older_clusters_do_not_forget_controllers(kafka_brokers: Brokers, release: str) -> None:
    with BlockingAdminClient(kafka_brokers(release).address) as admin:
        with pytest.raises(UnsupportedVersionError):
            admin.unregister_controller(77)
        found = admin.capabilities().all()
        assert {each["unregister_controller"].support for each in found.values()} == {Support.UNSUPPORTED}


def test_lag_resets_and_deletions_of_groups(broker: Broker, admin: BlockingAdminClient, java_admin: JavaAdmin) -> None:
    group = topic = f"later-{time.monotonic_ns()}"
    at = TopicPartition(topic, 0)
    admin.create_topics([NewTopic(topic, 1)]).all()
    admin.wait_for_topics([topic]).all()
    java = java_admin.client(broker.address)
    with java.member(group, [topic], "consumer"):
        assert list(admin.group_lag([group])[group].partitions) == [at]
        assert isinstance(admin.delete_consumer_groups([group]).errors()[group], NonEmptyGroupError)
    deleted = admin.delete_consumer_groups([group, "none"])
    assert list(deleted.values()) == [group]
    assert isinstance(deleted.errors()["none"], GroupIdNotFoundError)
    admin.delete_topics([topic]).all()


@pytest.mark.parametrize("release", WITH)
def test_the_nodes_of_a_streams_application(tmp_path: Path, java_admin: JavaAdmin, release: str) -> None:
    """The plug-in of the broker keeps what Kafka Streams sends; the test sends types of nodes that this one has not."""
    sent = (
        StreamsTopologyNode("source", StreamsNodeType.SOURCE, ("in",), None, (), ("count",)),
        StreamsTopologyNode("count", StreamsNodeType.PROCESSOR, (), None, ("counts",), ("sink",)),
        StreamsTopologyNode("sink", StreamsNodeType.SINK, (), "out", (), ()),
    )
    with (
        running_broker(release, tmp_path, properties=TOPOLOGY_PLUGIN) as broker,
        BlockingAdminClient(broker.address) as admin,
    ):
        admin.create_topics([NewTopic("in", 2)]).all()
        admin.wait_for_topics(["in"]).all()
        with java_admin.client(broker.address).member("app", ["in"], "streams"):
            of_the_application = eventually(lambda: topology_of(admin, "app"), lambda found: found is not None)
            group = admin.describe_streams_groups(["app"])["app"]
            assert (group.topology_description, group.assignor) == (None, "sticky")
            send_topology(broker, group, sent)
            after = topology_of(admin, "app")
        admin.delete_streams_groups(["app"]).all()
    assert of_the_application == {
        StreamsTopologyNode(f"{SOURCE}0", StreamsNodeType.SOURCE, ("in",), None, (), (f"{EACH}1",)),
        StreamsTopologyNode(f"{EACH}1", StreamsNodeType.PROCESSOR, (), None, (), ()),
    }
    assert after == {*sent}


def topology_of(admin: BlockingAdminClient, group: str) -> set[StreamsTopologyNode] | None:
    """The nodes of the only part of an application; None if the broker has none."""
    described = admin.describe_streams_groups([group], include_topology_description=True)[group]
    assert (described.topology_description is None) == (
        described.topology_description_status is not StreamsTopologyDescriptionStatus.AVAILABLE
    )
    found = described.topology_description
    return None if found is None else {*found.subtopologies["0"]}


def test_brokers_without_the_plug_in_keep_no_nodes(
    broker: Broker, admin: BlockingAdminClient, java_admin: JavaAdmin
) -> None:
    group = topic = f"later-{time.monotonic_ns()}"
    admin.create_topics([NewTopic(topic, 1)]).all()
    admin.wait_for_topics([topic]).all()
    with java_admin.client(broker.address).member(group, [topic], "streams"):
        described = admin.describe_streams_groups([group], include_topology_description=True)[group]
    assert described.topology_description_status is StreamsTopologyDescriptionStatus.NOT_STORED
    assert described.topology_description is None
    admin.delete_streams_groups([group]).all()
    admin.delete_topics([topic]).all()


def send_topology(broker: Broker, group: StreamsGroupDescription, nodes: tuple[StreamsTopologyNode, ...]) -> None:
    assert group.topology is not None
    request = StreamsGroupTopologyDescriptionUpdateRequest
    described = tuple(
        request.TopologyDescriptionNode(
            node.name, node.type, node.source_topics, node.sink_topic, node.stores, node.successors
        )
        for node in nodes
    )
    description = request.TopologyDescription((request.TopologyDescriptionSubtopology("0", described),), ())
    update = request(group.group_id, group.members[0].member_id, group.topology.epoch, description)
    with connected_to(broker.host, broker.port) as connection:
        answer = connection.ask(update, 0, StreamsGroupTopologyDescriptionUpdateResponse)
    assert answer.error_code == 0
