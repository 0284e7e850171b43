"""Users without the right to describe or alter quotas (E6, E8, C3)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterQuotasRequest,
    AlterQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeQuotasRequest,
    DescribeQuotasResponse,
    ListQuotasRequest,
    ListQuotasResponse,
)

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "unstable.api.versions.enable": "true",
}
REFUSED = 31


@pytest.fixture
async def nobody() -> AsyncIterator[BrokerConnection]:
    """A client that no ACL allows anything."""
    async with EmbeddedBroker(PROPERTIES) as broker, connected_to(broker) as client:
        yield client


@pytest.mark.parametrize("version", [0, 1])
async def test_without_rights_describing_is_refused_as_a_whole(nobody: BrokerConnection, version: int) -> None:
    """E6."""
    answer = await nobody.ask(DescribeClientQuotasRequest(), version, DescribeClientQuotasResponse)
    assert (answer.error_code, answer.entries) == (REFUSED, None)


async def test_kip_888_each_filter_is_refused(nobody: BrokerConnection) -> None:
    filters = (DescribeClientQuotasRequest.DescribeClientQuotasFilter(()),) * 2
    answer = await nobody.ask(DescribeClientQuotasRequest(filters=filters), 2, DescribeClientQuotasResponse)
    assert [(result.error_code, result.entries) for result in answer.filter_results] == [(REFUSED, None)] * 2


async def test_without_rights_each_entry_of_an_alteration_is_refused_even_a_wrong_one(nobody: BrokerConnection) -> None:
    """E8."""
    message = AlterClientQuotasRequest
    entries = (message.EntryData((message.EntityData("user", "a"),), ()), message.EntryData((), ()))
    answer = await nobody.ask(message(entries), 1, AlterClientQuotasResponse)
    assert [entry.error_code for entry in answer.entries] == [REFUSED, REFUSED]


async def test_without_rights_the_requests_of_kip_248_are_refused(nobody: BrokerConnection) -> None:
    """C3."""
    listed = await nobody.ask(ListQuotasRequest(), 1, ListQuotasResponse)
    assert (listed.error_code, listed.quota_config_entity_names) == (REFUSED, ())
    user = DescribeQuotasRequest.QuotaConfigResource(5, "a"), DescribeQuotasRequest.QuotaConfigResource(0, None)
    asked = DescribeQuotasRequest((DescribeQuotasRequest.DescribeQuotasResource(*user, None),))
    described = await nobody.ask(asked, 1, DescribeQuotasResponse)
    assert [config.error_code for one in described.resources for config in one.configs] == [REFUSED]
    owner = AlterQuotasRequest.QuotaConfigResource(5, "a"), AlterQuotasRequest.QuotaConfigResource(0, None)
    value = (AlterQuotasRequest.AlterQuotasConfig("producer_byte_rate", "5"),)
    changes = AlterQuotasRequest(False, (AlterQuotasRequest.AlterQuotasResource(*owner, value),))
    altered = await nobody.ask(changes, 0, AlterQuotasResponse)
    assert [config.error_code for one in altered.resources for config in one.configs] == [REFUSED]
