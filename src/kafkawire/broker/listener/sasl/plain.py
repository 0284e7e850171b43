"""PLAIN (RFC 4616): the client sends the password itself."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError


class PlainMechanism:
    """One token with authorization id, name and password.

    Args:
        passwords: user to password.
    """

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords
        self.user: str | None = None
        self.token_lifetime_ms: int | None = None

    def respond(self, token: bytes) -> bytes:
        """Check the password; the answer is empty, and the errors have Kafka's texts."""
        parts = token.decode(errors="replace").split("\0", 3)
        if len(parts) != 3:
            raise LoginRefusedError(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        authorization_id, user, password = parts
        if not user:
            raise LoginRefusedError("Authentication failed: username not specified")
        if not password:
            raise LoginRefusedError("Authentication failed: password not specified")
        expected = self._passwords.get(user)
        # Compared in any case, so that the time does not reveal which users exist.
        is_right = hmac.compare_digest((expected or "").encode(), password.encode(errors="surrogatepass"))
        if expected is None or not is_right:
            raise LoginRefusedError("Authentication failed: Invalid username or password")
        if authorization_id not in {"", user}:
            raise LoginRefusedError(
                "Authentication failed: Client requested an authorization id that is different from username"
            )
        self.user = user
        return b""
