"""The APIs that an embedded broker lists."""

from __future__ import annotations

from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse

__all__ = ["listed_apis"]


async def listed_apis(properties: dict[str, str] | None = None) -> dict[int, range]:
    """API key to the versions that a broker with these properties lists."""
    async with EmbeddedBroker(properties) as broker, connected_to(broker) as client:
        answer = await client.ask(ApiVersionsRequest("kafkawire", "1"), 4, ApiVersionsResponse)
        return {api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys}
