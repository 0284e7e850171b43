"""Logins as a table of states, without sockets (KIP-43, KIP-152, KIP-368)."""

from __future__ import annotations

import struct
from typing import TypeVar

import pytest

from kafkawire.broker.listener.sasl.login import SERVE, Login, LoginState, OfferedMechanism, Step
from kafkawire.broker.listener.sasl.plain import PlainMechanism
from kafkawire.broker.requests import RefusedRequestError
from kafkawire.broker.sessions import ANONYMOUS, Principal
from kafkawire.protocol import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire import Message

R = TypeVar("R", bound=Message)

SECRET = "alice-secret"
PASSWORDS = {"alice": SECRET, "bob": "bob-secret"}
RIGHT = SaslAuthenticateRequest(f"\0alice\0{SECRET}".encode())
WRONG = SaslAuthenticateRequest(b"\0alice\0wrong-secret")
PLAIN = SaslHandshakeRequest("PLAIN")
UNKNOWN_APIVERSIONS = struct.pack(">hhih", 18, 99, 1, -1) + bytes(4)


def frame(request: Message, version: int) -> bytes:
    return encode_request(request, version, correlation_id=7, client_id="test")[4:]


def answer(step: Step, response: type[R], version: int) -> R:
    assert step.frame is not None
    correlation_id, decoded = decode_response(step.frame[4:], response, version)
    assert correlation_id == 7
    return decoded


def login(lifetime_ms: int = 0) -> Login:
    return Login(
        {
            "PLAIN": OfferedMechanism(lambda: PlainMechanism(PASSWORDS), lifetime_ms),
            "OTHER": OfferedMechanism(lambda: PlainMechanism({}), lifetime_ms),
        },
        {ApiKey.API_VERSIONS: range(5)},
    )


def logged_in(lifetime_ms: int = 0) -> Login:
    made = login(lifetime_ms)
    made.receive(frame(PLAIN, 1), 0.0)
    made.receive(frame(RIGHT, 2), 0.0)
    assert made.is_complete
    return made


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_login_with_requests(version: int) -> None:
    made = login()
    assert made.receive(frame(ApiVersionsRequest("test", "1"), 3), 0.0) == SERVE
    shaken = made.receive(frame(PLAIN, 1), 0.0)
    assert answer(shaken, SaslHandshakeResponse, 1) == SaslHandshakeResponse(0, ("PLAIN", "OTHER"))
    assert (made.principal, made.is_complete) == (ANONYMOUS, False)
    done = made.receive(frame(RIGHT, version), 0.0)
    assert answer(done, SaslAuthenticateResponse, version) == SaslAuthenticateResponse()
    assert (made.principal, made.is_complete) == (Principal("alice"), True)
    assert made.receive(frame(MetadataRequest(), 12), 0.0) == SERVE


def test_a_login_with_bare_tokens() -> None:
    made = login()
    made.receive(frame(PLAIN, 0), 0.0)
    assert made.receive(RIGHT.auth_bytes, 0.0) == Step(frame=bytes(4))
    assert made.principal == Principal("alice")


def test_a_bare_token_that_is_wrong_has_no_answer() -> None:
    made = login()
    made.receive(frame(PLAIN, 0), 0.0)
    assert made.receive(WRONG.auth_bytes, 0.0) == Step(closes=True)


@pytest.mark.parametrize("version", [0, 1])
def test_a_mechanism_that_is_not_offered_is_refused_and_the_others_are_named(version: int) -> None:
    step = login().receive(frame(SaslHandshakeRequest("GSSAPI"), version), 0.0)
    assert step.closes
    assert answer(step, SaslHandshakeResponse, version) == SaslHandshakeResponse(33, ("PLAIN", "OTHER"))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_wrong_credentials_are_refused_with_a_reason_that_holds_no_secret(version: int) -> None:
    made = login()
    made.receive(frame(PLAIN, 1), 0.0)
    step = made.receive(frame(WRONG, version), 0.0)
    assert step.closes
    refused = answer(step, SaslAuthenticateResponse, version)
    assert refused == SaslAuthenticateResponse(58, "Authentication failed: Invalid username or password")
    assert made.state is LoginState.REFUSED
    assert "secret" not in f"{refused} {made!r} {step} {made.__dict__}"
    with pytest.raises(RefusedRequestError):
        made.receive(frame(RIGHT, version), 0.0)


@pytest.mark.parametrize(
    "request_frame",
    [
        frame(MetadataRequest(), 12),
        frame(RIGHT, 2),
        b"",
        b"G",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">hhih", 17, 2, 1, -1) + b"\0\5PLAIN",
        struct.pack(">hhih", 17, 1, 1, -1) + b"\0\xffPLAIN",
    ],
)
def test_anything_else_first_closes_the_connection(request_frame: bytes) -> None:
    with pytest.raises(RefusedRequestError):
        login().receive(request_frame, 0.0)


def test_versions_are_asked_for_once_and_before_the_handshake() -> None:
    made = login()
    assert made.receive(UNKNOWN_APIVERSIONS, 0.0) == SERVE
    assert made.receive(frame(ApiVersionsRequest("test", "1"), 5), 0.0) == SERVE  # the broker serves 0 to 4
    assert made.receive(frame(ApiVersionsRequest(), 0), 0.0) == SERVE
    with pytest.raises(RefusedRequestError):
        made.receive(frame(ApiVersionsRequest(), 0), 0.0)


