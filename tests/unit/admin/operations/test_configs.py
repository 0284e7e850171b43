"""Configurations: the node of each request, and what the client refuses without a request (G1 to G6)."""

from __future__ import annotations

import asyncio

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.model.configs.resources import (
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
)
from kafkawire.protocol import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidConfigError,
    InvalidRequestError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ConnectionFailedError, OperationTimeoutError

Handlers = dict[type[Message], NodeHandler]

TOPIC = ConfigResource.topic("t")
UNHEARD_OF = ConfigResource(ConfigResourceType(99), "x")


def describe(node: int, request: Request) -> DescribeConfigsResponse:
    """Every description names its node; as in Kafka, an unknown type is an error of the whole request."""
    assert isinstance(request.body, DescribeConfigsRequest)
    resources = request.body.resources
    code = ErrorCode.INVALID_REQUEST if any(resource.resource_type == 99 for resource in resources) else 0
    return DescribeConfigsResponse(
        results=tuple(
            DescribeConfigsResponse.DescribeConfigsResult(
                error_code=code or (3 if resource.resource_name == "nope" else 0), error_message="",
                resource_type=resource.resource_type, resource_name=resource.resource_name,
                configs=(DescribeConfigsResponse.DescribeConfigsResourceResult("node", str(node), config_source=4),),
            )
            for resource in reversed(resources)
        )
    )  # fmt: skip


def alter(_: int, request: Request) -> IncrementalAlterConfigsResponse:
    assert isinstance(request.body, IncrementalAlterConfigsRequest)
    response = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
    return IncrementalAlterConfigsResponse(
        responses=tuple(
            response(40 if resource.resource_name == "bad" else 0, "no", resource.resource_type, resource.resource_name)
            for resource in reversed(request.body.resources)
        )
    )


def replace(_: int, request: Request) -> AlterConfigsResponse:
    assert isinstance(request.body, AlterConfigsRequest)
    response = AlterConfigsResponse.AlterConfigsResourceResponse
    return AlterConfigsResponse(
        responses=tuple(
            response(40 if resource.resource_name == "bad" else 0, "no", resource.resource_type, resource.resource_name)
            for resource in reversed(request.body.resources)
        )
    )


def described_resources(cluster: StandInCluster) -> list[tuple[int, list[str]]]:
    return [
        (node, [resource.resource_name for resource in body.resources])
        for node, body in cluster.asked
        if isinstance(body, DescribeConfigsRequest)
    ]


def alterations(cluster: StandInCluster) -> list[IncrementalAlterConfigsRequest]:
    return [body for _, body in cluster.asked if isinstance(body, IncrementalAlterConfigsRequest)]


async def test_brokers_and_their_loggers_are_asked_for_themselves() -> None:
    async with StandInCluster(3, {DescribeConfigsRequest: describe}) as cluster, cluster.client() as client:
        asked = [ConfigResource.broker(2), ConfigResource.broker(3), ConfigResource.broker_logger(2)]
        results = await client.describe_configs(asked)
        assert [entries["node"].value for entries in results.all().values()] == ["2", "3", "2"]
        assert list(results) == asked
        assert results[asked[0]]["node"].source is ConfigSource.STATIC_BROKER_CONFIG


async def test_brokers_are_asked_at_the_same_time() -> None:
    async def when_all_are_asked(node: int, request: Request) -> Message:
        await all_asked.wait()
        return describe(node, request)

    all_asked = asyncio.Barrier(4)
    async with StandInCluster(4, {DescribeConfigsRequest: when_all_are_asked}) as cluster, cluster.client() as client:
        brokers = [ConfigResource.broker(node) for node in cluster.brokers]
        assert list((await client.describe_configs(brokers)).all()) == brokers


async def test_the_default_of_all_brokers_is_asked_of_any_node() -> None:
    async with StandInCluster(1, {DescribeConfigsRequest: describe}) as cluster, cluster.client() as client:
        results = await client.describe_configs([ConfigResource.broker_default(), ConfigResource.broker(1)])
        assert len(results.all()) == 2


async def test_a_broker_that_the_cluster_does_not_have_is_named_when_the_time_is_up() -> None:
    async with StandInCluster(1, {DescribeConfigsRequest: describe}) as cluster, cluster.client() as client:
        results = await client.describe_configs([ConfigResource.broker(7), TOPIC], timeout=0.2)
        error = results.errors()[ConfigResource.broker(7)]
        assert isinstance(error, OperationTimeoutError)
        assert isinstance(error.__cause__, ConnectionFailedError)
        assert "no live node 7" in str(error)
        assert list(results.values()) == [TOPIC]


