"""The table of offered versions: one release, nothing that a newer import adds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.offered_versions import RELEASE, offered_versions
from kafkawire.codegen.merge.released_versions import read_released_versions
from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse, HeartbeatRequest, message_class
from kafkawire.protocol.api_table import APIS, ApiKey

SPECS = Path(__file__).parents[3] / "specs"


async def listed(properties: dict[str, str]) -> dict[int, range]:
    """API key to the versions that a broker lists."""
    async with EmbeddedBroker(properties) as broker, connected_to(broker) as client:
        answer = await client.ask(ApiVersionsRequest("kafkawire", "1"), 4, ApiVersionsResponse)
        return {api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys}


async def test_highest_versions_are_the_stable_ones_of_the_named_release() -> None:
    highest: dict[str, int] = {}
    for row in read_released_versions(SPECS):
        if row.release == RELEASE and row.version >= 0:
            highest[row.merged_message] = max(row.version, highest.get(row.merged_message, 0))
    for key, versions in (await listed({})).items():
        api = APIS[key]
        assert versions[-1] == max(v for v in api.stable_versions if v <= highest[api.request]), api.name


async def test_unstable_versions_are_offered_on_request_only() -> None:
    stable, unstable = await listed({}), await listed({"unstable.api.versions.enable": "true"})
    added = {APIS[key].name: versions for key, versions in unstable.items() if stable.get(key) != versions}
    assert added == {
        "InitProducerId": range(7),
        "DescribeAcls": range(1, 5),
        "DescribeClientQuotas": range(3),
        "ListQuotas": range(1, 2),
        "DescribeQuotas": range(1, 2),
        "AlterQuotas": range(1),
    }


async def test_a_version_that_only_a_newer_release_has_is_unknown_to_the_broker() -> None:
    """Apache Kafka 4.4.0 added version 5 of ApiVersions."""
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        answer = await client.ask(ApiVersionsRequest("kafkawire", "1", "another cluster", 7), 5, ApiVersionsResponse)
    assert (answer.error_code, [(api.api_key, api.min_version, api.max_version) for api in answer.api_keys]) == (
        35,
        [(ApiKey.API_VERSIONS, 0, 4)],
    )


def test_an_api_without_an_entry_is_an_error_that_names_it() -> None:
    with pytest.raises(LookupError, match=r"Heartbeat is served, but .*offered_versions has no versions"):
        offered_versions([HeartbeatRequest], unstable=False)


def test_only_what_is_served_is_offered() -> None:
    assert offered_versions([message_class("MetadataRequest")], unstable=True) == {ApiKey.METADATA: range(14)}