def test_versions_may_be_requested_again_after_a_wrong_request() -> None:
    made = login()
    assert made.receive(frame(ApiVersionsRequest("-", "1"), 3), 0.0) == SERVE
    assert made.receive(frame(ApiVersionsRequest("test", ""), 4), 0.0) == SERVE
    assert made.receive(frame(ApiVersionsRequest("test", "1"), 3), 0.0) == SERVE
    with pytest.raises(RefusedRequestError):
        made.receive(frame(ApiVersionsRequest("test", "1"), 3), 0.0)


def test_bounded_logins_ask_for_versions_ten_times() -> None:
    made = login()
    strange = frame(ApiVersionsRequest("-", "1"), 3)
    for _ in range(10):
        assert made.receive(strange, 0.0) is SERVE
    with pytest.raises(RefusedRequestError, match="11 times"):
        made.receive(strange, 0.0)


def test_bounded_logins_are_small_except_for_tokens() -> None:
    tags = tuple((tag, b"") for tag in range(2000))
    with pytest.raises(RefusedRequestError, match="before the login"):
        login().receive(frame(ApiVersionsRequest("a", "1", unknown_tagged_fields=tags), 3), 0.0)
    made = login()
    made.receive(frame(PLAIN, 1), 0.0)
    token = SaslAuthenticateRequest(bytes(5000))
    assert answer(made.receive(frame(token, 2), 0.0), SaslAuthenticateResponse, 2).error_code == 58
    topics = tuple(MetadataRequest.MetadataRequestTopic(name="x" * 200) for _ in range(30))
    assert logged_in().receive(frame(MetadataRequest(topics), 12), 0.0) is SERVE


def test_another_request_where_a_token_is_due_is_answered_with_34() -> None:
    made = login()
    made.receive(frame(PLAIN, 1), 0.0)
    request = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("orders", 1, 1),))
    step = made.receive(frame(request, 7), 0.0)
    assert step.closes
    (topic,) = answer(step, CreateTopicsResponse, 7).topics
    assert (topic.name, topic.error_code) == ("orders", 34)
    assert topic.error_message == "Unexpected Kafka request of type CREATE_TOPICS during SASL authentication."


@pytest.mark.parametrize("request_frame", [b"garbage", UNKNOWN_APIVERSIONS])
def test_an_invalid_request_in_place_of_a_token_closes_the_connection(request_frame: bytes) -> None:
    made = login()
    made.receive(frame(PLAIN, 1), 0.0)
    with pytest.raises(RefusedRequestError):
        made.receive(request_frame, 0.0)


class TestKip368:
    def test_clients_learn_when_to_log_in_again_and_may(self) -> None:
        made = login(60_000)
        made.receive(frame(PLAIN, 1), 0.0)
        done = made.receive(frame(RIGHT, 1), 0.0)
        assert answer(done, SaslAuthenticateResponse, 1).session_lifetime_ms == 60_000
        shaken = made.receive(frame(PLAIN, 1), 50.0)
        assert answer(shaken, SaslHandshakeResponse, 1).error_code == 0
        assert not made.is_complete
        made.receive(frame(RIGHT, 1), 50.0)
        assert made.receive(frame(MetadataRequest(), 12), 100.0) == SERVE

    def test_a_client_that_does_not_log_in_again_is_closed_at_its_next_request(self) -> None:
        made = logged_in(60_000)
        assert made.receive(frame(MetadataRequest(), 12), 60.0) == SERVE
        with pytest.raises(RefusedRequestError, match="expired"):
            made.receive(frame(MetadataRequest(), 12), 60.1)

    def test_it_is_never_too_late(self) -> None:
        made = logged_in(60_000)
        assert answer(made.receive(frame(PLAIN, 1), 99.0), SaslHandshakeResponse, 1).error_code == 0

    def test_but_too_soon(self) -> None:
        made = logged_in(60_000)
        made.receive(frame(PLAIN, 1), 1.0)
        made.receive(frame(RIGHT, 1), 1.0)
        assert made.receive(frame(PLAIN, 1), 1.5) == SERVE

    def test_without_a_lifetime_handshakes_are_for_the_handler_that_refuses_them(self) -> None:
        assert logged_in().receive(frame(PLAIN, 1), 50.0) == SERVE

    def test_a_new_login_keeps_the_user(self) -> None:
        made = logged_in(60_000)
        made.receive(frame(PLAIN, 1), 50.0)
        step = made.receive(frame(SaslAuthenticateRequest(b"\0bob\0bob-secret"), 1), 50.0)
        assert step.closes
        reason = "Cannot change principals during re-authentication from User.alice: User.bob"
        assert answer(step, SaslAuthenticateResponse, 1) == SaslAuthenticateResponse(58, reason)
        assert made.principal == Principal("alice")

    def test_another_mechanism_is_shaken_and_then_closed(self) -> None:
        made = logged_in(60_000)
        shaken = made.receive(frame(SaslHandshakeRequest("OTHER"), 1), 50.0)
        assert answer(shaken, SaslHandshakeResponse, 1).error_code == 0
        with pytest.raises(RefusedRequestError):
            made.receive(frame(RIGHT, 1), 50.0)

    def test_an_unknown_mechanism_has_no_answer(self) -> None:
        with pytest.raises(RefusedRequestError):
            logged_in(60_000).receive(frame(SaslHandshakeRequest("GSSAPI"), 1), 50.0)

    def test_bad_credentials_end_the_session(self) -> None:
        made = logged_in(60_000)
        made.receive(frame(PLAIN, 1), 50.0)
        assert made.receive(frame(WRONG, 1), 50.0).closes
        assert not made.is_complete
