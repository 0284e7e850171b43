"""A broker that answers as a past release: its versions of APIs, and its features."""

from __future__ import annotations

import asyncio

import pytest
from tests.embedded.apis import listed_apis
from tests.embedded.connection import connected_to

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    BlockingAdminClient,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from kafkawire.broker import EmbeddedBroker, ThreadedBroker
from kafkawire.broker.version_tables import known_releases, version_table
from kafkawire.model.configs.definitions import definitions
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.errors import ControllerIdNotRegisteredError, InvalidRequestError

UNSUPPORTED_VERSION = 35

NEW_IN_4_4 = {ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE, ApiKey.UNREGISTER_CONTROLLER}

each_release = pytest.mark.parametrize("release", known_releases())


async def answered(release: str | None, version: int = 3) -> ApiVersionsResponse:
    async with EmbeddedBroker(release=release) as broker, connected_to(broker) as client:
        return await client.ask(ApiVersionsRequest("kafkawire", "1"), version, ApiVersionsResponse)


def test_there_is_a_table_for_each_release_since_3_3() -> None:
    assert known_releases() == ("3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3", "4.4")


@each_release
async def test_a_release_offers_its_versions_as_far_as_they_are_served(release: str) -> None:
    table, served = version_table(release), await listed_apis()
    offered = {api.api_key: (api.min_version, api.max_version) for api in (await answered(release)).api_keys}
    for key, versions in served.items():
        lowest, highest = table.apis.get(APIS[key].name, (0, -1))
        expected = (max(lowest, versions[0]), highest) if highest >= versions[0] else None
        assert offered.get(key) == expected, APIS[key].name
    assert offered.keys() <= served.keys() | (NEW_IN_4_4 if release == "4.4" else set())


@each_release
async def test_the_features_are_those_of_the_release(release: str) -> None:
    table, answer = version_table(release), await answered(release)
    finalized = {each.name: each.max_version_level for each in answer.finalized_features}
    supported = {each.name: (each.min_version, each.max_version) for each in answer.supported_features}
    assert finalized == table.finalized
    assert supported == {name: levels for name, levels in table.supported.items() if levels[0]}


async def test_the_table_of_4_3_is_what_a_broker_answers_without_one() -> None:
    with_table, without = await answered("4.3", 4), await answered(None, 4)
    assert with_table.api_keys == without.api_keys
    assert {*with_table.supported_features} == {*without.supported_features}
    assert {*with_table.finalized_features} == {*without.finalized_features}


async def test_a_version_that_the_release_lacks_is_answered_as_there() -> None:
    """ApiVersions is answered in version 0 (KIP-511), for other APIs the connection is closed."""
    async with EmbeddedBroker(release="3.3") as broker:
        async with connected_to(broker) as client:
            answer = await client.ask(ApiVersionsRequest("kafkawire", "1"), 4, ApiVersionsResponse)
            assert (answer.error_code, [(api.api_key, api.max_version) for api in answer.api_keys]) == (
                UNSUPPORTED_VERSION,
                [(ApiKey.API_VERSIONS, 3)],
            )
        async with connected_to(broker) as client:
            await client.ask(DescribeClusterRequest(), 0, DescribeClusterResponse)
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)


def test_an_unknown_release_is_an_error_that_lists_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"release '3\.9\.2' is not known; there are 3\.3, .*, 4\.4$"):
        EmbeddedBroker(release="3.9.2")


@each_release
def test_the_admin_client_works_within_the_versions_of_the_release(release: str) -> None:
    with ThreadedBroker(release=release) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders", num_partitions=3)]).all()
        assert len(admin.describe_topics(["orders"])["orders"].partitions) == 3
        level = admin.describe_features().finalized["metadata.version"].highest
        assert level == version_table(release).finalized["metadata.version"]


@pytest.mark.parametrize(("release", "is_denied"), [("4.3", False), ("4.4", True)])
def test_acls_of_a_range_of_addresses_have_clients_since_4_4(release: str, *, is_denied: bool) -> None:
    everyone, topic = "User:ANONYMOUS", ResourceType.TOPIC
    acls = [
        AclBinding.of_cluster(everyone, AclOperation.ALL),
        AclBinding(topic, "orders", everyone, AclOperation.ALL),
        AclBinding(topic, "orders", everyone, AclOperation.DESCRIBE, AclPermissionType.DENY, "127.0.0.0/8"),
    ]
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
    }
    with (
        ThreadedBroker(properties, topics=["orders"], release=release) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):
        admin.create_acls(acls, allow_without_effect=True).all()
        assert bool(admin.describe_topics(["orders"]).errors()) == is_denied


@each_release
def test_release_configurations_are_those_of_the_newest(release: str) -> None:
    topic = ConfigResource.topic("orders")
    with ThreadedBroker(release=release) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        refused = admin.create_topics([NewTopic("small-segments", configs={"segment.bytes": "1048575"})]).errors()
        assert "Value must be at least 1048576" in str(refused["small-segments"])
        admin.create_topics([NewTopic("orders")]).all()
        entries = admin.describe_configs([topic])[topic]
    public = {name: each for name, each in definitions().topic.items() if not each.is_internal}
    assert {each.name: each.value for each in entries.values()} == {name: each.default for name, each in public.items()}


async def test_a_controller_of_4_4_unregisters_no_controller_that_is_not_registered_or_is_active() -> None:
    async with EmbeddedBroker(release="4.4") as broker, AdminClient(broker.bootstrap_servers) as admin:
        with pytest.raises(ControllerIdNotRegisteredError, match="Controller ID 99 is not currently registered"):
            await admin.unregister_controller(99)
        with pytest.raises(InvalidRequestError, match="Controller cannot unregister itself while it is active"):
            await admin.unregister_controller(1)
