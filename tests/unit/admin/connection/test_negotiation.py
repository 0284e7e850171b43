"""Opening a connection without a login: each case with answers fed whole and byte by byte."""

from __future__ import annotations

import msgspec
import pytest
from tests.stand_ins.scripted_peer import (
    ONLY_API_VERSIONS,
    SETTINGS,
    STABLE,
    Feed,
    ScriptedPeer,
    answer_frame,
    byte_by_byte,
    ready,
    versions_answer,
    whole,
)

from kafkawire.admin.connection.events import Closed, Ready
from kafkawire.admin.connection.machine import Connection
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.states import ImpossibleTransitionError, State
from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    RebootstrapRequiredError,
    UnsupportedVersionError,
)
from kafkawire.version import __version__
from kafkawire.wire.kafka_errors import ApiError, BrokenStreamError, DisconnectedError

NEWEST = ApiVersionsRequest.VERSIONS[-1]


@pytest.fixture(params=[whole, byte_by_byte])
def feed(request: pytest.FixtureRequest) -> Feed:
    chosen: Feed = request.param
    return chosen


@pytest.fixture
def peer(feed: Feed) -> ScriptedPeer:
    """The peer of a connection that has just been opened."""
    opened = ScriptedPeer(Connection(SETTINGS), feed)
    opened.connection.open(0.0)
    return opened


def test_the_highest_known_version_is_asked_for_with_the_name_of_the_software(peer: ScriptedPeer) -> None:
    request = peer.only_request()
    assert request.header.request_api_version == NEWEST
    assert request.header.client_id == "test"
    assert request.body == ApiVersionsRequest("kafkawire", "1.0")


def test_the_expected_node_is_sent_as_soon_as_the_version_allows(feed: Feed) -> None:
    settings = msgspec.structs.replace(SETTINGS, cluster_id="c", node_id=3)
    opened = ScriptedPeer(Connection(settings), feed)
    opened.connection.open(0.0)
    first = opened.only_request()
    assert first.body == ApiVersionsRequest("kafkawire", "1.0", "c", 3)
    refusal = ApiVersionsResponse(35, (ApiVersionsResponse.ApiVersion(18, 0, 4),))
    opened.answer(first, refusal, version=0)
    assert opened.only_request().body == ApiVersionsRequest("kafkawire", "1.0")


def test_another_node_than_meant_is_the_end(peer: ScriptedPeer) -> None:
    (event,) = peer.answer(peer.only_request(), ApiVersionsResponse(129))
    assert isinstance(event, Closed)
    assert isinstance(event.error, RebootstrapRequiredError)
    assert "to another node, or to a node of another cluster" in str(event.error)


@pytest.mark.parametrize(("cluster_id", "node_id"), [("c", -1), (None, 3)])
def test_brokers_want_the_ids_of_both_or_neither(cluster_id: str | None, node_id: int) -> None:
    with pytest.raises(ValueError, match="cluster_id and node_id must both be given or neither"):
        ConnectionSettings(cluster_id=cluster_id, node_id=node_id)


def test_the_listed_versions_make_it_ready(peer: ScriptedPeer) -> None:
    (event,) = peer.answer(peer.only_request(), versions_answer())
    assert event == Ready(BrokerVersions(dict(sorted(STABLE.items()))))
    assert peer.connection.api_versions.ranges == STABLE


def test_bytes_after_the_answer_begin_the_next_frame(peer: ScriptedPeer) -> None:
    answer = answer_frame(peer.only_request(), versions_answer())
    assert [type(event) for event in peer.deliver(answer + b"\0\0\0")] == [Ready]
    assert peer.state() is State.READY


@pytest.mark.parametrize("highest", range(NEWEST))
def test_error_35_with_a_range_asks_again_at_the_highest_common_version(peer: ScriptedPeer, highest: int) -> None:
    first = peer.only_request()
    refusal = ApiVersionsResponse(35, (ApiVersionsResponse.ApiVersion(18, 0, highest),))
    assert peer.answer(first, refusal, version=0) == []
    second = peer.only_request()
    assert second.header.request_api_version == highest
    assert second.header.correlation_id != first.header.correlation_id
    assert [type(event) for event in peer.answer(second, versions_answer())] == [Ready]


def test_error_35_without_a_range_asks_again_at_version_0(peer: ScriptedPeer) -> None:
    assert peer.answer(peer.only_request(), ApiVersionsResponse(35), version=0) == []
    second = peer.only_request()
    assert second.header.request_api_version == 0
    assert [type(event) for event in peer.answer(second, versions_answer())] == [Ready]


