"""What the mechanisms have in common: tokens go back and forth until one side is satisfied."""

from __future__ import annotations

from typing import Protocol

from kafkawire.admin.connection.sasl.credentials import OAuthBearerCredentials, PlainCredentials
from kafkawire.protocol.errors import SaslAuthenticationFailedError


class Exchange(Protocol):
    """The client's side of one login."""

    def first(self) -> bytes:
        """The token that begins it."""

    def respond(self, challenge: bytes) -> bytes | None:
        """The token that answers the server's, or None if the login is complete.

        Raises:
            SaslAuthenticationFailedError: if the server's token is not what it should be.
        """

    @property
    def refusal(self) -> str:
        """The server's reason for refusing the credentials; empty if there is none."""


def refuse(mechanism: str, reason: str) -> SaslAuthenticationFailedError:
    """The error for a server whose token is not what it should be."""
    return SaslAuthenticationFailedError(f"{mechanism}: {reason}")


def escaped(name: str) -> str:
    """A name with ``=`` and ``,`` escaped, which have a meaning in tokens (RFC 5802, ``saslname``)."""
    return name.replace("=", "=3D").replace(",", "=2C")


class PlainExchange:
    """One token with everything.

    Args:
        credentials: as whom to log in.
    """

    refusal = ""

    def __init__(self, credentials: PlainCredentials) -> None:
        self._credentials = credentials

    def first(self) -> bytes:
        """Authorization id, name and password, NUL between them."""
        one = self._credentials
        return f"{one.authorization_id}\0{one.username}\0{one.password}".encode()

    def respond(self, challenge: bytes) -> None:
        """Any answer without an error is consent."""


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
