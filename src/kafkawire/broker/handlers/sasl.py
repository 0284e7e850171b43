"""SASL requests on a listener without SASL, or of a client that has logged in already."""

from __future__ import annotations

from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.protocol import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.errors import IllegalSaslStateError


class SaslHandlers:
    """Reject SASL requests; those of a login never reach a handler."""

    def __init__(self, context: HandlerContext) -> None:
        self.apis = (
            ServedApi(SaslHandshakeRequest, self._handshake, 0, 1),
            ServedApi(SaslAuthenticateRequest, self._authenticate, 0, 2),
        )

    def _handshake(self, request: SaslHandshakeRequest, call: Call) -> SaslHandshakeResponse:
        return SaslHandshakeResponse(IllegalSaslStateError.code)

    def _authenticate(self, request: SaslAuthenticateRequest, call: Call) -> SaslAuthenticateResponse:
        reason = "SaslAuthenticate request received after successful authentication"
        return SaslAuthenticateResponse(IllegalSaslStateError.code, reason)
