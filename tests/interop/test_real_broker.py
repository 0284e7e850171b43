"""Requests of the generated classes to real brokers. Each answer, encoded again, gives the bytes of the broker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import is_at_least, newest_release, releases
from tests.conformance.trials import released_versions

from kafkawire.protocol import (
    AddPartitionsToTxnRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeAclsRequest,
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetFetchRequest,
    ProduceRequest,
    UnregisterControllerRequest,
    UnregisterControllerResponse,
    message_class,
)
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import UNSUPPORTED_VERSION, decode_response
from kafkawire.wire import Message
from kafkawire.wire.api import Api

pytestmark = pytest.mark.interop

_API_VERSIONS_99 = "00000011 0012 0063 00000009 0002 6b77 00 02 61 02 62 00"
"""A frame with an ApiVersions request of a version that does not exist yet."""

_WITH_TELEMETRY_ONLY = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}
"""Listed by brokers that have a metrics reporter for them."""

_ENDPOINTS_OF_CONTROLLERS = 2
_SECONDS = 20.0


@pytest.fixture(params=releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


@pytest.fixture
def connection(broker: Broker) -> Iterator[Connection]:
    with connected_to(broker.host, broker.port) as connected:
        yield connected


def versions_listed(connection: Connection) -> dict[int, range]:
    answer = connection.ask(ApiVersionsRequest("kafkawire", "0.1"), 3, ApiVersionsResponse)
    return {api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys}


def test_listed_versions_are_stable_ones_of_the_table(broker: Broker, connection: Connection) -> None:
    with connected_to(broker.host, broker.controller_port) as to_controller:
        for key, versions in [*versions_listed(connection).items(), *versions_listed(to_controller).items()]:
            assert set(versions) <= set(APIS[key].stable_versions), APIS[key].name


def test_newest_release_lists_what_the_table_has(kafka_brokers: Brokers) -> None:
    kafka_broker = kafka_brokers(newest_release())
    with connected_to(kafka_broker.host, kafka_broker.port) as connection:
        listed_by_broker = versions_listed(connection)
    with connected_to(kafka_broker.host, kafka_broker.controller_port) as connection:
        listed_by_controller = versions_listed(connection)
    requests = {row.merged_message for row in released_versions() if row.release == kafka_broker.release}
    released = [api for api in APIS.values() if api.request in requests and api.stable_versions]
    of_brokers = {api.key for api in released if "broker" in api.listeners}
    assert listed_by_broker.keys() == of_brokers - _WITH_TELEMETRY_ONLY
    assert listed_by_controller.keys() == {api.key for api in released if "controller" in api.listeners}
    highest = {key: versions[-1] for key, versions in (listed_by_controller | listed_by_broker).items()}
    assert highest == {api.key: api.stable_versions[-1] for api in released if api.key in highest}


def test_api_versions_at_every_version(connection: Connection) -> None:
    listed = versions_listed(connection)
    for version in listed[ApiKey.API_VERSIONS]:
        answer = connection.ask(ApiVersionsRequest("kafkawire", "0.1"), version, ApiVersionsResponse)
        assert answer.error_code == 0
        assert {api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys} == listed


@pytest.mark.parametrize("release", [release for release in releases() if is_at_least(release, "4.4")])
def test_brokers_refuse_clients_that_expect_another_cluster_or_node(release: str, kafka_brokers: Brokers) -> None:
    """Version 5 says both or neither; controllers do not compare."""
    broker = kafka_brokers(release)
    expected = {
        (None, -1): (0, 0),
        (broker.cluster_id, broker.node_id): (0, 0),
        (broker.cluster_id, 99): (ErrorCode.REBOOTSTRAP_REQUIRED, 0),
        ("other", broker.node_id): (ErrorCode.REBOOTSTRAP_REQUIRED, 0),
        (broker.cluster_id, -1): (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST),
        (None, broker.node_id): (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST),
    }
    answered: dict[tuple[str | None, int], list[int]] = {}
    for (cluster_id, node_id), port in product(expected, (broker.port, broker.controller_port)):
        request = ApiVersionsRequest("kafkawire", "0.1", cluster_id, node_id)
        with connected_to(broker.host, port) as to_node:
            answer = to_node.ask(request, 5, ApiVersionsResponse)
            answered.setdefault((cluster_id, node_id), []).append(answer.error_code)
    assert {asked: tuple(codes) for asked, codes in answered.items()} == expected


@pytest.mark.parametrize("release", [release for release in releases() if is_at_least(release, "4.4")])
def test_controllers_that_are_not_registered_or_active_are_not_unregistered(
    release: str, kafka_brokers: Brokers
) -> None:
    broker = kafka_brokers(release)
    with connected_to(broker.host, broker.port) as to_broker:
        codes = [
            to_broker.ask(UnregisterControllerRequest(node), 0, UnregisterControllerResponse).error_code
            for node in (99, broker.node_id)
        ]
    assert codes == [ErrorCode.CONTROLLER_ID_NOT_REGISTERED, ErrorCode.INVALID_REQUEST]


def test_api_versions_of_an_unknown_version_is_answered_as_version_0(connection: Connection) -> None:
    expected = versions_listed(connection)[ApiKey.API_VERSIONS]
    frame = connection.exchange(bytes.fromhex(_API_VERSIONS_99))
    correlation_id, answer = decode_response(frame, ApiVersionsResponse, ApiVersionsResponse.VERSIONS[-1])
    (only,) = answer.api_keys
    assert (correlation_id, answer.error_code) == (9, UNSUPPORTED_VERSION)
    assert (only.api_key, range(only.min_version, only.max_version + 1)) == (ApiKey.API_VERSIONS, expected)


def test_metadata_at_every_version(broker: Broker, connection: Connection) -> None:
    versions = versions_listed(connection)
    topic = create_topic(connection, f"metadata-{time.monotonic_ns()}", versions[ApiKey.CREATE_TOPICS][-1])
    wait_for_topic(connection, topic)
    for version in versions[ApiKey.METADATA]:
        request = MetadataRequest(topics=(MetadataRequest.MetadataRequestTopic(name=topic),))
        answer = connection.ask(request, version, MetadataResponse)
        assert [(b.node_id, b.host, b.port) for b in answer.brokers] == [(broker.node_id, broker.host, broker.port)]
        assert answer.cluster_id == (broker.cluster_id if version >= 2 else None)
        assert answer.controller_id == (broker.node_id if version >= 1 else -1)
        (described,) = answer.topics
        assert (described.error_code, described.name, described.is_internal) == (0, topic, False)
        assert any(described.topic_id) == (version >= 10)
        partitions = sorted(described.partitions, key=lambda partition: partition.partition_index)
        assert [(p.partition_index, p.leader_id, list(p.isr_nodes)) for p in partitions] == [
            (index, broker.node_id, [broker.node_id]) for index in range(3)
        ]


def test_describe_cluster_at_every_version(broker: Broker, connection: Connection) -> None:
    for version in versions_listed(connection)[ApiKey.DESCRIBE_CLUSTER]:
        answer = connection.ask(DescribeClusterRequest(True), version, DescribeClusterResponse)
        assert (answer.error_code, answer.cluster_id, answer.controller_id) == (0, broker.cluster_id, broker.node_id)
        assert [(b.broker_id, b.host, b.port, b.rack) for b in answer.brokers] == [
            (broker.node_id, broker.host, broker.port, None)
        ]
        assert answer.cluster_authorized_operations > 0


def test_describe_cluster_asks_a_controller_for_controllers(broker: Broker) -> None:
    with connected_to(broker.host, broker.controller_port) as connection:
        for version in versions_listed(connection)[ApiKey.DESCRIBE_CLUSTER][1:]:
            request = DescribeClusterRequest(endpoint_type=_ENDPOINTS_OF_CONTROLLERS)
            answer = connection.ask(request, version, DescribeClusterResponse)
            assert (answer.error_code, answer.endpoint_type) == (0, _ENDPOINTS_OF_CONTROLLERS)
            assert [(b.broker_id, b.port) for b in answer.brokers] == [(broker.node_id, broker.controller_port)]


def test_every_api_at_every_version_is_answered(connection: Connection) -> None:
    """Mostly with errors, for the requests say little; but each answer must decode and encode to the same bytes."""
    for key, versions in versions_listed(connection).items():
        api = APIS[key]
        for version in versions:
            if api.key != ApiKey.PRODUCE or version >= 3:  # listed from 0 for old clients, served from 3
                connection.ask(small_request(api, version), version, message_class(api.response))


def small_request(api: Api, version: int) -> Message:
    """A request with defaults; brokers leave some of these without an answer, and those say a little more."""
    match api.key:
        case ApiKey.PRODUCE:
            return ProduceRequest(acks=1)
        case ApiKey.OFFSET_FETCH if version >= 8:
            return OffsetFetchRequest(groups=(OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g"),))
        case ApiKey.ADD_PARTITIONS_TO_TXN if version >= 4:
            transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction("t", 1, 1, True, ())
            return AddPartitionsToTxnRequest(transactions=(transaction,))
        case ApiKey.DESCRIBE_ACLS:
            return DescribeAclsRequest(resource_type_filter=1, pattern_type_filter=3, operation=1, permission_type=1)
    return message_class(api.request)()


def create_topic(connection: Connection, name: str, version: int) -> str:
    topic = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=3, replication_factor=1)
    answer = connection.ask(CreateTopicsRequest(topics=(topic,), timeout_ms=10_000), version, CreateTopicsResponse)
    assert [(created.name, created.error_code) for created in answer.topics] == [(name, 0)]
    return name


def wait_for_topic(connection: Connection, name: str) -> None:
    """The controller has a topic a moment before the broker has it."""
    request = MetadataRequest(
        topics=(MetadataRequest.MetadataRequestTopic(name=name),), allow_auto_topic_creation=False
    )
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        (topic,) = connection.ask(request, 8, MetadataResponse).topics
        if topic.error_code == 0 and len(topic.partitions) == 3:
            return
    pytest.fail(f"the broker does not know {name} after {_SECONDS} s")
