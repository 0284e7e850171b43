"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, 7677), as Kafka speaks them.

Kafka takes the UTF-8 bytes of a password as they are, without SASLprep, offers no channel binding, and knows one
extension: ``tokenauth=true`` in the client's first message says that a delegation token logs in (KIP-48).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.admin.connection.sasl.exchanges import escaped, refuse

MINIMUM_ITERATIONS = 4096
"""RFC 7677, section 4: less makes a stolen exchange too easy to guess passwords from."""

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_GS2_HEADER = "n,,"
_BYTES_OF_NONCE = 24
_LONGEST_MESSAGE = 10_000
_DIGITS_OF_ITERATIONS = 9


class ScramExchange:
    """Both sides prove that they know the password; a server that does not is refused.

    Args:
        credentials: as whom to log in.
        maximum_iterations: a server that asks for more work is refused.
        nonce: this side's; random if it is not given, as it must be outside of tests.
    """

    refusal = ""

    def __init__(self, credentials: ScramCredentials, *, maximum_iterations: int, nonce: str | None = None) -> None:
        self._credentials = credentials
        self._maximum_iterations = maximum_iterations
        self._nonce = nonce or secrets.token_urlsafe(_BYTES_OF_NONCE)
        self._hash = _HASHES[credentials.mechanism]
        extension = ",tokenauth=true" if credentials.is_delegation_token else ""
        self._client_first_bare = f"n={escaped(credentials.username)},r={self._nonce}{extension}"
        self._server_signature: bytes | None = None

    def first(self) -> bytes:
        """The client's first message."""
        return f"{_GS2_HEADER}{self._client_first_bare}".encode()

    def respond(self, challenge: bytes) -> bytes | None:
        """The client's final message to the server's first; None to the server's final one.

        Raises:
            SaslAuthenticationFailedError: for a message that is malformed, a nonce that does not go on from this
                side's, an iteration count out of bounds, or a server that does not know the password.
        """
        message = self._text(challenge)
        if self._server_signature is None:
            return self._client_final(message)
        self._verify(message)
        return None

    def _client_final(self, server_first: str) -> bytes:
        nonce, salt, iterations = self._server_first(server_first)
        password = self._credentials.password.encode()
        salted_password = hashlib.pbkdf2_hmac(self._hash, password, salt, iterations)
        channel_binding = base64.b64encode(_GS2_HEADER.encode()).decode()
        without_proof = f"c={channel_binding},r={nonce}"
        exchanged = f"{self._client_first_bare},{server_first},{without_proof}".encode()
        client_key = self._hmac(salted_password, b"Client Key")
        client_signature = self._hmac(hashlib.new(self._hash, client_key).digest(), exchanged)
        proof = bytes(key ^ signature for key, signature in zip(client_key, client_signature, strict=True))
        self._server_signature = self._hmac(self._hmac(salted_password, b"Server Key"), exchanged)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def _server_first(self, message: str) -> tuple[str, bytes, int]:
        self._refuse_error(message)
        parts = message.split(",")
        if len(parts) < 3 or [part[:2] for part in parts[:3]] != ["r=", "s=", "i="]:
            raise self._refuse("the server's first message is not r=..., s=..., i=...")
        nonce, salt, iterations = (part[2:] for part in parts[:3])
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise self._refuse("the server's nonce does not go on from the client's")
        return nonce, self._octets(salt, "salt"), self._iterations(iterations)

    def _iterations(self, text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS_OF_ITERATIONS:
            raise self._refuse("the server's iteration count is no number")
        iterations = int(text)
        if iterations < MINIMUM_ITERATIONS:
            raise self._refuse(f"the server wants {iterations} iterations, at least {MINIMUM_ITERATIONS} are safe")
        if iterations > self._maximum_iterations:
            raise self._refuse(
                f"the server wants {iterations} iterations, "
                f"at most {self._maximum_iterations} are allowed (maximum_scram_iterations)"
            )
        return iterations

    def _verify(self, server_final: str) -> None:
        self._refuse_error(server_final)
        verifier = server_final.split(",", maxsplit=1)[0]
        if not verifier.startswith("v="):
            raise self._refuse("the server's final message is not v=...")
        signature = self._octets(verifier[2:], "signature")
        if not hmac.compare_digest(signature, self._server_signature or b""):
            raise self._refuse("the server's signature is wrong: it does not know the password")

    def _refuse_error(self, message: str) -> None:
        if message.startswith("e="):
            raise self._refuse(f"the server says {message[2:].split(',', maxsplit=1)[0]}")

    def _text(self, challenge: bytes) -> str:
        if len(challenge) > _LONGEST_MESSAGE:
            raise self._refuse(f"the server's message has {len(challenge)} bytes")
        try:
            return challenge.decode()
        except UnicodeDecodeError:
            raise self._refuse("the server's message is not UTF-8") from None

    def _octets(self, text: str, name: str) -> bytes:
        try:
            octets = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            octets = b""
        if not octets:
            raise self._refuse(f"the server's {name} is not base 64, or empty")
        return octets

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self._hash)

    def _refuse(self, reason: str) -> Exception:
        return refuse(self._credentials.mechanism, reason)
