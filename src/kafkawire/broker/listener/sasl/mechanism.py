"""What all mechanisms have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

__all__ = ["LoginRefusedError", "Mechanism", "NewMechanism"]


class LoginRefusedError(Exception):
    """A login that fails.

    Args:
        message: what the client is told; None for what it is told about all bad credentials. Never holds a secret.
    """

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or "the credentials are wrong")
        self.message = message


class Mechanism(Protocol):
    """The server's side of one exchange."""

    @property
    def user(self) -> str | None:
        """Who has logged in; None as long as nobody has."""

    def respond(self, token: bytes) -> bytes:
        """The answer to the client's token.

        Raises:
            LoginRefusedError: the client is not who it says.
        """


NewMechanism: TypeAlias = Callable[[], Mechanism]
"""Begins an exchange."""
