"""The cluster of the other tests: its coordinators are spread, and a node can be killed and started again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.apache_kafka.cluster import Cluster, ClusterNode, running_cluster
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.fixtures import Clusters
from tests.apache_kafka.node import BrokerError, listed_brokers
from tests.apache_kafka.releases import broker_releases, newest_broker_release

from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

_ENDPOINTS_OF_CONTROLLERS = 2
_REPLICAS = 3
_SECONDS = 30.0


@pytest.fixture(params=broker_releases())
def cluster(request: pytest.FixtureRequest, kafka_clusters: Clusters) -> Cluster:
    return kafka_clusters(request.param)


def test_every_node_lists_all_brokers_and_all_controllers(cluster: Cluster) -> None:
    assert cluster.bootstrap.split(",") == [node.address for node in cluster.nodes.values()]
    assert cluster.controllers.split(",") == [node.controller_address for node in cluster.nodes.values()]
    request = DescribeClusterRequest(endpoint_type=_ENDPOINTS_OF_CONTROLLERS)
    for node in cluster.nodes.values():
        assert listed_brokers(node.port) == {1, 2, 3}
        with connected_to(node.host, node.controller_port) as connection:
            listed = connection.ask(request, 1, DescribeClusterResponse).brokers
        assert {(entry.broker_id, entry.port) for entry in listed} == {
            (other.node_id, other.controller_port) for other in cluster.nodes.values()
        }


def test_coordinators_are_spread_over_the_nodes(cluster: Cluster) -> None:
    groups = tuple(f"group-{index}" for index in range(50))
    deadline = time.monotonic() + _SECONDS
    with connected_to(cluster.nodes[1].host, cluster.nodes[1].port) as connection:
        coordinators = set[int]()
        while coordinators != {1, 2, 3} and time.monotonic() < deadline:  # the first question creates the topic
            request = FindCoordinatorRequest(coordinator_keys=groups)
            found = connection.ask(request, 4, FindCoordinatorResponse).coordinators
            coordinators = {coordinator.node_id for coordinator in found}
        (internal,) = metadata_of("__consumer_offsets", cluster.nodes[1]).topics
    assert coordinators == {1, 2, 3}
    assert {len(partition.replica_nodes) for partition in internal.partitions} == {_REPLICAS}


def test_node_is_killed_and_comes_back_with_its_data(cluster: Cluster) -> None:
    topic = f"outlives-{time.monotonic_ns()}"
    creatable = CreateTopicsRequest.CreatableTopic(name=topic, num_partitions=3, replication_factor=_REPLICAS)
    with connected_to(cluster.nodes[1].host, cluster.nodes[1].port) as connection:
        request = CreateTopicsRequest(topics=(creatable,), timeout_ms=10_000)
        created = connection.ask(request, 5, CreateTopicsResponse)
    assert [result.error_code for result in created.topics] == [0]

    active = cluster.active_controller()
    cluster.kill(active)
    cluster.wait_until_nodes_agree()
    assert listed_brokers(cluster.nodes[active].port) == set()
    others = cluster.nodes.keys() - {active}
    assert cluster.running == others
    assert {frozenset(listed_brokers(cluster.nodes[node_id].port)) for node_id in others} == {frozenset(others)}
    assert cluster.active_controller() in others

    cluster.start(active)
    assert listed_brokers(cluster.nodes[active].port) == {1, 2, 3}
    (described,) = metadata_of(topic, cluster.nodes[active]).topics
    assert (described.error_code, len(described.partitions)) == (0, 3)


def test_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(BrokerError, match=r"(?s)node 1 of Apache Kafka .* ended with exit code 1:.*no\.such\.Class"),
        running_cluster(
            newest_broker_release(), tmp_path, nodes=1, properties={"authorizer.class.name": "no.such.Class"}
        ),
    ):
        pass


def metadata_of(topic: str, node: ClusterNode) -> MetadataResponse:
    asked = MetadataRequest.MetadataRequestTopic(name=topic)
    with connected_to(node.host, node.port) as connection:
        return connection.ask(MetadataRequest((asked,), allow_auto_topic_creation=False), 8, MetadataResponse)
