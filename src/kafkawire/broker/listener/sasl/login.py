"""The states of a connection during the login and re-authentication of its client (KIP-43, KIP-152, KIP-368).

This module uses no sockets: `Login.receive` takes a frame and the time, and returns what to do.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError, Mechanism, NewMechanism
from kafkawire.broker.refusals import refusal
from kafkawire.broker.request_work import decoded
from kafkawire.broker.requests import RefusedRequestError
from kafkawire.broker.sessions import ANONYMOUS, Principal, has_valid_software
from kafkawire.protocol import (
    ApiVersionsRequest,
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
)
from kafkawire.rpc import FRAME_HEAD, Request, encode_response
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

_KEY: Final = struct.Struct(">h")
_SECONDS_BETWEEN_LOGINS: Final = 1.0
"""The least time between two logins on a connection."""

_LARGEST_WITHOUT_TOKEN: Final = 4096
"""Bytes of a request without a token before the login: names of software and of mechanisms are short."""

_MOST_API_VERSIONS_REQUESTS: Final = 10
"""Clients need two attempts: one with their newest version, one with the newest that the broker offers."""


class LoginState(Enum):
    """The state of a login."""

    VERSIONS_OR_HANDSHAKE = auto()
    HANDSHAKE = auto()
    TOKENS = auto()
    BARE_TOKENS = auto()
    OTHER_MECHANISM = auto()
    COMPLETE = auto()
    REFUSED = auto()


class Step(Struct, frozen=True, gc=False):
    """What to do with a frame.

    Attributes:
        is_served: whether the dispatcher answers the request, as for any other request.
        frame: the response, if the frame is a part of the login.
        closes: whether the connection is closed after it.
    """

    is_served: bool = False
    frame: bytes | None = None
    closes: bool = False


SERVE: Final = Step(is_served=True)


@dataclass(frozen=True, slots=True)
class OfferedMechanism:
    """A mechanism that a listener offers.

    Attributes:
        begin: begins an exchange.
        lifetime_ms: after which time clients have to log in again (``connections.max.reauth.ms``); 0 for never.
    """

    begin: NewMechanism
    lifetime_ms: int = 0


class Login:
    """The logins of one connection.

    Args:
        offered: name to mechanism, in the order in which they are listed.
        versions: API key to the versions that are offered.

    Attributes:
        state: of the login.
        principal: of the client; ``ANONYMOUS`` before it has logged in.
        has_token: whether it has logged in with a delegation token.
    """

    def __init__(self, offered: Mapping[str, OfferedMechanism], versions: Mapping[int, range]) -> None:
        self.state = LoginState.VERSIONS_OR_HANDSHAKE
        self.principal = ANONYMOUS
        self.has_token = False
        self._offered = offered
        self._versions_served = versions
        self._mechanism_name = ""
        self._mechanism: Mechanism | None = None
        self._is_repeated = False
        self._api_versions_requests = 0
        self._lifetime_ms: int | None = None
        self._expires: float | None = None
        self._repeated_at: float | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the client has logged in and may send any request."""
        return self.state is LoginState.COMPLETE

    def receive(self, frame: bytes, now: float) -> Step:
        """Receive a frame.

        Args:
            frame: without its size.
            now: seconds of a clock that does not go back.

        Raises:
            RefusedRequestError: it is not valid in this state; the connection is to be closed without a response.
        """
        if self.state is LoginState.BARE_TOKENS:
            return self._bare_token(frame, now)
        key = _key(frame)
        if len(frame) > _LARGEST_WITHOUT_TOKEN and key != ApiKey.SASL_AUTHENTICATE and not self.is_complete:
            raise RefusedRequestError(f"{len(frame)} bytes for API {key} before the login")
        match self.state, key:
            case LoginState.VERSIONS_OR_HANDSHAKE, ApiKey.API_VERSIONS:
                return self._versions(frame)
            case LoginState.VERSIONS_OR_HANDSHAKE | LoginState.HANDSHAKE, ApiKey.SASL_HANDSHAKE:
                return self._handshake(frame)
            case LoginState.TOKENS, ApiKey.SASL_AUTHENTICATE:
                return self._token(frame, now)
            case LoginState.TOKENS, _:
                return self._unexpected(frame)
            case LoginState.COMPLETE, ApiKey.SASL_HANDSHAKE:
                return self._next_handshake(frame, now)
            case LoginState.COMPLETE, _:
                return self._serve(now)
        raise RefusedRequestError(f"API {key} during a login")

    def _versions(self, frame: bytes) -> Step:
        """ApiVersions; a client that requests an unknown version, or has no valid software name, may try again."""
        self._api_versions_requests += 1
        if self._api_versions_requests > _MOST_API_VERSIONS_REQUESTS:
            raise RefusedRequestError(f"ApiVersions {self._api_versions_requests} times before the login")
        request = self._decoded(frame)
        body = request.body
        if isinstance(body, ApiVersionsRequest) and has_valid_software(body, request.header.request_api_version):
            self.state = LoginState.HANDSHAKE
        return SERVE

    def _handshake(self, frame: bytes) -> Step:
        request = self._decoded(frame)
        body = request.body
        if not isinstance(body, SaslHandshakeRequest):
            raise TypeError(f"expected SaslHandshakeRequest, got {body!r}")
        names = tuple(self._offered)
        if body.mechanism not in self._offered:
            self.state = LoginState.REFUSED
            if self._is_repeated:
                raise RefusedRequestError("a re-authentication uses a SASL mechanism that is not offered")
            answer = SaslHandshakeResponse(UnsupportedSaslMechanismError.code, names)
            return Step(frame=_answered(request, answer), closes=True)
        if self._is_repeated and body.mechanism != self._mechanism_name:
            self.state = LoginState.OTHER_MECHANISM
        else:
            self._mechanism_name = body.mechanism
            self._mechanism = self._offered[body.mechanism].begin()
            self.state = LoginState.TOKENS if request.header.request_api_version else LoginState.BARE_TOKENS
        return Step(frame=_answered(request, SaslHandshakeResponse(0, names)))

    def _token(self, frame: bytes, now: float) -> Step:
        request = self._decoded(frame)
        body = request.body
        if not isinstance(body, SaslAuthenticateRequest):
            raise TypeError(f"expected SaslAuthenticateRequest, got {type(body).__name__}")
        try:
            token = self._respond(body.auth_bytes, now)
        except LoginRefusedError as refused:
            answer = SaslAuthenticateResponse(SaslAuthenticationFailedError.code, self._text(refused))
            return Step(frame=_answered(request, answer), closes=True)
        lifetime_ms = self._lifetime_ms if self.is_complete else None
        answer = SaslAuthenticateResponse(auth_bytes=token, session_lifetime_ms=lifetime_ms or 0)
        return Step(frame=_answered(request, answer))

    def _bare_token(self, frame: bytes, now: float) -> Step:
        try:
            token = self._respond(frame, now)
        except LoginRefusedError:
            return Step(closes=True)
        return Step(frame=FRAME_HEAD.pack(len(token)) + token)

    def _respond(self, token: bytes, now: float) -> bytes:
        """The mechanism's answer to a token; changes the state of the login accordingly.

        Raises:
            LoginRefusedError: the login fails.
        """
        if self._mechanism is None:
            raise TypeError("a token before the handshake that selects the mechanism")
        try:
            answer = self._mechanism.respond(token)
            if self._mechanism.user is not None:
                self._complete(Principal(self._mechanism.user), self._mechanism.token_lifetime_ms, now)
        except LoginRefusedError:
            self.state = LoginState.REFUSED
            raise
        return answer

    def _complete(self, principal: Principal, token_lifetime_ms: int | None, now: float) -> None:
        if self._is_repeated and principal != self.principal:
            was, is_now = self.principal, principal
            raise LoginRefusedError(
                "Cannot change principals during re-authentication from "
                f"{was.kind}.{was.name}: {is_now.kind}.{is_now.name}"
            )
        self.principal = principal
        self.state = LoginState.COMPLETE
        self.has_token = token_lifetime_ms is not None
        self._mechanism = None
        offered = self._offered[self._mechanism_name].lifetime_ms
        limits = (offered if offered > 0 else None, token_lifetime_ms)
        self._lifetime_ms = min((limit for limit in limits if limit is not None), default=None)
        self._expires = None if self._lifetime_ms is None else now + self._lifetime_ms / 1000

    def _next_handshake(self, frame: bytes, now: float) -> Step:
        """A handshake after the login begins a re-authentication, unless none is needed yet (KIP-368)."""
        too_soon = self._repeated_at is not None and now - self._repeated_at < _SECONDS_BETWEEN_LOGINS
        if self._expires is None or too_soon:
            return self._serve(now)
        self._repeated_at = now
        self._is_repeated = True
        return self._handshake(frame)

    def _serve(self, now: float) -> Step:
        if self._expires is not None and now > self._expires:
            raise RefusedRequestError("the session has expired and the client has not re-authenticated")
        return SERVE

    def _unexpected(self, frame: bytes) -> Step:
        """Refuse a request in place of a token, with an error in its own response."""
        request = self._decoded(frame)
        if request.body is None:
            raise RefusedRequestError("an ApiVersions request of an unknown version during a login")
        self.state = LoginState.REFUSED
        named = ApiKey(request.header.request_api_key).name
        reason = f"Unexpected Kafka request of type {named} during SASL authentication."
        version = request.header.request_api_version
        answer = refusal(request.body, version, IllegalSaslStateError.code, message=reason)
        return Step(frame=_answered(request, answer), closes=True)

    def _text(self, refused: LoginRefusedError) -> str:
        if refused.message is not None:
            return refused.message
        login = "re-authentication" if self._is_repeated else "authentication"
        return (
            f"Authentication failed during {login} due to invalid credentials with SASL mechanism "
            f"{self._mechanism_name}"
        )

    def _decoded(self, frame: bytes) -> Request:
        return decoded(frame, self._versions_served.get(ApiKey.API_VERSIONS))


def _key(frame: bytes) -> int:
    if len(frame) < _KEY.size:
        raise RefusedRequestError(f"a frame of {len(frame)} bytes is not a request")
    (key,) = _KEY.unpack_from(frame)
    return int(key)


def _answered(request: Request, answer: Message) -> bytes:
    header = request.header
    return encode_response(answer, header.request_api_version, correlation_id=header.correlation_id)
