"""OAUTHBEARER (RFC 7628), with the extensions of KIP-342."""

from __future__ import annotations

from kafkawire.admin.connection.sasl.credentials import OAuthBearerCredentials
from kafkawire.admin.connection.sasl.exchange import escaped

_SEPARATOR = "\x01"
_MOST_OF_A_REFUSAL = 2_000


class OAuthBearerExchange:
    """The token, and an abort if the server does not like it.

    Args:
        credentials: the token.

    Attributes:
        refusal: the server's JSON with status, scope and configuration, if it refused.
    """

    def __init__(self, credentials: OAuthBearerCredentials) -> None:
        self._credentials = credentials
        self.refusal = ""

    def first(self) -> bytes:
        """GS2 header, the token, the extensions (RFC 7628, section 3.1)."""
        one = self._credentials
        authorization_id = f"a={escaped(one.authorization_id)}" if one.authorization_id else ""
        pairs = [f"auth=Bearer {one.token}", *(f"{name}={value}" for name, value in one.extensions.items())]
        return _SEPARATOR.join((f"n,{authorization_id},", *pairs, "", "")).encode()

    def respond(self, challenge: bytes) -> bytes | None:
        """Nothing is consent; anything else is a refusal, which the client must confirm (RFC 7628, section 3.2.3)."""
        if not challenge:
            return None
        self.refusal = challenge[:_MOST_OF_A_REFUSAL].decode("utf-8", "backslashreplace")
        return _SEPARATOR.encode()
