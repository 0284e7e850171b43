from __future__ import annotations

import asyncio

import pytest
from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafkawire.protocol.api_table import ApiKey


async def test_served_apis_are_listed_and_no_others() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        answer = await client.ask(ApiVersionsRequest("kafkawire", "1"), 4, ApiVersionsResponse)
        listed = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
        assert listed[ApiKey.CREATE_TOPICS] == (2, 7)
        assert ApiKey.GET_TELEMETRY_SUBSCRIPTIONS not in listed
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await client.ask(GetTelemetrySubscriptionsRequest(), 0, GetTelemetrySubscriptionsResponse)


async def test_clients_learn_the_address_of_the_node() -> None:
    async with EmbeddedBroker({"broker.rack": "r1", "node.id": "7"}) as broker, connected_to(broker) as client:
        answer = await client.ask(DescribeClusterRequest(), 1, DescribeClusterResponse)
        assert (answer.endpoint_type, answer.controller_id, answer.cluster_id) == (1, 7, broker.cluster_id)
        node = answer.brokers[0]
        assert (node.broker_id, node.host, node.port, node.rack) == (7, broker.host, broker.port, "r1")
