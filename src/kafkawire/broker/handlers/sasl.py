"""Logins where none is due: the connection has no SASL, or its client has logged in already."""

from __future__ import annotations

from kafkawire.broker.calls import Call, Routes
from kafkawire.protocol import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.errors import IllegalSaslStateError

__all__ = ["SaslHandlers"]


class SaslHandlers:
    """Says that it is too late, or the wrong place."""

    @property
    def routes(self) -> Routes:
        """Request to handler."""
        return {SaslHandshakeRequest: self._handshake, SaslAuthenticateRequest: self._authenticate}

    def _handshake(self, request: SaslHandshakeRequest, call: Call) -> SaslHandshakeResponse:
        return SaslHandshakeResponse(IllegalSaslStateError.code)

    def _authenticate(self, request: SaslAuthenticateRequest, call: Call) -> SaslAuthenticateResponse:
        reason = "SaslAuthenticate request received after successful authentication"
        return SaslAuthenticateResponse(IllegalSaslStateError.code, reason)
