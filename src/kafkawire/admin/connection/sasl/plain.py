"""PLAIN (RFC 4616)."""

from __future__ import annotations

from kafkawire.admin.connection.sasl.credentials import PlainCredentials


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
        """Whatever a server answers without an error is consent."""
