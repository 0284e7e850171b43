"""What the mechanisms have in common: tokens go back and forth until one side is satisfied."""

from __future__ import annotations

from typing import Protocol

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
        """What the server has said against the credentials; empty if nothing."""


def refuse(mechanism: str, reason: str) -> SaslAuthenticationFailedError:
    """The error for a server whose token is not what it should be."""
    return SaslAuthenticationFailedError(f"{mechanism}: {reason}")


def escaped(name: str) -> str:
    """A name in which ``=`` and ``,`` cannot be taken for syntax (RFC 5802, ``saslname``)."""
    return name.replace("=", "=3D").replace(",", "=2C")