@pytest.mark.parametrize(
    "resource",
    [
        ConfigResource(ConfigResourceType.BROKER, "one"),
        ConfigResource(ConfigResourceType.BROKER, "-1"),
        ConfigResource(ConfigResourceType.BROKER, str(2**31)),
        ConfigResource(ConfigResourceType.BROKER_LOGGER, ""),
    ],
)
async def test_a_broker_name_that_is_no_id_is_refused_without_a_request(resource: ConfigResource) -> None:
    """G4."""
    handlers: Handlers = {
        DescribeConfigsRequest: describe,
        IncrementalAlterConfigsRequest: alter,
        AlterConfigsRequest: replace,
    }
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        described = await client.describe_configs([resource, TOPIC])
        altered = await client.incremental_alter_configs({one: [ConfigChange.delete("a")] for one in (resource, TOPIC)})
        replaced = await client.alter_configs({resource: {}, TOPIC: {}})
        for results in (described, altered, replaced):
            assert isinstance(results.errors()[resource], InvalidRequestError)
            assert list(results.values()) == [TOPIC]


async def test_an_unknown_resource_type_fails_alone() -> None:
    """G4."""
    async with StandInCluster(1, {DescribeConfigsRequest: describe}) as cluster, cluster.client() as client:
        results = await client.describe_configs([TOPIC, UNHEARD_OF, ConfigResource.topic("nope")])
        assert list(results.values()) == [TOPIC]
        assert isinstance(results.errors()[UNHEARD_OF], InvalidRequestError)
        assert isinstance(results.errors()[ConfigResource.topic("nope")], UnknownTopicOrPartitionError)


@pytest.mark.parametrize(("keys", "sent"), [(None, None), ([], None), (["b", "a", "b"], ("b", "a"))])
async def test_without_keys_all_are_requested_and_repeated_keys_are_sent_once(
    keys: list[str] | None, sent: tuple[str, ...] | None
) -> None:
    """G4."""
    async with StandInCluster(1, {DescribeConfigsRequest: describe}) as cluster, cluster.client() as client:
        (await client.describe_configs([TOPIC], keys=keys)).all()
        ((_, request),) = cluster.asked
        assert isinstance(request, DescribeConfigsRequest)
        assert [resource.configuration_keys for resource in request.resources] == [sent]
        assert (request.include_synonyms, request.include_documentation) == (False, False)


async def test_synonyms_and_documentation_need_brokers_that_know_them() -> None:
    old: dict[int, range] = {ApiKey.DESCRIBE_CONFIGS: range(1)}
    handlers: Handlers = {DescribeConfigsRequest: describe}
    async with StandInCluster(1, handlers, versions=old) as cluster, cluster.client() as client:
        (await client.describe_configs([TOPIC])).all()
        with_synonyms = await client.describe_configs([TOPIC], include_synonyms=True)
        assert isinstance(with_synonyms.errors()[TOPIC], UnsupportedVersionError)
        with_documentation = await client.describe_configs([TOPIC], include_documentation=True)
        assert isinstance(with_documentation.errors()[TOPIC], UnsupportedVersionError)
        assert len(cluster.asked) == 1


async def test_many_resources_are_described_in_several_requests() -> None:
    topics = [ConfigResource.topic(f"t{number}") for number in range(600)]
    async with StandInCluster(1, {DescribeConfigsRequest: describe}) as cluster, cluster.client() as client:
        reported: list[tuple[int, int]] = []
        results = await client.describe_configs(topics, progress=lambda done, total: reported.append((done, total)))
        assert list(results.all()) == topics
        assert [len(names) for _, names in described_resources(cluster)] == [250, 250, 100]
        assert reported == [(done, 600) for done in range(1, 601)]


async def test_results_of_alterations_are_matched_by_resource() -> None:
    """G5."""
    bad = ConfigResource.topic("bad")
    async with StandInCluster(1, {IncrementalAlterConfigsRequest: alter}) as cluster, cluster.client() as client:
        changes = [ConfigChange.set("retention.ms", "1"), ConfigChange.append("cleanup.policy", "compact", "delete")]
        results = await client.incremental_alter_configs({TOPIC: changes, bad: changes}, validate_only=True)
        assert list(results.values()) == [TOPIC]
        assert isinstance(results.errors()[bad], InvalidConfigError)
        (request,) = alterations(cluster)
        assert request.validate_only
        assert [(c.name, c.config_operation, c.value) for c in request.resources[0].configs] == [
            ("retention.ms", 0, "1"), ("cleanup.policy", 2, "compact,delete"),
        ]  # fmt: skip


async def test_a_resource_that_changes_a_key_twice_is_refused_and_not_sent() -> None:
    """G5."""
    twice = ConfigResource.topic("twice")
    changes = {
        TOPIC: [ConfigChange.delete("a")],
        twice: [ConfigChange.set("a", "1"), ConfigChange.delete("a")],
    }
    async with StandInCluster(1, {IncrementalAlterConfigsRequest: alter}) as cluster, cluster.client() as client:
        results = await client.incremental_alter_configs(changes)
        assert list(results.values()) == [TOPIC]
        assert isinstance(results.errors()[twice], InvalidRequestError)
        assert [len(request.resources) for request in alterations(cluster)] == [1]


