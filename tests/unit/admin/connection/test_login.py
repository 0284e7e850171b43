"""Logging in on a listener with SASL (admin-login), with answers fed whole and byte by byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stand_ins.sasl_server import OAuthBearerServer, PlainServer, SaslServer, ScramServer
from tests.stand_ins.scripted_peer import (
    SETTINGS,
    STABLE,
    Feed,
    ScriptedPeer,
    before_handshake,
    byte_by_byte,
    versions_answer,
    whole,
)

from kafkawire.admin.connection.events import Closed, Event, Ready
from kafkawire.admin.connection.machine import Connection
from kafkawire.admin.connection.pipeline import LOGIN_IDS
from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
)
from kafkawire.admin.connection.states import ImpossibleTransitionError, State
from kafkawire.protocol import (
    ApiVersionsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import (
    IllegalSaslStateError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from kafkawire.rpc import split_frames
from kafkawire.wire.kafka_errors import DisconnectedError, KafkaError

SECRET = "correct-horse"
Login = tuple[Credentials, Callable[[], SaslServer]]
LOGINS: dict[str, Login] = {
    "PLAIN": (PlainCredentials("alice", SECRET), lambda: PlainServer("alice", SECRET)),
    "SCRAM-SHA-256": (
        ScramCredentials("alice", SECRET, "SCRAM-SHA-256"),
        lambda: ScramServer("alice", SECRET, algorithm="sha256"),
    ),
    "SCRAM-SHA-512": (ScramCredentials("alice", SECRET), lambda: ScramServer("alice", SECRET)),
    "OAUTHBEARER": (
        OAuthBearerCredentials(SECRET, {"tenant": "a"}),
        lambda: OAuthBearerServer(SECRET, {"tenant": "a"}),
    ),
}
WRONG: list[Credentials] = [
    PlainCredentials("alice", "wrong-horse"),
    ScramCredentials("alice", "wrong-horse", "SCRAM-SHA-256"),
    ScramCredentials("alice", "wrong-horse"),
    OAuthBearerCredentials("wrong-horse"),
]


@pytest.fixture(params=[whole, byte_by_byte])
def feed(request: pytest.FixtureRequest) -> Feed:
    chosen: Feed = request.param
    return chosen


def end_of(events: list[Event]) -> KafkaError:
    (event,) = events
    assert isinstance(event, Closed)
    assert event.error is not None
    return event.error


def accepted(credentials: Credentials, *, feed: Feed = whole) -> ScriptedPeer:
    """The peer of a connection whose mechanism was accepted: the first token is out."""
    peer = before_handshake(credentials, feed=feed)
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, (credentials.mechanism,)))
    return peer


def test_the_versions_are_asked_for_at_version_0_first() -> None:
    connection = Connection(SETTINGS, PlainCredentials("alice", SECRET))
    connection.open(0.0)
    peer = ScriptedPeer(connection)
    assert peer.only_request().header.request_api_version == 0


@pytest.mark.parametrize("mechanism", LOGINS)
def test_a_login_ends_with_the_usual_negotiation(mechanism: str, feed: Feed) -> None:
    credentials, begin = LOGINS[mechanism]
    peer = before_handshake(credentials, feed=feed)
    assert peer.let_log_in(begin()) == []
    request = peer.only_request()
    assert request.header.request_api_version == ApiVersionsResponse.VERSIONS[-1]
    assert [type(event) for event in peer.answer(request, versions_answer())] == [Ready]
    assert peer.connection.next_timer() == SETTINGS.idle_timeout


@pytest.mark.parametrize("version", range(3))
def test_tokens_travel_at_the_highest_common_version(version: int) -> None:
    credentials, begin = LOGINS["SCRAM-SHA-512"]
    versions = {**STABLE, ApiKey.SASL_AUTHENTICATE: range(version + 1)}
    peer = before_handshake(credentials, versions=versions)
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    request, server = peer.only_request(), begin()
    assert request.header.request_api_version == version
    assert isinstance(request.body, SaslAuthenticateRequest)
    peer.answer(request, SaslAuthenticateResponse(0, None, server.respond(request.body.auth_bytes)))
    assert peer.only_request().header.request_api_version == version


def test_requests_of_a_login_have_the_topmost_correlation_ids() -> None:
    credentials, begin = LOGINS["SCRAM-SHA-512"]
    peer, server, ids = before_handshake(credentials), begin(), []
    handshake = peer.only_request()
    ids.append(handshake.header.correlation_id)
    peer.answer(handshake, SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    while not server.is_complete:
        request = peer.only_request()
        ids.append(request.header.correlation_id)
        assert isinstance(request.body, SaslAuthenticateRequest)
        peer.answer(request, SaslAuthenticateResponse(0, None, server.respond(request.body.auth_bytes)))
    assert ids == list(LOGIN_IDS)[:3]
    assert peer.only_request().header.correlation_id == 1


@pytest.mark.parametrize("mechanism", LOGINS)
def test_after_handshake_0_tokens_travel_bare(mechanism: str, feed: Feed) -> None:
    credentials, begin = LOGINS[mechanism]
    versions = {**STABLE, ApiKey.SASL_HANDSHAKE: range(1)}
    peer, server = before_handshake(credentials, feed=feed, versions=versions), begin()
    handshake = peer.only_request()
    assert handshake.header.request_api_version == 0
    peer.answer(handshake, SaslHandshakeResponse(0, (mechanism,)))
    while not server.is_complete:
        (token,) = split_frames(peer.connection.data_to_send())
        answer = server.respond(token)
        assert peer.deliver(len(answer).to_bytes(4) + answer) == []
    assert [type(event) for event in peer.answer(peer.only_request(), versions_answer())] == [Ready]


def test_without_sasl_authenticate_the_handshake_is_version_0() -> None:
    versions = {key: offered for key, offered in STABLE.items() if key != ApiKey.SASL_AUTHENTICATE}
    peer = before_handshake(PlainCredentials("alice", SECRET), versions=versions)
    assert peer.only_request().header.request_api_version == 0


def test_a_listener_without_sasl_is_named() -> None:
    versions: dict[int, range] = {ApiKey.API_VERSIONS: range(5)}
    connection = Connection(SETTINGS, PlainCredentials("alice", SECRET))
    connection.open(0.0)
    peer = ScriptedPeer(connection)
    error = end_of(peer.answer(peer.only_request(), versions_answer(versions)))
    assert isinstance(error, UnsupportedVersionError)
    assert "SaslHandshake: the broker offers no version" in str(error)


def test_the_error_about_a_disabled_mechanism_names_the_enabled_ones() -> None:
    peer = before_handshake(PlainCredentials("alice", SECRET))
    handshake = peer.only_request()
    assert handshake.body == SaslHandshakeRequest("PLAIN")
    error = end_of(peer.answer(handshake, SaslHandshakeResponse(33, ("SCRAM-SHA-512", "GSSAPI"))))
    assert isinstance(error, UnsupportedSaslMechanismError)
    assert "PLAIN is not enabled on this listener, but: SCRAM-SHA-512, GSSAPI" in str(error)


def test_any_other_error_of_the_handshake_is_the_end() -> None:
    peer = before_handshake(PlainCredentials("alice", SECRET))
    error = end_of(peer.answer(peer.only_request(), SaslHandshakeResponse(34)))
    assert isinstance(error, IllegalSaslStateError)
    assert "refused the SASL handshake for PLAIN: the listener has no SASL" in str(error)


@pytest.mark.parametrize("credentials", WRONG, ids=lambda one: one.mechanism)
def test_a_refusal_is_final_and_gives_the_brokers_reason(credentials: Credentials, feed: Feed) -> None:
    peer = accepted(credentials, feed=feed)
    error = end_of(peer.answer(peer.only_request(), SaslAuthenticateResponse(58, "Authentication failed: why not")))
    assert isinstance(error, SaslAuthenticationFailedError)
    assert error.message == "Authentication failed: why not"
    assert not error.retriable
    assert peer.connection.data_to_send() == b""


def test_a_refusal_without_a_reason_names_the_mechanism() -> None:
    peer = accepted(PlainCredentials("alice", SECRET))
    error = end_of(peer.answer(peer.only_request(), SaslAuthenticateResponse(58, None)))
    assert error.message == "PLAIN: the broker gives no reason"


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (None, '{"status":"invalid_token"}'),
        ("refused", 'refused (it says {"status":"invalid_token"})'),
        ('refused: {"status":"invalid_token"}', 'refused: {"status":"invalid_token"}'),
    ],
)
def test_the_message_of_an_oauthbearer_server_is_in_the_error(told: str | None, message: str) -> None:
    peer = accepted(OAuthBearerCredentials("expired"))
    assert peer.answer(peer.only_request(), SaslAuthenticateResponse(0, None, b'{"status":"invalid_token"}')) == []
    abort = peer.only_request()
    assert abort.body == SaslAuthenticateRequest(b"\x01")
    error = end_of(peer.answer(abort, SaslAuthenticateResponse(58, told)))
    assert isinstance(error, SaslAuthenticationFailedError)
    assert error.message == message


def test_a_scram_server_that_cannot_prove_itself_is_left() -> None:
    credentials, _ = LOGINS["SCRAM-SHA-512"]
    server = ScramServer("alice", SECRET)
    server.spoil_signature = lambda signature: bytes(len(signature))
    error = end_of(before_handshake(credentials).let_log_in(server))
    assert "the server's signature is wrong" in str(error)


def test_a_scram_server_that_wants_too_much_work_is_left() -> None:
    credentials, _ = LOGINS["SCRAM-SHA-512"]
    peer = before_handshake(credentials)
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("SCRAM-SHA-512",)))
    server = ScramServer("alice", SECRET, iterations=SETTINGS.maximum_scram_iterations + 1)
    request = peer.only_request()
    assert isinstance(request.body, SaslAuthenticateRequest)
    events = peer.answer(request, SaslAuthenticateResponse(0, None, server.respond(request.body.auth_bytes)))
    assert "at most 100000 are allowed" in str(end_of(events))


@pytest.mark.parametrize("mechanism", LOGINS)
def test_a_disconnect_instead_of_an_answer_is_a_likely_refusal(mechanism: str) -> None:
    """It may as well be a broker that stops, so another attempt is allowed; a refusal would have been answered."""
    error = end_of(accepted(LOGINS[mechanism][0]).connection.end_of_stream())
    assert isinstance(error, DisconnectedError)
    assert f"{mechanism}: the broker closed the connection during the login; likely it refuses" in str(error)


def test_an_old_broker_has_only_the_disconnect_to_refuse() -> None:
    peer = before_handshake(PlainCredentials("alice", SECRET), versions={**STABLE, ApiKey.SASL_HANDSHAKE: range(1)})
    peer.answer(peer.only_request(), SaslHandshakeResponse(0, ("PLAIN",)))
    error = end_of(peer.connection.end_of_stream())
    assert isinstance(error, SaslAuthenticationFailedError)
    assert "during the login; likely it refuses the credentials" in str(error)


@pytest.mark.parametrize("mechanism", LOGINS)
def test_secrets_are_in_no_error_and_no_representation(mechanism: str) -> None:
    credentials, _ = LOGINS[mechanism]
    peer = accepted(credentials)
    request = peer.only_request()
    assert SECRET not in repr(request)
    assert SECRET not in repr(peer.connection)
    assert SECRET not in str(end_of(peer.answer(request, SaslAuthenticateResponse(58, "no"))))


def test_credentials_of_a_callback_are_asked_for_when_they_are_needed() -> None:
    credentials, begin = LOGINS["PLAIN"]
    peer = before_handshake(lambda: credentials)
    assert peer.state() is State.AWAITING_CREDENTIALS
    assert peer.sent() == []
    assert peer.connection.provide(credentials, 0.0) == []
    assert peer.let_log_in(begin()) == []
    assert peer.state() is State.NEGOTIATING


def test_credentials_without_a_request_for_them_are_refused() -> None:
    credentials, _ = LOGINS["PLAIN"]
    peer = accepted(credentials)
    with pytest.raises(ImpossibleTransitionError):
        peer.connection.provide(credentials, 0.0)


def test_credentials_after_the_end_are_ignored() -> None:
    credentials, _ = LOGINS["PLAIN"]
    peer = before_handshake(lambda: credentials)
    peer.connection.close()
    assert peer.connection.provide(credentials, 0.0) == []


def test_a_callback_has_the_time_of_the_setup() -> None:
    peer = before_handshake(lambda: PlainCredentials("alice", SECRET))
    error = end_of(peer.connection.on_timer(SETTINGS.setup_timeout))
    assert "within 10 s (while awaiting credentials)" in str(error)


@pytest.mark.parametrize("code", [35, 42])
def test_an_error_of_the_first_api_versions_is_the_end(code: int) -> None:
    connection = Connection(SETTINGS, PlainCredentials("alice", SECRET))
    connection.open(0.0)
    peer = ScriptedPeer(connection)
    assert "refused to list its API versions" in str(
        end_of(peer.answer(peer.only_request(), ApiVersionsResponse(code)))
    )
