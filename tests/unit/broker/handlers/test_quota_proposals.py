"""The requests of KIP-248 at an embedded broker, also those that our client does not send (C2 to C5).

``tests/unit/admin/operations/test_quota_configs.py`` has the tests with our client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.model.quotas.configs import DEFAULT_NAME, QuotaResourceType
from kafkawire.model.quotas.entities import (
    CONSUMER_BYTE_RATE,
    PRODUCER_BYTE_RATE,
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


@pytest.mark.usefixtures("one_engine")
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