def test_error_35_at_version_0_is_the_end(peer: ScriptedPeer) -> None:
    peer.answer(peer.only_request(), ApiVersionsResponse(35), version=0)
    (event,) = peer.answer(peer.only_request(), ApiVersionsResponse(35))
    assert isinstance(event, Closed)
    assert isinstance(event.error, UnsupportedVersionError)


def test_a_range_without_a_common_version_is_the_end(peer: ScriptedPeer) -> None:
    refusal = ApiVersionsResponse(35, (ApiVersionsResponse.ApiVersion(18, 90, 91),))
    (event,) = peer.answer(peer.only_request(), refusal, version=0)
    assert isinstance(event, Closed)
    assert "the broker offers versions 90 to 91" in str(event.error)


@pytest.mark.parametrize(("code", "kind"), [(42, InvalidRequestError), (31, ClusterAuthorizationFailedError)])
def test_any_other_error_ends_the_connection_and_is_reported(
    peer: ScriptedPeer, code: int, kind: type[ApiError]
) -> None:
    (event,) = peer.answer(peer.only_request(), ApiVersionsResponse(code))
    assert isinstance(event, Closed)
    assert isinstance(event.error, kind)
    assert "refused to list its API versions" in str(event.error)
    assert peer.state() is State.CLOSED


def test_an_answer_that_cannot_be_read_is_the_end(peer: ScriptedPeer) -> None:
    answer = answer_frame(peer.only_request(), versions_answer())
    (event,) = peer.deliver((20).to_bytes(4) + answer[4:24])
    assert isinstance(event, Closed)
    assert isinstance(event.error, BrokenStreamError)


def test_a_disconnect_while_negotiating_hints_at_tls(peer: ScriptedPeer) -> None:
    (event,) = peer.connection.end_of_stream()
    assert isinstance(event, Closed)
    assert isinstance(event.error, DisconnectedError)
    assert "while negotiating; the listener may want TLS, a client certificate or SASL" in str(event.error)


def test_a_disconnect_of_the_first_request_hints_at_sasl() -> None:
    peer = ready()
    peer.connection.send(MetadataRequest(), 12, 0.0)
    *_, event = peer.connection.end_of_stream()
    assert isinstance(event, Closed)
    assert "1 answer due; the listener may want SASL" in str(event.error)


def test_negotiation_has_its_time() -> None:
    connection = Connection(ConnectionSettings(setup_timeout=2.5))
    connection.open(100.0)
    assert connection.next_timer() == 102.5
    assert connection.on_timer(102.4) == []
    (event,) = connection.on_timer(102.5)
    assert isinstance(event, Closed)
    assert "did not answer within 2.5 s (while negotiating" in str(event.error)
    assert connection.next_timer() is None


def test_requests_are_not_taken_before_it_is_ready(peer: ScriptedPeer) -> None:
    with pytest.raises(RuntimeError, match="NEGOTIATING accepts no requests yet"):
        peer.connection.send(MetadataRequest(), 12, 0.0)


def test_it_is_opened_once(peer: ScriptedPeer) -> None:
    with pytest.raises(ImpossibleTransitionError):
        peer.connection.open(1.0)


def test_nothing_happens_after_the_end(peer: ScriptedPeer) -> None:
    answer = answer_frame(peer.only_request(), versions_answer(ONLY_API_VERSIONS))
    peer.connection.close()
    assert peer.deliver(answer) == []
    assert peer.connection.end_of_stream() == []
    assert peer.connection.close() == []
    assert peer.connection.data_to_send() == b""
    with pytest.raises(DisconnectedError):
        peer.connection.send(MetadataRequest(), 12, 0.0)


@pytest.mark.parametrize("name", ["", ".kafkawire", "kafkawire-", "kafka wire", "käfka", "a\n"])
def test_names_that_brokers_refuse_are_refused_here(name: str) -> None:
    with pytest.raises(ValueError, match="software_name"):
        ConnectionSettings(software_name=name)
    with pytest.raises(ValueError, match="software_version"):
        ConnectionSettings(software_version=name)


@pytest.mark.parametrize("name", ["a", "1", "kafkawire", "apache-kafka-java", "1.0.dev0", "A--.b"])
def test_names_that_brokers_accept_are_accepted_here(name: str) -> None:
    assert ConnectionSettings(software_name=name, software_version=name).software_name == name


def test_the_version_of_the_package_is_one_that_brokers_accept() -> None:
    assert ConnectionSettings().software_version == __version__


@pytest.mark.parametrize("setting", ["setup_timeout", "idle_timeout", "maximum_frame_size", "maximum_abandoned"])
def test_bounds_are_positive(setting: str) -> None:
    with pytest.raises(ValueError, match=f"{setting} must be above 0"):
        ConnectionSettings(**{setting: 0})  # type: ignore[arg-type]
