"""The connection to one broker, without sockets and without a clock.

Bytes and times go in, bytes and events come out::

    connection.open(now)
    send(connection.data_to_send())
    for event in connection.receive(received, now): ...

The driver sends :meth:`Connection.data_to_send` after every call, and calls :meth:`Connection.on_timer` at
:meth:`Connection.next_timer`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, TypeVar

from kafkawire import protocol
from kafkawire.admin.connection.authentication import Authentication
from kafkawire.admin.connection.events import Answered, Closed, Event, Failed, NeedsCredentials, Ready
from kafkawire.admin.connection.first_bytes import hint
from kafkawire.admin.connection.pipeline import PendingAnswer, Pipeline
from kafkawire.admin.connection.sasl.credentials import Credentials, CredentialsSource
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.spoken_versions import spoken_versions
from kafkawire.admin.connection.states import HOLDING, LOGGING_IN, SENDING, State, Trigger, after
from kafkawire.admin.connection.throttling import client_waits
from kafkawire.admin.connection.tracer import RequestTracer
from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.errors import (
    RebootstrapRequiredError,
    SaslAuthenticationFailedError,
    UnsupportedVersionError,
    error_of,
)
from kafkawire.rpc import FRAME_HEAD, FrameBuffer, api_of, decode_response, encode_request
from kafkawire.wire import DecodeError, EncodeError, Message
from kafkawire.wire.kafka_errors import ApiError, BrokenStreamError, ClosedError, DisconnectedError, KafkaError

_MILLISECONDS = 1000.0
_EARLIEST_RENEWAL = 0.85
_RENEWAL_SPREAD = 0.10
_API_VERSIONS = APIS[ApiKey.API_VERSIONS]
_NEWEST = spoken_versions(_API_VERSIONS, unstable=False)[-1]
_NOTHING_YET = BrokerVersions({})
R = TypeVar("R", bound=Message)


class Connection:
    """The state machine.

    Args:
        settings: times, sizes and names.
        credentials: credentials, a callback that returns them, or None for a listener without SASL. The driver
            calls the callback, after :class:`NeedsCredentials`.
        spread: at least 0 and below 1, random: where between 85 and 95 % of a session the login is renewed
            (KIP-368), so that clients which came together do not come back together.
        tracer: notes each request; None for no notes.

    Attributes:
        state: the current state.
        api_versions: the versions that the broker offers; none before :class:`Ready`.
        throttled_until: the time before which the broker does not want requests (KIP-219); 0 if it never said so.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        credentials: CredentialsSource | None = None,
        *,
        spread: float = 0.5,
        tracer: RequestTracer | None = None,
    ) -> None:
        self._settings = settings
        self._tracer = tracer
        self._now = 0.0
        self._credentials = credentials
        self._renew_after = _EARLIEST_RENEWAL + _RENEWAL_SPREAD * spread
        self.state = State.NEW
        self.api_versions = _NOTHING_YET
        self.throttled_until = 0.0
        self._frames = FrameBuffer(settings.maximum_frame_size)
        self._pipeline = Pipeline()
        self._to_send: list[bytes] = []
        self._sasl_versions = _NOTHING_YET
        self._authentication: Authentication | None = None
        self._setup_until: float | None = None
        self._renew_at: float | None = None
        self._active_at = 0.0
        self._was_answered = False

    def __repr__(self) -> str:
        return f"<Connection {self.state.name}, {self.in_flight} in flight>"

    @property
    def in_flight(self) -> int:
        """The number of requests without an answer, abandoned ones included: the broker still works on them."""
        return len(self._pipeline)

    # Calls of the driver.

    def open(self, now: float) -> None:
        """Begin with the login, if there is one, and the negotiation of versions.

        Raises:
            ImpossibleTransitionError: if it was opened before.
        """
        self._now = now
        sasl = self._credentials is not None
        self._happened(Trigger.OPENED_WITH_SASL if sasl else Trigger.OPENED)
        self._setup_until = now + self._settings.setup_timeout
        self._ask_for_versions(0 if sasl else _NEWEST)

    def send(self, request: Message, version: int, now: float, response: type[Message] | None = None) -> int:
        """Queue a request; its correlation id.

        Args:
            request: the request.
            version: of the request and its answer.
            now: the time of the event loop.
            response: the class that reads the answer; that of the API by default.

        Raises:
            UnsupportedVersionError: Kafka's error 35, if the version cannot express the request: names the
                field and the versions that the broker offers.
            EncodeError: for any other value that the version cannot carry.
            DisconnectedError: if the connection is closed.
            RuntimeError: if it is not ready yet.
            TypeError: if the class is that of another API.
        """
        if self.state is State.CLOSED:
            raise DisconnectedError("the connection is closed")
        if self.state not in SENDING | HOLDING:
            raise RuntimeError(f"a connection that is {self.state.name} accepts no requests yet")
        response = response or message_class(api_of(request).response)
        if response.API_KEY != request.API_KEY:
            raise TypeError(f"{response.NAME} is no answer to {request.NAME}")
        pending = PendingAnswer(self._pipeline.next_id(), response, version)
        frame = self._frame(request, pending)
        self._now = now
        if self._tracer is not None:
            self._tracer.sent(pending, frame, now)
        if self.state in SENDING:
            self._pipeline.expect(pending)
            self._to_send.append(frame)
        else:
            self._pipeline.hold(pending, frame)
        self._active_at = now
        return pending.correlation_id

    def abandon(self, correlation_id: int, now: float) -> list[Event]:
        """Discard an answer when it comes; others are not affected.

        Too many such answers end the connection.
        """
        self._pipeline.abandon(correlation_id, now)
        if self._tracer is not None:
            self._tracer.given_up(correlation_id, now)
        if self._pipeline.abandoned <= self._settings.maximum_abandoned:
            return []
        return self.close(DisconnectedError(f"{self._pipeline.abandoned} abandoned requests are unanswered"))

    def receive(self, data: bytes | bytearray | memoryview, now: float) -> list[Event]:
        """Receive bytes from the broker; returns the events."""
        if self.state is State.CLOSED:
            return []
        self._now = now
        events: list[Event] = []
        try:
            for frame in self._frames_in(data):
                self._take(frame, now, events)
        except KafkaError as error:
            events += self.close(error)
        self._active_at = now
        return events

    def end_of_stream(self, cause: Exception | None = None) -> list[Event]:
        """The broker, or the network, has closed the connection.

        Args:
            cause: the error of the network, if there is one.
        """
        if cause is None and self.state is State.READY and not self._pipeline and not self._frames.waiting:
            return self.close(None)
        error = self._disconnected()
        error.__cause__ = cause
        return self.close(error)

    def provide(self, credentials: Credentials, now: float) -> list[Event]:
        """Answer :class:`NeedsCredentials`.

        Raises:
            ImpossibleTransitionError: if no :class:`NeedsCredentials` was reported.
        """
        if self.state is State.CLOSED:
            return []
        self._now = now
        following = after(self.state, Trigger.CREDENTIALS_GIVEN)
        try:
            self._authentication = Authentication(
                credentials,
                self._sasl_versions,
                maximum_scram_iterations=self._settings.maximum_scram_iterations,
            )
        except KafkaError as error:
            return self.close(error)
        self._happened(Trigger.CREDENTIALS_GIVEN)
        if following is State.HANDSHAKING:
            self._ask_for_mechanism(self._authentication)
        else:
            self._log_in_again_when_drained(now)
        return []

    def close(self, error: KafkaError | None = None) -> list[Event]:
        """Close the connection; all requests in flight fail.

        Args:
            error: why, or None if nothing is wrong.
        """
        if self.state is State.CLOSED:
            return []
        self._happened(Trigger.ENDED)
        self._to_send.clear()
        self._setup_until = self._renew_at = None
        if self._tracer is not None:
            self._tracer.closed(error, self._now)
        failed = [
            Failed(pending.correlation_id, _for_neighbour(pending, error)) for pending in self._pipeline.give_up()
        ]
        return [*failed, Closed(error)]

    def data_to_send(self) -> bytes:
        """The bytes for the broker since the last call."""
        data = self._to_send[0] if len(self._to_send) == 1 else b"".join(self._to_send)
        self._to_send.clear()
        return data

    def next_timer(self) -> float | None:
        """When to call :meth:`on_timer`, or None."""
        times = (self._setup_until, self._renewal(), self._idle_end(), self._end_of_patience())
        return min((time for time in times if time is not None), default=None)

    def on_timer(self, now: float) -> list[Event]:
        """Handle the time: renew the login, or close the connection."""
        self._now = now
        if _passed(self._setup_until, now):
            waited = f"{self._settings.setup_timeout:g} s"
            return self.close(DisconnectedError(f"the broker did not answer within {waited} ({self._phase()})"))
        if _passed(self._end_of_patience(), now):
            waited = f"{self._settings.abandoned_timeout:g} s"
            return self.close(DisconnectedError(f"an abandoned request is still unanswered after {waited}"))
        if _passed(self._renewal(), now):
            return self._renew(now)
        if _passed(self._idle_end(), now):
            return self.close(None)
        return []

    # Frames.

    def _frames_in(self, data: bytes | bytearray | memoryview) -> Iterator[bytes]:
        try:
            yield from self._frames.add(data)
        except DecodeError as error:
            raise BrokenStreamError(hint(self._frames.waiting) or error.reason) from error

    def _take(self, frame: bytes, now: float, events: list[Event]) -> None:
        authentication = self._authentication
        if self.state is State.AUTHENTICATING and authentication and authentication.token_version is None:
            self._go_on_with(authentication, authentication.respond_bare(frame), now)
            return
        pending, is_waited_for = self._pipeline.answered(frame)
        if pending.is_own:
            answer = _decoded(frame, pending)
            if self._tracer is not None:
                self._tracer.answered(pending, answer, frame, now)
            self._on_own_answer[self.state](self, answer, now, events)
        elif is_waited_for:
            self._answered(frame, pending, now, events)
        if self.state is State.DRAINING:
            self._log_in_again_when_drained(now)

    def _answered(self, frame: bytes, pending: PendingAnswer, now: float, events: list[Event]) -> None:
        try:
            response = _decoded(frame, pending)
        except BrokenStreamError as error:
            events.append(Failed(pending.correlation_id, error))
            raise
        self._was_answered = True
        if self._tracer is not None:
            self._tracer.answered(pending, response, frame, now)
        self._note_throttling(response, pending.version, now)
        events.append(Answered(pending.correlation_id, response, pending.version))

    def _note_throttling(self, response: Message, version: int, now: float) -> None:
        milliseconds: int = getattr(response, "throttle_time_ms", 0)
        if milliseconds > 0 and client_waits(response.API_KEY or 0, version):
            self.throttled_until = max(self.throttled_until, now + milliseconds / _MILLISECONDS)

    def _frame(self, request: Message, pending: PendingAnswer) -> bytes:
        try:
            return encode_request(
                request, pending.version, correlation_id=pending.correlation_id, client_id=self._settings.client_id
            )
        except EncodeError as error:
            if error.kind != "unsupported_field":
                raise
            raise self.api_versions.inexpressible(request, error) from error

    # Versions (KIP-35, KIP-511).

    def _ask_for_versions(self, version: int) -> None:
        settings = self._settings
        request = protocol.ApiVersionsRequest(
            settings.software_name, settings.software_version, settings.cluster_id, settings.node_id
        )
        self._ask(request, protocol.ApiVersionsResponse, version)

    def _on_sasl_versions(self, answer: Message, now: float, events: list[Event]) -> None:
        self._sasl_versions = _versions_in(_as(protocol.ApiVersionsResponse, answer))
        self._happened(Trigger.SASL_VERSIONS_LISTED)
        self._ask_for_credentials(now, events)

    def _on_versions(self, answer: Message, now: float, events: list[Event]) -> None:
        listed = _as(protocol.ApiVersionsResponse, answer)
        if listed.error_code == UnsupportedVersionError.code and self.state is State.NEGOTIATING:
            self._happened(Trigger.VERSION_REFUSED)
            self._ask_for_versions(_common_version(listed))
            return
        self.api_versions = _versions_in(listed)
        self._happened(Trigger.VERSIONS_LISTED)
        self._setup_until = None
        self._note_throttling(listed, _NEWEST, now)
        events.append(Ready(self.api_versions))

    # Login (KIP-43, KIP-152, KIP-368).

    def _ask_for_credentials(self, now: float, events: list[Event]) -> None:
        if self._credentials is None or callable(self._credentials):
            events.append(NeedsCredentials())
        else:
            events += self.provide(self._credentials, now)

    def _ask_for_mechanism(self, authentication: Authentication) -> None:
        self._ask(
            authentication.handshake(), protocol.SaslHandshakeResponse, authentication.handshake_version, login=True
        )

    def _on_mechanism(self, answer: Message, now: float, events: list[Event]) -> None:
        authentication = self._logging_in()
        token = authentication.accept(_as(protocol.SaslHandshakeResponse, answer))
        self._happened(Trigger.MECHANISM_ACCEPTED)
        self._send_token(authentication, token)

    def _on_token(self, answer: Message, now: float, events: list[Event]) -> None:
        authentication = self._logging_in()
        self._go_on_with(authentication, authentication.respond(_as(protocol.SaslAuthenticateResponse, answer)), now)

    def _go_on_with(self, authentication: Authentication, token: bytes | None, now: float) -> None:
        if token is not None:
            self._happened(Trigger.TOKEN_EXCHANGED)
            self._send_token(authentication, token)
            return
        self._happened(Trigger.AUTHENTICATED)
        self._authentication = None
        if authentication.session_lifetime is not None:
            self._renew_at = now + authentication.session_lifetime * self._renew_after
        if self.state is State.NEGOTIATING:
            self._ask_for_versions(_NEWEST)
        else:
            self._setup_until = None
            self._to_send += self._pipeline.release()

    def _send_token(self, authentication: Authentication, token: bytes) -> None:
        if authentication.token_version is None:
            self._to_send.append(FRAME_HEAD.pack(len(token)) + token)
        else:
            request = protocol.SaslAuthenticateRequest(token)
            self._ask(request, protocol.SaslAuthenticateResponse, authentication.token_version, login=True)

    def _renew(self, now: float) -> list[Event]:
        self._happened(Trigger.SESSION_AGED)
        self._renew_at = None
        events: list[Event] = []
        self._ask_for_credentials(now, events)
        return events

    def _log_in_again_when_drained(self, now: float) -> None:
        if self._pipeline.is_drained:
            self._happened(Trigger.DRAINED)
            self._setup_until = now + self._settings.setup_timeout
            self._ask_for_mechanism(self._logging_in())

    def _logging_in(self) -> Authentication:
        if self._authentication is None:
            raise RuntimeError(f"a connection that is {self.state.name} is not logging in")
        return self._authentication

    _on_own_answer: ClassVar[
        Mapping[State, Callable[[Connection, Message, float, list[Event]], None]]
    ] = MappingProxyType({
        State.ASKING_FOR_SASL: _on_sasl_versions,
        State.HANDSHAKING: _on_mechanism,
        State.AUTHENTICATING: _on_token,
        State.NEGOTIATING: _on_versions,
        State.NEGOTIATING_LOWER: _on_versions,
        State.REHANDSHAKING: _on_mechanism,
        State.REAUTHENTICATING: _on_token,
    })  # fmt: skip

    # State and time.

    def _happened(self, trigger: Trigger) -> None:
        self.state = after(self.state, trigger)

    def _ask(self, request: Message, response: type[Message], version: int, *, login: bool = False) -> None:
        pending = PendingAnswer(self._pipeline.next_id(login=login), response, version, is_own=True)
        frame = self._frame(request, pending)
        self._pipeline.expect(pending)
        self._to_send.append(frame)
        if self._tracer is not None:
            self._tracer.sent(pending, frame, self._now)

    def _renewal(self) -> float | None:
        return self._renew_at if self.state is State.READY else None

    def _idle_end(self) -> float | None:
        is_idle = self.state is State.READY and not self._pipeline
        return self._active_at + self._settings.idle_timeout if is_idle else None

    def _end_of_patience(self) -> float | None:
        since = self._pipeline.abandoned_since
        return None if since is None else since + self._settings.abandoned_timeout

    def _disconnected(self) -> KafkaError:
        authentication = self._authentication
        if self.state in LOGGING_IN and authentication is not None:
            reason = authentication.reason_for_disconnect()
            # A broker with SaslAuthenticate gives a reason before it closes; without a reason it may just have been
            # stopped. An older broker has no other way to refuse.
            bare = authentication.token_version is None and self.state is State.AUTHENTICATING
            return SaslAuthenticationFailedError(reason) if bare else DisconnectedError(reason)
        return DisconnectedError(f"the broker closed the connection ({self._phase()})")

    def _phase(self) -> str:
        if self.state in SENDING | HOLDING:
            waiting = len(self._frames.waiting)
            cut = f", {waiting} bytes of the next answer had come" if waiting else ""
            hint = "; the listener may want SASL" if self._credentials is None and not self._was_answered else ""
            due = f"{self.in_flight} answer{'' if self.in_flight == 1 else 's'} due"
            return f"{due}{cut}{hint}"
        hint = "; the listener may want TLS, a client certificate or SASL" if self.state is State.NEGOTIATING else ""
        return f"while {self.state.name.lower().replace('_', ' ')}{hint}"


