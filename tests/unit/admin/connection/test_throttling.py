"""Waiting for a broker that throttles (KIP-219)."""

from __future__ import annotations

import pytest
from tests.stand_ins.scripted_peer import ready

from kafkawire.admin.connection.throttling import client_waits
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
    message_class,
)
from kafkawire.protocol.api_table import APIS, ApiKey


@pytest.mark.parametrize(("version", "waits"), [(0, False), (2, False), (3, True), (7, True)])
def test_client_waits_from_the_version_on_at_which_the_broker_answers_first(version: int, waits: bool) -> None:
    assert client_waits(ApiKey.CREATE_TOPICS, version) is waits


def test_newest_version_of_every_api_is_one_at_which_the_client_waits() -> None:
    assert all(client_waits(api.key, api.versions[-1]) for api in APIS.values() if api.versions)


def test_every_api_with_a_version_of_client_throttling_has_a_throttle_time() -> None:
    told_apart = [api for api in APIS.values() if not client_waits(api.key, 0)]
    assert len(told_apart) > 30
    assert all("throttle_time_ms" in message_class(api.response).__struct_fields__ for api in told_apart)


def test_a_throttle_time_is_for_the_client_to_wait() -> None:
    peer = ready()
    peer.now = 5.0
    peer.connection.send(CreateTopicsRequest(), 5, 5.0)
    peer.answer(peer.only_request(), CreateTopicsResponse(throttle_time_ms=1500))
    assert peer.connection.throttled_until == 6.5


def test_a_later_and_shorter_throttle_time_does_not_shorten_the_first() -> None:
    peer = ready()
    for milliseconds in (1500, 100, 0):
        peer.connection.send(MetadataRequest(), 12, 0.0)
        peer.answer(peer.only_request(), MetadataResponse(throttle_time_ms=milliseconds))
    assert peer.connection.throttled_until == 1.5


def test_a_broker_that_waited_itself_has_waited_enough() -> None:
    peer = ready()
    peer.connection.send(CreateTopicsRequest(), 2, 5.0)
    peer.answer(peer.only_request(), CreateTopicsResponse(throttle_time_ms=1500))
    assert peer.connection.throttled_until == 0.0
