"""The recorded version tables, and brokers that answer with them, beside brokers of these releases."""

from __future__ import annotations

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import broker_releases, is_at_least, recorded_releases
from tests.apache_kafka.version_tables import answered

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.broker.version_tables import version_table
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    StreamsGroupTopologyDescriptionUpdateRequest,
    UnregisterControllerRequest,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

NEW_IN_4_4 = (StreamsGroupTopologyDescriptionUpdateRequest.API_KEY, UnregisterControllerRequest.API_KEY)
"""The embedded broker serves them with this release only."""

TABLES = [release for release in recorded_releases() if is_at_least(release, broker_releases()[0])]
RELEASES = [pytest.param(each, marks=[] if each == TABLES[-1] else [pytest.mark.nightly]) for each in TABLES]


def asked(host: str, port: int) -> ApiVersionsResponse:
    with connected_to(host, port) as connection:
        return connection.ask(ApiVersionsRequest("kafkawire", "1"), 4, ApiVersionsResponse)


@pytest.fixture(params=RELEASES)
def kafka(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


def test_the_table_is_what_a_broker_answers(kafka: Broker) -> None:
    table = version_table(kafka.release.rpartition(".")[0])
    recorded = answered(kafka.release, kafka.host, kafka.port)
    assert recorded == {
        "release": table.release,
        "apis": {name: [*versions] for name, versions in table.apis.items()},
        "supported": {name: [*levels] for name, levels in table.supported.items()},
        "finalized": table.finalized,
    }


def test_an_embedded_broker_answers_the_same_as_far_as_it_serves_the_versions(kafka: Broker) -> None:
    theirs = asked(kafka.host, kafka.port)
    with ThreadedBroker(release=kafka.release.rpartition(".")[0]) as broker:
        ours = asked(broker.host, broker.port)
    with ThreadedBroker() as broker:
        lowest = {api.api_key: api.min_version for api in asked(broker.host, broker.port).api_keys}
    lowest |= dict.fromkeys(NEW_IN_4_4, 0)
    assert [(api.api_key, api.min_version, api.max_version) for api in ours.api_keys] == [
        (api.api_key, max(api.min_version, lowest[api.api_key]), api.max_version)
        for api in sorted(theirs.api_keys, key=lambda api: api.api_key)
        if api.api_key in lowest
    ]
    assert {*ours.supported_features} == {*theirs.supported_features}
    assert {*ours.finalized_features} == {*theirs.finalized_features}


def test_release_configurations_of_topics_have_their_own_limits(kafka: Broker) -> None:
    """A segment of any size, until 4.0; the embedded broker has the limit of 4.3 with each release."""
    small = NewTopic("small-segments", 1, 1, configs={"segment.bytes": "14"})
    with BlockingAdminClient(kafka.address) as admin:
        errors = admin.create_topics([small], validate_only=True).errors()
    assert (not errors) == (not is_at_least(kafka.release, "4.1")), errors
