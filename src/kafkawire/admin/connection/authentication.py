"""One login over SASL: handshake and tokens as requests and responses (KIP-43, KIP-152, KIP-368)."""

from __future__ import annotations

from kafkawire import protocol
from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
)
from kafkawire.admin.connection.sasl.exchanges import Exchange, OAuthBearerExchange, PlainExchange
from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.protocol.errors import IllegalSaslStateError, UnsupportedSaslMechanismError, error_of

HAS_NO_SASL = "the listener has no SASL: leave out the credentials, or take the port of a listener with SASL"

_MILLISECONDS = 1000.0


class Authentication:
    """The client's side of one login, without frames and without a clock.

    Args:
        credentials: of the user.
        versions: the versions that the broker serves before the login.
        maximum_scram_iterations: see ``ConnectionSettings``.

    Attributes:
        handshake_version: of SaslHandshake.
        token_version: of SaslAuthenticate; None if tokens travel bare, as they do after handshake 0.
        session_lifetime: seconds after which the broker wants the next login, or None if it does not.

    Raises:
        UnsupportedVersionError: if the broker does not support SaslHandshake.
    """

    def __init__(self, credentials: Credentials, versions: BrokerVersions, *, maximum_scram_iterations: int) -> None:
        self._mechanism = credentials.mechanism
        self._exchange = _begin(credentials, maximum_scram_iterations)
        highest = versions.choose(protocol.SaslHandshakeRequest)
        if highest > 0 and versions.offered(protocol.SaslAuthenticateRequest):
            self.handshake_version = highest
            self.token_version: int | None = versions.choose(protocol.SaslAuthenticateRequest)
        else:
            self.handshake_version, self.token_version = 0, None
        self.session_lifetime: float | None = None

    def handshake(self) -> protocol.SaslHandshakeRequest:
        """The request that names the mechanism."""
        return protocol.SaslHandshakeRequest(self._mechanism)

    def accept(self, answer: protocol.SaslHandshakeResponse) -> bytes:
        """The first token, if the broker accepts the mechanism.

        Raises:
            UnsupportedSaslMechanismError: if not; names those that are enabled.
            ApiError: for any other error.
        """
        if answer.error_code == UnsupportedSaslMechanismError.code:
            enabled = ", ".join(answer.mechanisms) or "none"
            raise UnsupportedSaslMechanismError(f"{self._mechanism} is not enabled on this listener, but: {enabled}")
        if answer.error_code:
            refused = f"the broker refused the SASL handshake for {self._mechanism}"
            has_none = answer.error_code == IllegalSaslStateError.code
            raise error_of(answer.error_code, f"{refused}: {HAS_NO_SASL}" if has_none else refused)
        return self._exchange.first()

    def respond(self, answer: protocol.SaslAuthenticateResponse) -> bytes | None:
        """The next token, or None if the login is complete.

        Raises:
            ApiError: if the broker refuses, with its reason; or if its token is not what it should be.
        """
        if answer.error_code:
            raise error_of(answer.error_code, self._reason(answer.error_message or ""))
        token = self._exchange.respond(answer.auth_bytes)
        if token is None and answer.session_lifetime_ms > 0:
            self.session_lifetime = answer.session_lifetime_ms / _MILLISECONDS
        return token

    def respond_bare(self, challenge: bytes) -> bytes | None:
        """The same where tokens travel bare: there are neither errors nor lifetimes.

        Raises:
            SaslAuthenticationFailedError: if the broker's token is not what it should be.
        """
        return self._exchange.respond(challenge)

    def reason_for_disconnect(self) -> str:
        """The reason for an error when the broker closes the connection during the login."""
        reason = "the broker closed the connection during the login; likely it refuses the credentials"
        return self._reason(f"{self._mechanism}: {reason}")

    def _reason(self, given: str) -> str:
        refusal = self._exchange.refusal
        if refusal and refusal not in given:
            return f"{given} (it says {refusal})" if given else refusal
        return given or f"{self._mechanism}: the broker gives no reason"


def _begin(credentials: Credentials, maximum_scram_iterations: int) -> Exchange:
    match credentials:
        case PlainCredentials():
            return PlainExchange(credentials)
        case ScramCredentials():
            from kafkawire.admin.connection.sasl.scram_client import ScramExchange  # noqa: PLC0415 hashes are slow to import

            return ScramExchange(credentials, maximum_iterations=maximum_scram_iterations)
        case OAuthBearerCredentials():
            return OAuthBearerExchange(credentials)
