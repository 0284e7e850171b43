"""The versions that a broker lists, also for unknown versions of the request (KIP-35, KIP-511, KIP-584)."""

from __future__ import annotations

import struct

import pytest
from tests.apache_kafka.connection import connected_to
from tests.interop.broker.same_answers.scenario import Pair, same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse
from kafkawire.protocol.api_table import ApiKey

pytestmark = pytest.mark.interop


@same_answers_from_plain_brokers
def test_versions_and_features(talk: Talk) -> None:
    for version in range(5):
        talk.ask(ApiVersionsRequest("kafkawire", "1.0"), version, ApiVersionsResponse)


@same_answers_from_plain_brokers
def test_names_of_software(talk: Talk) -> None:
    names = (("", "1"), ("a", ""), ("a b", "1"), ("-a", "1"), ("a-", "1"), ("a.b-c", "1.0-x"), ("ä", "1"), ("a_b", "1"))
    for name, version in names:
        for api_version in (3, 4):
            talk.ask(ApiVersionsRequest(name, version), api_version, ApiVersionsResponse)


@pytest.mark.parametrize("version", [-32768, -2, -1, 99, 32767])
def test_versions_that_there_are_not(plain_pair: Pair, version: int) -> None:
    """Kafka answers them all, so that clients learn what there is (KIP-511): the same bytes."""
    # The content of a frame: API, version, correlation id, client id, and whatever follows in such a version.
    frame = struct.pack(">hhih", ApiKey.API_VERSIONS, version, 7, 1) + b"c" + bytes(2)
    answers = []
    for side in (plain_pair.embedded, plain_pair.kafka):
        with connected_to(side.host, side.port) as connection:
            answers.append(connection.exchange(struct.pack(">i", len(frame)) + frame))
    assert answers[0] == answers[1]