@pytest.mark.parametrize("operation", [ConfigOperation.SET, ConfigOperation.APPEND, ConfigOperation.SUBTRACT])
async def test_a_change_without_a_value_is_refused_without_a_request(operation: ConfigOperation) -> None:
    """G6."""
    async with StandInCluster(1, {IncrementalAlterConfigsRequest: alter}) as cluster, cluster.client() as client:
        error = (await client.incremental_alter_configs({TOPIC: [ConfigChange("a", operation)]})).errors()[TOPIC]
        assert isinstance(error, InvalidRequestError)
        assert "DELETE" in str(error)
        assert cluster.asked == []


async def test_changes_of_one_broker_go_to_it() -> None:
    async with StandInCluster(3, {IncrementalAlterConfigsRequest: alter}) as cluster, cluster.client() as client:
        changes = [ConfigChange.delete("a")]
        (await client.incremental_alter_configs({ConfigResource.broker(n): changes for n in (3, 2)})).all()
        assert sorted(node for node, _ in cluster.asked) == [2, 3]


async def test_changes_stay_below_the_record_limit() -> None:
    changes = [ConfigChange.delete(f"c{number}") for number in range(4_000)]
    async with StandInCluster(1, {IncrementalAlterConfigsRequest: alter}) as cluster, cluster.client() as client:
        (await client.incremental_alter_configs({ConfigResource.topic(f"t{n}"): changes for n in range(5)})).all()
        assert [len(request.resources) for request in alterations(cluster)] == [2, 2, 1]


def test_values_of_changes_are_in_no_representation() -> None:
    changes = [
        ConfigChange.set("ssl.key.password", "hush"),
        ConfigChange.append("sasl.jaas.config", "hush"),
        ConfigChange.subtract("sasl.jaas.config", "hush"),
    ]
    assert "hush" not in repr(changes)
    assert "SET 'ssl.key.password'" in repr(changes)


async def test_a_replacement_has_each_resource_once_and_not_too_many() -> None:
    topics = [ConfigResource.topic("bad"), *(ConfigResource.topic(f"t{number}") for number in range(249))]
    async with StandInCluster(1, {AlterConfigsRequest: replace}) as cluster, cluster.client() as client:
        results = await client.alter_configs({topic: {"retention.ms": "1"} for topic in topics}, validate_only=True)
        assert list(results.errors()) == [topics[0]]
        requests = [body for _, body in cluster.asked if isinstance(body, AlterConfigsRequest)]
        assert [len(request.resources) for request in requests] == [100, 100, 50]
        assert all(request.validate_only for request in requests)
        assert [(c.name, c.value) for c in requests[0].resources[1].configs] == [("retention.ms", "1")]


async def test_all_types_are_listed_unless_some_are_given() -> None:
    def answer(_: int, request: Request) -> ListConfigResourcesResponse:
        assert isinstance(request.body, ListConfigResourcesRequest)
        types.append(tuple(request.body.resource_types))
        listed = ListConfigResourcesResponse.ConfigResource
        return ListConfigResourcesResponse(config_resources=(listed("t", 2), listed("x", 99)))

    types: list[tuple[int, ...]] = []
    async with StandInCluster(1, {ListConfigResourcesRequest: answer}) as cluster, cluster.client() as client:
        assert await client.list_config_resources() == (TOPIC, UNHEARD_OF)
        await client.list_config_resources([ConfigResourceType.GROUP, ConfigResourceType.TOPIC])
        assert types == [(), (2, 32)]


async def test_version_0_lists_client_metrics_and_nothing_else() -> None:
    def answer(_: int, __: Request) -> ListConfigResourcesResponse:
        return ListConfigResourcesResponse(config_resources=(ListConfigResourcesResponse.ConfigResource("m"),))

    old: dict[int, range] = {ApiKey.LIST_CONFIG_RESOURCES: range(1)}
    metrics = ConfigResourceType.CLIENT_METRICS
    async with StandInCluster(1, {ListConfigResourcesRequest: answer}, versions=old) as cluster:
        async with cluster.client() as client:
            assert await client.list_config_resources([metrics]) == (ConfigResource.client_metrics("m"),)
            for types in ([], [metrics, ConfigResourceType.TOPIC], [ConfigResourceType.TOPIC]):
                with pytest.raises(UnsupportedVersionError, match="ListConfigResources"):
                    await client.list_config_resources(types)
        assert len(cluster.asked) == 1


async def test_a_list_that_is_refused_says_nothing_about_types() -> None:
    def answer(_: int, __: Request) -> ListConfigResourcesResponse:
        return ListConfigResourcesResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    async with StandInCluster(1, {ListConfigResourcesRequest: answer}) as cluster, cluster.client() as client:
        with pytest.raises(ClusterAuthorizationFailedError) as raised:
            await client.list_config_resources([ConfigResourceType.GROUP])
    assert "cannot list" not in str(raised.value)


async def test_a_type_that_cannot_be_listed_is_named() -> None:
    def answer(_: int, __: Request) -> ListConfigResourcesResponse:
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)

    async with StandInCluster(1, {ListConfigResourcesRequest: answer}) as cluster, cluster.client() as client:
        with pytest.raises(UnsupportedVersionError, match="cannot list resources of TOPIC, UNKNOWN_99"):
            await client.list_config_resources([ConfigResourceType(99), ConfigResourceType.TOPIC])
