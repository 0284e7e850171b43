"""The interface of SASL mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias


class LoginRefusedError(Exception):
    """A login fails.

    Args:
        message: the text for the client; None for the general text about invalid credentials. Never has a secret.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or "the credentials are wrong")
        self.message = message


class Mechanism(Protocol):
    """The server's side of one exchange."""

    @property
    def user(self) -> str | None:
        """The name of the user, once the login has succeeded; None before."""

    @property
    def token_lifetime_ms(self) -> int | None:
        """Milliseconds until the delegation token of the login expires; None for a login without one."""

    def respond(self, token: bytes) -> bytes:
        """The answer to the client's token.

        Raises:
            LoginRefusedError: the login fails.
        """


NewMechanism: TypeAlias = Callable[[], Mechanism]
"""Begins an exchange."""
