"""Logging in again on the same connection (KIP-368)."""

from __future__ import annotations

import pytest
from tests.stand_ins.sasl_server import PlainServer, ScramServer
from tests.stand_ins.scripted_peer import (
    SETTINGS,
    Feed,
    ScriptedPeer,
    before_handshake,
    byte_by_byte,
    logged_in,
    versions_answer,
    whole,
)

from kafkawire.admin.connection.events import Answered, Closed, Failed, NeedsCredentials
from kafkawire.admin.connection.pipeline import LOGIN_IDS
from kafkawire.admin.connection.sasl.credentials import PlainCredentials, ScramCredentials
from kafkawire.admin.connection.states import State
from kafkawire.protocol import (
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.errors import SaslAuthenticationFailedError
from kafkawire.wire.kafka_errors import DisconnectedError

SCRAM = ScramCredentials("alice", "secret")
PLAIN = PlainCredentials("alice", "secret")
LIFETIME_MS = 100_000
AGED = 90.0
ANSWER = MetadataResponse(cluster_id="c")


def scram() -> ScramServer:
    return ScramServer("alice", "secret")


def aging(feed: Feed = whole) -> ScriptedPeer:
    """The peer of a connection whose login is to be renewed at 90 s."""
    return logged_in(SCRAM, scram(), lifetime_ms=LIFETIME_MS, feed=feed)


def ask(peer: ScriptedPeer) -> int:
    return peer.connection.send(MetadataRequest(), 12, peer.now)


def logged_in_by_callback() -> ScriptedPeer:
    peer = before_handshake(lambda: PLAIN)
    peer.connection.provide(PLAIN, 0.0)
    peer.let_log_in(PlainServer("alice", "secret"), lifetime_ms=LIFETIME_MS)
    peer.answer(peer.only_request(), versions_answer())
    return peer


@pytest.mark.parametrize(("spread", "at"), [(0.0, 85.0), (0.5, 90.0), (0.999, 94.99)])
def test_the_login_is_renewed_at_85_to_95_percent_of_its_life(spread: float, at: float) -> None:
    peer = logged_in(SCRAM, scram(), lifetime_ms=LIFETIME_MS, spread=spread)
    assert peer.connection.next_timer() == pytest.approx(at)


def test_a_session_without_an_end_is_not_renewed() -> None:
    assert logged_in(SCRAM, scram()).connection.next_timer() == SETTINGS.idle_timeout


@pytest.mark.parametrize("feed", [whole, byte_by_byte])
def test_an_idle_connection_logs_in_again_at_once_and_asks_for_no_versions(feed: Feed) -> None:
    peer = aging(feed)
    assert peer.connection.on_timer(AGED) == []
    assert peer.state() is State.REHANDSHAKING
    peer.now = AGED
    assert peer.let_log_in(scram(), lifetime_ms=LIFETIME_MS) == []
    assert peer.state() is State.READY
    assert peer.sent() == []
    assert peer.connection.next_timer() == pytest.approx(2 * AGED)


def test_requests_in_flight_end_first_and_new_requests_wait_in_order() -> None:
    peer = aging()
    before = ask(peer)
    (sent_before,) = peer.sent()
    peer.connection.on_timer(AGED)
    waiting = [ask(peer), ask(peer)]
    assert peer.state() is State.DRAINING
    assert peer.connection.in_flight == 3
    assert peer.sent() == []
    assert peer.answer(sent_before, ANSWER) == [Answered(before, ANSWER, 12)]
    waiting.append(ask(peer))
    peer.let_log_in(scram())
    sent_after = peer.sent()
    assert [request.header.correlation_id for request in sent_after] == waiting
    answered = [event for request in sent_after for event in peer.answer(request, ANSWER)]
    assert answered == [Answered(correlation_id, ANSWER, 12) for correlation_id in waiting]


def test_an_abandoned_answer_is_waited_for_too() -> None:
    peer = aging()
    given_up = ask(peer)
    (sent,) = peer.sent()
    peer.connection.abandon(given_up, 80.0)
    peer.connection.on_timer(AGED)
    assert peer.state() is State.DRAINING
    assert peer.answer(sent, ANSWER) == []
    assert peer.state() is State.REHANDSHAKING


def test_a_request_that_is_given_up_while_it_waits_is_never_sent() -> None:
    peer = aging()
    peer.connection.on_timer(AGED)
    handshake = peer.only_request()
    given_up, kept = ask(peer), ask(peer)
    peer.connection.abandon(given_up, AGED)
    assert peer.connection.next_timer() == AGED + SETTINGS.setup_timeout
    server = scram()
    peer.answer(handshake, SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    while not server.is_complete:
        request = peer.only_request()
        assert isinstance(request.body, SaslAuthenticateRequest)
        peer.answer(request, SaslAuthenticateResponse(0, None, server.respond(request.body.auth_bytes)))
    assert [request.header.correlation_id for request in peer.sent()] == [kept]


def test_its_correlation_ids_go_round_in_the_topmost_eight() -> None:
    peer, seen = aging(), []
    for renewal in range(1, 5):
        peer.connection.on_timer(AGED * renewal)
        peer.now = AGED * renewal
        handshake = peer.only_request()
        seen.append(handshake.header.correlation_id)
        peer.answer(handshake, SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
        server = scram()
        while not server.is_complete:
            request = peer.only_request()
            seen.append(request.header.correlation_id)
            assert isinstance(request.body, SaslAuthenticateRequest)
            token = server.respond(request.body.auth_bytes)
            peer.answer(request, SaslAuthenticateResponse(0, None, token, LIFETIME_MS))
    assert seen == [LOGIN_IDS[(3 + index) % 8] for index in range(12)]


def test_a_callback_is_asked_again_while_requests_go_on() -> None:
    peer = logged_in_by_callback()
    assert peer.connection.on_timer(AGED) == [NeedsCredentials()]
    peer.now = AGED
    ask(peer)
    (request,) = peer.sent()
    assert peer.connection.provide(PLAIN, AGED) == []
    assert peer.sent() == []
    peer.answer(request, ANSWER)
    handshake = peer.only_request()
    assert handshake.body == SaslHandshakeRequest("PLAIN")


def test_a_refusal_ends_the_connection_and_fails_waiting_requests_with_the_reason() -> None:
    peer = aging()
    peer.connection.on_timer(AGED)
    waiting = ask(peer)
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    failed, closed = peer.answer(peer.only_request(), SaslAuthenticateResponse(58, "password has changed"))
    assert isinstance(failed, Failed)
    assert isinstance(closed, Closed)
    assert failed.correlation_id == waiting
    assert isinstance(failed.error, SaslAuthenticationFailedError)
    assert failed.error is not closed.error
    assert failed.error.message == "password has changed"


def test_renewing_has_its_time() -> None:
    peer = aging()
    peer.connection.on_timer(AGED)
    waiting = ask(peer)
    assert peer.connection.next_timer() == AGED + SETTINGS.setup_timeout
    failed, closed = peer.connection.on_timer(AGED + SETTINGS.setup_timeout)
    assert isinstance(failed, Failed)
    assert failed.correlation_id == waiting
    assert isinstance(failed.error, DisconnectedError)
    assert isinstance(closed, Closed)