def _decoded(frame: bytes, pending: PendingAnswer) -> Message:
    try:
        return decode_response(frame, pending.response, pending.version)[1]
    except DecodeError as error:
        raise BrokenStreamError(f"{pending} cannot be decoded: {error}") from error


def _as(expected: type[R], answer: Message) -> R:
    if not isinstance(answer, expected):
        raise TypeError(f"expected {expected.NAME}, got {answer.NAME}")
    return answer


def _versions_in(answer: protocol.ApiVersionsResponse) -> BrokerVersions:
    if answer.error_code == RebootstrapRequiredError.code:
        raise RebootstrapRequiredError("the address leads to another node, or to a node of another cluster (KIP-1242)")
    if answer.error_code:
        raise error_of(answer.error_code, "the broker refused to list its API versions (ApiVersions)")
    return BrokerVersions.of(answer)


def _common_version(refusal: protocol.ApiVersionsResponse) -> int:
    """The version for the second request: brokers since 2.4 list theirs of ApiVersions, older ones support 0."""
    for api in refusal.api_keys:
        if api.api_key == ApiKey.API_VERSIONS:
            return BrokerVersions.of(refusal).choose(protocol.ApiVersionsRequest)
    return 0


def _for_neighbour(pending: PendingAnswer, error: KafkaError | None) -> KafkaError:
    """The error of a request that is in flight when the connection ends: its own, since errors collect context."""
    if error is None or isinstance(error, ClosedError):
        return ClosedError(f"{pending.response.NAME}: the connection was closed before it came")
    if isinstance(error, ApiError):
        return copy.copy(error)
    disconnected = DisconnectedError(f"{pending}: {error}")
    disconnected.__cause__ = error
    return disconnected


def _passed(time: float | None, now: float) -> bool:
    return time is not None and now >= time
