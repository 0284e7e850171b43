"""Logins: answers before, during and after them, and the messages of failed ones (KIP-43, KIP-152, KIP-368)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, USER
from tests.interop.broker.same_answers.normalised import Normalised, normalised
from tests.interop.broker.same_answers.scenario import Pair
from tests.interop.broker.same_answers.talk import CLOSED, Side

from kafkawire.protocol import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ApiVersionsRequest,
    CreateTopicsRequest,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    message_class,
)
from kafkawire.rpc import api_of
from kafkawire.wire import Message

pytestmark = pytest.mark.interop

PLAIN = SaslHandshakeRequest("PLAIN")
SCRAM = SaslHandshakeRequest("SCRAM-SHA-256")
UNKNOWN_VERSIONS = struct.pack(">hhih", 18, 99, 1, -1) + bytes(4)


def plain(user: str, password: str, authorization_id: str = "") -> SaslAuthenticateRequest:
    return SaslAuthenticateRequest(f"{authorization_id}\0{user}\0{password}".encode())


RIGHT = plain(USER, PASSWORDS[USER])
WRONG = plain(USER, "wrong")

Said: TypeAlias = tuple[Message, int] | bytes
"""A request at a version, or the content of a frame."""


@dataclass(slots=True)
class Heard:
    """What a broker answers on one connection, until it closes it."""

    answers: list[Normalised] = field(default_factory=list)

    def say(self, connection: Connection, *said: Said) -> None:
        """Say one thing after the other."""
        for one in said:
            try:
                self.answers.append(_answer(connection, one))
            except OSError:
                self.answers.append(CLOSED)
                return
        self.answers.append(_end(connection))


def _answer(connection: Connection, said: Said) -> Normalised:
    if isinstance(said, bytes):
        return len(connection.exchange(struct.pack(">i", len(said)) + said))
    request, version = said
    answer = connection.ask(request, version, message_class(api_of(request).response))
    if isinstance(answer, SaslHandshakeResponse):
        return answer.error_code  # which mechanisms are enabled differs
    if isinstance(answer, SaslAuthenticateResponse):
        return answer.error_code, answer.error_message, answer.session_lifetime_ms, bool(answer.auth_bytes)
    if isinstance(request, ApiVersionsRequest):
        return "versions" if len(str(answer)) > 1000 else str(answer)
    if isinstance(request, MetadataRequest):
        return bool(getattr(answer, "brokers", ()))
    return normalised(answer)


def _end(connection: Connection) -> Normalised:
    """Whether a Metadata request is still answered on the connection."""
    try:
        connection.ask(MetadataRequest(()), 12, message_class("MetadataResponse"))
    except OSError:
        return CLOSED
    return "open"


def compare(pair: Pair, conversation: Callable[[Side], list[Normalised]]) -> None:
    assert conversation(pair.embedded) == conversation(pair.kafka)


CONVERSATIONS: dict[str, tuple[Said, ...]] = {
    "metadata first": ((MetadataRequest(), 12),),
    "a token first": ((RIGHT, 2),),
    "versions twice": ((ApiVersionsRequest("a", "1"), 3), (ApiVersionsRequest("a", "1"), 3)),
    "versions of a version that there is not": (UNKNOWN_VERSIONS, (ApiVersionsRequest("a", "1"), 3)),
    "versions from who does not say what it is": (
        (ApiVersionsRequest("-", "1"), 3),
        (ApiVersionsRequest("a", "1"), 3),
    ),
    "versions after the handshake": ((PLAIN, 1), (ApiVersionsRequest("a", "1"), 3)),
    "an unknown mechanism": ((SaslHandshakeRequest("NONE"), 1),),
    "an unknown mechanism, version 0": ((SaslHandshakeRequest("NONE"), 0),),
    "a handshake of a version that there is not": (struct.pack(">hhih", 17, 2, 1, -1) + b"\0\5PLAIN",),
    "HTTP": (b"GET / HTTP/1.1\r\n\r\n",),
    "nothing": (b"",),
    "bare tokens": ((PLAIN, 0), RIGHT.auth_bytes),
    "a wrong bare token": ((PLAIN, 0), WRONG.auth_bytes),
    "a right token, version 0": ((PLAIN, 1), (RIGHT, 0)),
    "a right token, version 1": ((PLAIN, 1), (RIGHT, 1)),
    "a right token, version 2": ((PLAIN, 1), (RIGHT, 2)),
    "a wrong token, version 0": ((PLAIN, 1), (WRONG, 0)),
    "a wrong token, version 2": ((PLAIN, 1), (WRONG, 2)),
    "nobody": ((PLAIN, 1), (plain("nobody", "x"), 2)),
    "without a name": ((PLAIN, 1), (plain("", "x"), 2)),
    "without a password": ((PLAIN, 1), (plain(USER, ""), 2)),
    "for somebody else": ((PLAIN, 1), (plain(USER, PASSWORDS[USER], "bob"), 2)),
    "for oneself": ((PLAIN, 1), (plain(USER, PASSWORDS[USER], USER), 2)),
    "too few parts": ((PLAIN, 1), (SaslAuthenticateRequest(b"x"), 2)),
    "too many parts": ((PLAIN, 1), (SaslAuthenticateRequest(b"a\0b\0c\0d\0e"), 2)),
    "an empty token": ((PLAIN, 1), (SaslAuthenticateRequest(b""), 2)),
    "no text": ((PLAIN, 1), (SaslAuthenticateRequest(b"\0alice\0\xff"), 2)),
    "metadata in place of a token": ((PLAIN, 1), (MetadataRequest(), 12)),
    "topics in place of a token": (
        (PLAIN, 1),
        (CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("a", 1, 1),)), 7),
    ),
    "a handshake in place of a token": ((PLAIN, 1), (PLAIN, 1)),
    "garbage in place of a token": ((PLAIN, 1), b"garbage garbage"),
    "a token after the login": ((PLAIN, 1), (RIGHT, 2), (RIGHT, 2)),
    "another login": ((PLAIN, 1), (RIGHT, 1), (PLAIN, 1), (RIGHT, 1)),
    "another login too soon": ((PLAIN, 1), (RIGHT, 1), (PLAIN, 1), (RIGHT, 1), (PLAIN, 1)),
    "another login as somebody else": (
        (PLAIN, 1),
        (RIGHT, 1),
        (PLAIN, 1),
        (plain(SUPER_USER, PASSWORDS[SUPER_USER]), 1),
    ),
    "another login with a wrong password": ((PLAIN, 1), (RIGHT, 1), (PLAIN, 1), (WRONG, 1)),
    "another login by another mechanism": ((PLAIN, 1), (RIGHT, 1), (SCRAM, 1), (SaslAuthenticateRequest(b"n,,"), 1)),
    "another login by an unknown mechanism": ((PLAIN, 1), (RIGHT, 1), (SaslHandshakeRequest("NONE"), 1)),
    "metadata in another login": ((PLAIN, 1), (RIGHT, 1), (PLAIN, 1), (MetadataRequest(), 12)),
}


@pytest.mark.parametrize("said", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_a_listener_with_sasl(secure_pair: Pair, said: tuple[Said, ...]) -> None:
    def conversation(side: Side) -> list[Normalised]:
        heard = Heard()
        with connected_to(side.host, side.sasl_port) as connection:
            heard.say(connection, *said)
        return heard.answers

    compare(secure_pair, conversation)


def test_a_listener_without_sasl(secure_pair: Pair) -> None:
    def conversation(side: Side) -> list[Normalised]:
        heard = Heard()
        with connected_to(side.host, side.port) as connection:
            twice = (ApiVersionsRequest("a", "1"), 3), (ApiVersionsRequest("-", "1"), 3)
            heard.say(connection, (PLAIN, 1), (PLAIN, 0), (RIGHT, 2), *twice, UNKNOWN_VERSIONS)
        return heard.answers

    compare(secure_pair, conversation)


FIRSTS = (
    "n,,n=scram-user,r=abc",
    "n,a=bob,n=scram-user,r=abc",
    "n,a=scram-user,n=scram-user,r=abc",
    "n,,m=x,n=scram-user,r=abc",
    "n,,n=scram-user,r=abc,x=y",
    "y,,n=scram-user,r=abc",
    "p=tls-unique,,n=scram-user,r=abc",
    "n,,n=scram-user,r=",
    "n,,n=scram=user,r=a",
    "n,,n=scräm,r=a",
    "garbage",
    "",
)
WRONG_PROOF = "A" * 43 + "="
FINALS = (
    f"c=biws,{{nonce}},p={WRONG_PROOF}",
    f"c=biws,{{nonce}},x=y,p={WRONG_PROOF}",
    f"c=biws,r=other,p={WRONG_PROOF}",
    f"c=AAAA,{{nonce}},p={WRONG_PROOF}",
    "c=biws,{nonce}",
    "garbage",
)


@pytest.mark.extended
def test_scram(secure_pair: Pair) -> None:
    """Who does not exist is refused one message later than by Kafka: see the deviations of the broker."""
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion("scram-user", 1, 4096, b"salt", b"p" * 32)
    deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion("scram-user", 1)

    def conversation(side: Side) -> list[Normalised]:
        heard = Heard()
        with connected_to(side.host, side.port) as connection:
            request = AlterUserScramCredentialsRequest(upsertions=(upsertion,))
            connection.ask(request, 0, AlterUserScramCredentialsResponse)
            _wait_for_login(side)
        for first in FIRSTS:
            with connected_to(side.host, side.sasl_port) as connection:
                heard.say(connection, (SCRAM, 1), (SaslAuthenticateRequest(first.encode()), 2))
        for final in FINALS:
            with connected_to(side.host, side.sasl_port) as connection:
                nonce = _server_first(connection).auth_bytes.decode().split(",")[0]
                token = final.replace("{nonce}", nonce).encode()
                heard.say(connection, (SaslAuthenticateRequest(token), 2))
        with connected_to(side.host, side.port) as connection:
            connection.ask(AlterUserScramCredentialsRequest((deletion,)), 0, AlterUserScramCredentialsResponse)
        return heard.answers

    compare(secure_pair, conversation)


def _wait_for_login(side: Side) -> None:
    """Until the credential has come to the listener."""

    def refusal() -> int:
        with connected_to(side.host, side.sasl_port) as connection:
            return _server_first(connection).error_code

    eventually(refusal, lambda code: code == 0)


def _server_first(connection: Connection) -> SaslAuthenticateResponse:
    connection.ask(SCRAM, 1, SaslHandshakeResponse)
    first = SaslAuthenticateRequest(FIRSTS[0].encode())
    return connection.ask(first, 2, SaslAuthenticateResponse)
