"""The versions that the broker offers: one release, nothing that a newer import adds."""

from __future__ import annotations

from pathlib import Path

from tests.embedded.apis import listed_apis
from tests.embedded.connection import connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.served_apis import RELEASE
from kafkawire.codegen.merge.released_versions import read_released_versions
from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse
from kafkawire.protocol.api_table import APIS, ApiKey

SPECS = Path(__file__).parents[3] / "specs"


async def test_highest_versions_are_the_stable_ones_of_the_named_release() -> None:
    highest: dict[str, int] = {}
    for row in read_released_versions(SPECS):
        if row.release == RELEASE and row.version >= 0:
            highest[row.merged_message] = max(row.version, highest.get(row.merged_message, 0))
    for key, versions in (await listed_apis()).items():
        api = APIS[key]
        assert versions[-1] == max(v for v in api.stable_versions if v <= highest[api.request]), api.name


async def test_unstable_versions_are_offered_on_request_only() -> None:
    stable, unstable = await listed_apis(), await listed_apis({"unstable.api.versions.enable": "true"})
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
