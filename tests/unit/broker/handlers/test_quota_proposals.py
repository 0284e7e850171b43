"""The requests of KIP-248 at an embedded broker: the same answers as without them (C2 to C5)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace
from tests.embedded.connection import BrokerConnection, connected_to
from tests.stand_ins.cluster import FAST

from kafkawire.admin.client import AdminClient
from kafkawire.broker import EmbeddedBroker
from kafkawire.model.quotas.configs import DEFAULT_NAME, QuotaConfig, QuotaResourceType
from kafkawire.model.quotas.entities import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
)
from kafkawire.protocol import (
    AlterQuotasRequest,
    AlterQuotasResponse,
    DescribeQuotasRequest,
    DescribeQuotasResponse,
    ListQuotasRequest,
    ListQuotasResponse,
)

USER, CLIENT = QuotaResourceType.USER, QuotaResourceType.CLIENT
ALICE, LOADER = ClientQuotaEntity.of_user("alice"), ClientQuotaEntity.of_user_and_client("alice", "loader")
QUOTAS = {
    ALICE: {PRODUCER_BYTE_RATE: 1024.0, REQUEST_PERCENTAGE: 12.5},
    LOADER: {PRODUCER_BYTE_RATE: 1.0},
    ClientQuotaEntity.of_user_and_client("alice", None): {PRODUCER_BYTE_RATE: 2.0},
    ClientQuotaEntity.of_user_and_client("bob", "loader"): {PRODUCER_BYTE_RATE: 3.0},
    ClientQuotaEntity.of_user(None): {PRODUCER_BYTE_RATE: 4.0},
    ClientQuotaEntity.of_client("reader"): {CONSUMER_BYTE_RATE: 5.0},
    ClientQuotaEntity.of_ip("10.0.0.1"): {"connection_creation_rate": 5.0},
}
EVERYTHING = ClientQuotaFilter()


@pytest.fixture(params=["true", "false"], ids=["own requests", "not offered"])
async def broker(request: pytest.FixtureRequest) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker({"unstable.api.versions.enable": request.param}) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[AdminClient]:
    async with AdminClient(broker.bootstrap_servers, settings=replace(FAST, proposals=True)) as client:
        alterations = (ClientQuotaAlteration(entity, values) for entity, values in QUOTAS.items())
        (await client.alter_client_quotas(alterations)).all()
        yield client


async def stored(client: AdminClient) -> dict[ClientQuotaEntity, dict[str, float]]:
    described = (await client.describe_client_quotas([EVERYTHING])).all()[EVERYTHING]
    return {entity: dict(values) for entity, values in described.items()}


async def test_users_clients_and_the_entities_below_them_are_listed(client: AdminClient) -> None:
    """C2."""
    assert await client.list_quotas(USER) == (DEFAULT_NAME, "alice", "bob")
    assert await client.list_quotas(CLIENT) == (DEFAULT_NAME, "loader", "reader")
    assert await client.list_quotas(USER, "alice") == (DEFAULT_NAME, "loader")
    assert await client.list_quotas(CLIENT, "loader") == ("alice", "bob")
    assert await client.list_quotas(CLIENT, DEFAULT_NAME) == ("alice",)
    assert await client.list_quotas(USER, "nobody") == ()


async def test_quotas_are_described_including_unset_ones(client: AdminClient) -> None:
    """C3, C5."""
    assert (await client.describe_quotas("alice")).all() == {
        ALICE: {
            CONSUMER_BYTE_RATE: QuotaConfig(CONSUMER_BYTE_RATE, "9223372036854775807", is_default=True),
            CONTROLLER_MUTATION_RATE: QuotaConfig(CONTROLLER_MUTATION_RATE, "2147483647", is_default=True),
            PRODUCER_BYTE_RATE: QuotaConfig(PRODUCER_BYTE_RATE, "1024"),
            REQUEST_PERCENTAGE: QuotaConfig(REQUEST_PERCENTAGE, "12.5"),
        }
    }
    some = await client.describe_quotas("alice", DEFAULT_NAME, [PRODUCER_BYTE_RATE, "no_such_config"])
    both = ClientQuotaEntity.of_user_and_client("alice", None)
    assert some.all() == {both: {PRODUCER_BYTE_RATE: QuotaConfig(PRODUCER_BYTE_RATE, "2")}}


async def test_named_quotas_are_altered_and_the_others_stay(client: AdminClient) -> None:
    """C5."""
    carol, reader = ClientQuotaEntity.of_user_and_client("carol", None), ClientQuotaEntity.of_client("reader")
    results = await client.alter_quotas(
        {
            ALICE: {PRODUCER_BYTE_RATE: "2048", CONSUMER_BYTE_RATE: 10, REQUEST_PERCENTAGE: None},
            carol: {PRODUCER_BYTE_RATE: 1.0},
            reader: {CONSUMER_BYTE_RATE: None},
        }
    )
    assert len(results.all()) == 3
    expected = {
        **QUOTAS,
        ALICE: {PRODUCER_BYTE_RATE: 2048.0, CONSUMER_BYTE_RATE: 10.0},
        carol: {PRODUCER_BYTE_RATE: 1.0},
    }
    del expected[reader]
    assert await stored(client) == expected


async def test_validate_only_changes_nothing(client: AdminClient) -> None:
    """C3."""
    (await client.alter_quotas({ALICE: {PRODUCER_BYTE_RATE: "2048"}}, validate_only=True)).all()
    assert await stored(client) == QUOTAS


# The rest is not what this client sends.


@pytest.fixture
async def raw() -> AsyncIterator[BrokerConnection]:
    async with EmbeddedBroker({"unstable.api.versions.enable": "true"}) as broker, connected_to(broker) as raw:
        yield raw


Resource = tuple[int, str | None]
NONE: Resource = (0, None)


async def alter(
    raw: BrokerConnection, parent: Resource, child: Resource, *configs: tuple[str, str]
) -> list[tuple[int, str]]:
    message = AlterQuotasRequest
    values = tuple(message.AlterQuotasConfig(*config) for config in configs)
    asked = message.AlterQuotasResource(
        message.QuotaConfigResource(*parent), message.QuotaConfigResource(*child), values
    )
    (answer,) = (await raw.ask(message(False, (asked,)), 0, AlterQuotasResponse)).resources
    assert (answer.quota_config_resource.type, answer.quota_config_resource.name) == parent
    assert (answer.child_quota_config_resource.type, answer.child_quota_config_resource.name) == child
    return [(config.error_code, config.config_name) for config in answer.configs]


async def describe(raw: BrokerConnection, parent: Resource, child: Resource) -> tuple[int, dict[str, str]]:
    message = DescribeQuotasRequest
    asked = message.DescribeQuotasResource(
        message.QuotaConfigResource(*parent), message.QuotaConfigResource(*child), None
    )
    (answer,) = (await raw.ask(message((asked,)), 1, DescribeQuotasResponse)).resources
    (config,) = answer.configs
    entries = {entry.config_name: entry.config_value for entry in config.config_entries if not entry.is_default}
    return config.error_code, entries


async def test_parent_and_child_may_be_either_way_round(raw: BrokerConnection) -> None:
    assert await alter(raw, (CLIENT, "c"), (USER, DEFAULT_NAME), (PRODUCER_BYTE_RATE, "5")) == [(0, PRODUCER_BYTE_RATE)]
    assert await describe(raw, (USER, DEFAULT_NAME), (CLIENT, "c")) == (0, {PRODUCER_BYTE_RATE: "5"})
    assert await describe(raw, (CLIENT, "c"), NONE) == (0, {})


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        (NONE, NONE),
        ((2, "topic"), NONE),
        ((USER, "a"), (USER, "b")),
        ((USER, None), NONE),
        ((USER, ""), NONE),
        ((USER, "a"), (CLIENT, None)),
        ((USER, "a"), (0, "b")),
        ((99, "a"), NONE),
    ],
)
async def test_resources_other_than_users_and_clients_are_refused(
    raw: BrokerConnection, parent: Resource, child: Resource
) -> None:
    """C2."""
    assert await alter(raw, parent, child, (PRODUCER_BYTE_RATE, "5")) == [(42, PRODUCER_BYTE_RATE)]
    assert await alter(raw, parent, child) == [(42, "")]
    assert await describe(raw, parent, child) == (42, {})


@pytest.mark.parametrize("value", ["fast", "nan", "inf", "-1", "0", "1.5", "1e30"])
async def test_values_that_quotas_cannot_have_are_refused(raw: BrokerConnection, value: str) -> None:
    """C3."""
    refused = await alter(raw, (USER, "a"), NONE, (CONSUMER_BYTE_RATE, "5"), (PRODUCER_BYTE_RATE, value))
    assert [code for code, _ in refused] == [42, 42]
    assert await describe(raw, (USER, "a"), NONE) == (0, {})


async def test_only_users_and_clients_can_be_listed(raw: BrokerConnection) -> None:
    """C2."""
    for resource_type in (0, 1, 2, 4, 7):
        resource = ListQuotasRequest.QuotaConfigResource(resource_type, None)
        answer = await raw.ask(ListQuotasRequest(resource), 1, ListQuotasResponse)
        assert (answer.error_code, answer.quota_config_entity_names) == (42, ())


async def test_more_than_10_000_records_are_refused_altogether(raw: BrokerConnection) -> None:
    """C3."""
    message = AlterQuotasRequest
    none, value = message.QuotaConfigResource(*NONE), (message.AlterQuotasConfig(PRODUCER_BYTE_RATE, "1"),)
    resources = tuple(
        message.AlterQuotasResource(message.QuotaConfigResource(USER, f"u{number}"), none, value)
        for number in range(10_001)
    )
    answer = await raw.ask(message(False, resources), 0, AlterQuotasResponse)
    assert {config.error_code for resource in answer.resources for config in resource.configs} == {44}
    answer = await raw.ask(message(False, resources[:-1]), 0, AlterQuotasResponse)
    assert {config.error_code for resource in answer.resources for config in resource.configs} == {0}
