"""The server's side of SASL, written after the RFCs and without the client's code."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Protocol


class LoginError(Exception):
    """The server refuses; the message is for the client."""


class SaslServer(Protocol):
    """The server's side of one login.

    Attributes:
        is_bare: whether tokens travel without Kafka's headers.
        is_complete: whether the client is logged in.
    """

    is_bare: bool
    is_complete: bool

    def respond(self, token: bytes) -> bytes:
        """The answer to the client's token.

        Raises:
            LoginError: if the client is refused.
        """


class PlainServer:
    """PLAIN for one user."""

    def __init__(self, username: str, password: str) -> None:
        self._expected = [username, password]
        self.is_bare = False
        self.is_complete = False

    def respond(self, token: bytes) -> bytes:
        _, *shown = token.decode().split("\0")
        if shown != self._expected:
            raise LoginError("Authentication failed: Invalid username or password")
        self.is_complete = True
        return b""


class OAuthBearerServer:
    """OAUTHBEARER for one token."""

    def __init__(self, token: str, extensions: dict[str, str] | None = None) -> None:
        self._expected = [f"auth=Bearer {token}", *(f"{name}={value}" for name, value in (extensions or {}).items())]
        self._refused = False
        self.is_bare = False
        self.is_complete = False

    def respond(self, token: bytes) -> bytes:
        if self._refused:
            raise LoginError("" if token == b"\x01" else "no abort")
        _, *pairs, end, after_end = token.decode().split("\x01")
        self._refused = pairs != self._expected or (end, after_end) != ("", "")
        self.is_complete = not self._refused
        return b'{"status":"invalid_token"}' if self._refused else b""


class ScramServer:
    """SCRAM for one user; the attributes may be spoilt to be a server that is not honest.

    Attributes:
        iterations: the iterations that clients must use.
        own_nonce: what follows the client's nonce.
        sent_nonce: makes the nonce that is sent from the client's and the own.
        spoil_signature: changes the signature that is sent.
        is_token: whether the client said that it logs in by a delegation token.
    """

    def __init__(self, username: str, password: str, *, algorithm: str = "sha512", iterations: int = 4096) -> None:
        self._username, self._password = username, password
        self._algorithm = algorithm
        self.iterations = iterations
        self.own_nonce = "3rfcNHYJY1ZVvWVs7j"
        self.sent_nonce: Callable[[str, str], str] = lambda clients, own: clients + own
        self.spoil_signature: Callable[[bytes], bytes] = lambda signature: signature
        self.salt = b"QSXCR+Q6sek8bf92"
        self.is_token = False
        self.is_bare = False
        self.is_complete = False
        self._first: tuple[str, str] | None = None

    def respond(self, token: bytes) -> bytes:
        if self._first is None:
            return self._server_first(token.decode())
        return self._server_final(token.decode(), *self._first)

    def _server_first(self, message: str) -> bytes:
        binding, authorization_id, bare = message.split(",", 2)
        fields = dict(part.split("=", 1) for part in bare.split(","))
        if (binding, authorization_id) != ("n", ""):
            raise LoginError("unexpected GS2 header")
        name = fields["n"].replace("=2C", ",").replace("=3D", "=")
        if name != self._username:
            raise LoginError("Authentication failed during authentication due to invalid credentials")
        self.is_token = fields.get("tokenauth") == "true"
        nonce = self.sent_nonce(fields["r"], self.own_nonce)
        first = f"r={nonce},s={b64encode(self.salt).decode()},i={self.iterations}"
        self._first = bare, first
        return first.encode()

    def _server_final(self, message: str, client_first: str, server_first: str) -> bytes:
        without_proof, _, proof = message.rpartition(",p=")
        salted = hashlib.pbkdf2_hmac(self._algorithm, self._password.encode(), self.salt, self.iterations)
        stored_key = hashlib.new(self._algorithm, self._keyed(salted, b"Client Key")).digest()
        exchanged = f"{client_first},{server_first},{without_proof}".encode()
        signature = self._keyed(stored_key, exchanged)
        client_key = bytes(a ^ b for a, b in zip(b64decode(proof), signature, strict=True))
        if hashlib.new(self._algorithm, client_key).digest() != stored_key:
            raise LoginError("Authentication failed during authentication due to invalid credentials")
        self.is_complete = True
        sent = self.spoil_signature(self._keyed(self._keyed(salted, b"Server Key"), exchanged))
        return b"v=" + b64encode(sent)

    def _keyed(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, self._algorithm).digest()
