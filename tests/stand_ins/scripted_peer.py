"""The broker's side of a connection without sockets: reads what the state machine sends and answers as a test wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.stand_ins.broker import listed_versions
from tests.stand_ins.sasl_server import SaslServer

from kafkawire.admin.connection.events import Event, NeedsCredentials
from kafkawire.admin.connection.machine import Connection
from kafkawire.admin.connection.sasl.credentials import CredentialsSource
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.states import State
from kafkawire.protocol import (
    ApiVersionsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.rpc import Request, decode_request, encode_response, split_frames
from kafkawire.wire import Message

STABLE = {api.key: api.stable_versions for api in APIS.values() if api.stable_versions}
SETTINGS = ConnectionSettings(client_id="test", software_version="1.0")

Feed = Callable[[bytes], Iterator[bytes]]
"""How the bytes of the peer arrive."""


def whole(data: bytes) -> Iterator[bytes]:
    yield data


def byte_by_byte(data: bytes) -> Iterator[bytes]:
    yield from (data[at : at + 1] for at in range(len(data)))


class ScriptedPeer:
    """The broker at the other end of a state machine.

    Args:
        connection: the state machine.
        feed: how bytes reach it.

    Attributes:
        now: the time that is passed to the machine.
    """

    def __init__(self, connection: Connection, feed: Feed = whole) -> None:
        self.connection = connection
        self.feed = feed
        self.now = 0.0

    def state(self) -> State:
        """Where the connection stands now."""
        return self.connection.state

    def sent(self) -> list[Request]:
        """The requests that the machine has sent since the last look."""
        return [decode_request(frame) for frame in split_frames(self.connection.data_to_send())]

    def only_request(self) -> Request:
        """The one request that the machine has sent."""
        (request,) = self.sent()
        return request

    def deliver(self, data: bytes) -> list[Event]:
        """Let bytes arrive; what they bring about."""
        return [event for part in self.feed(data) for event in self.connection.receive(part, self.now)]

    def answer(self, request: Request, response: Message, version: int | None = None) -> list[Event]:
        """Answer a request, at its own version if no other is given."""
        return self.deliver(answer_frame(request, response, version))

    def let_log_in(self, server: SaslServer, *, lifetime_ms: int = 0) -> list[Event]:
        """Play the broker's side of a login up to its end."""
        handshake = self.only_request()
        assert isinstance(handshake.body, SaslHandshakeRequest)
        events = self.answer(handshake, SaslHandshakeResponse(0, (handshake.body.mechanism,)))
        while not server.is_complete:
            request = self.only_request()
            assert isinstance(request.body, SaslAuthenticateRequest)
            token = server.respond(request.body.auth_bytes)
            events += self.answer(request, SaslAuthenticateResponse(0, None, token, lifetime_ms))
        return events


def answer_frame(request: Request, response: Message, version: int | None = None) -> bytes:
    """The answer to a request as a frame."""
    header = request.header
    version = header.request_api_version if version is None else version
    return encode_response(response, version, correlation_id=header.correlation_id)


def versions_answer(versions: Mapping[int, range] = STABLE) -> ApiVersionsResponse:
    """What a broker with these versions answers to ApiVersions."""
    return ApiVersionsResponse(api_keys=listed_versions(versions))


def ready(
    settings: ConnectionSettings = SETTINGS, *, feed: Feed = whole, versions: Mapping[int, range] = STABLE
) -> ScriptedPeer:
    """The peer of a connection without login that takes requests."""
    peer = ScriptedPeer(Connection(settings), feed)
    peer.connection.open(0.0)
    peer.answer(peer.only_request(), versions_answer(versions))
    assert peer.state() is State.READY
    return peer


def before_handshake(
    credentials: CredentialsSource,
    *,
    settings: ConnectionSettings = SETTINGS,
    feed: Feed = whole,
    versions: Mapping[int, range] = STABLE,
    spread: float = 0.5,
) -> ScriptedPeer:
    """The peer of a connection that has the versions of the SASL requests; it has sent its handshake if it can."""
    peer = ScriptedPeer(Connection(settings, credentials, spread=spread), feed)
    peer.connection.open(0.0)
    events = peer.answer(peer.only_request(), versions_answer(versions))
    assert events == ([NeedsCredentials()] if callable(credentials) else [])
    return peer


def logged_in(
    credentials: CredentialsSource,
    server: SaslServer,
    *,
    lifetime_ms: int = 0,
    spread: float = 0.5,
    feed: Feed = whole,
    settings: ConnectionSettings = SETTINGS,
) -> ScriptedPeer:
    """The peer of a connection that has logged in and takes requests."""
    peer = before_handshake(credentials, spread=spread, feed=feed, settings=settings)
    peer.let_log_in(server, lifetime_ms=lifetime_ms)
    peer.answer(peer.only_request(), versions_answer())
    assert peer.connection.state is State.READY
    return peer


ONLY_API_VERSIONS = {int(ApiKey.API_VERSIONS): APIS[ApiKey.API_VERSIONS].versions}
