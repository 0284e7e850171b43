"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), as Kafka implements them."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kafkawire.broker.delegation_tokens import TokenLogin
from kafkawire.broker.listener.sasl.mechanism import LoginRefusedError
from kafkawire.model.scram import ScramMechanism, hash_of
from kafkawire.protocol import UserScramCredentialRecord

_NAME: Final = r"(?:[\x01-+\--<>-\x7f]|=2C|=3D)+"
_PRINTABLE: Final = r"[\x21-+\--\x7e]+"
_BASE64: Final = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS: Final = r"(?:,[A-Za-z]+=[\x01-+\--\x7f]+)*"
_CLIENT_FIRST: Final = re.compile(
    rf"(?P<header>n,(?:a=(?P<authorization_id>{_NAME}))?,)"
    rf"(?P<bare>(?:m=[\x01-+\--\x7f]+,)?n=(?P<name>{_NAME}),r=(?P<nonce>{_PRINTABLE})(?P<extensions>{_EXTENSIONS}))"
)
_CLIENT_FINAL: Final = re.compile(
    rf"(?P<without_proof>c=(?P<binding>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS}),p=(?P<proof>{_BASE64})"
)
_TOKEN: Final = re.compile(r",tokenauth=true(?:,|$)", re.IGNORECASE)
"""The extension of a login with a delegation token (KIP-48)."""

_BYTES_OF_NONCE: Final = 24


class ScramMechanismServer:
    """Both sides prove that they have the password, without sending it.

    A login of a user that does not exist gets the same answers as one with a wrong password.

    Args:
        mechanism: SHA-256 or SHA-512.
        credential_of: the credential of a user; None for a user that does not exist.
        decoy_of: the decoy credential of a user that does not exist.
        token_of: how to log in with a delegation token, by its id; None for one that does not exist.
        nonce: the server's; random by default, as it must be outside of tests.
    """

    def __init__(
        self,
        mechanism: ScramMechanism,
        credential_of: Callable[[str], UserScramCredentialRecord | None],
        decoy_of: Callable[[str], UserScramCredentialRecord],
        token_of: Callable[[str], TokenLogin | None] = lambda _: None,
        *,
        nonce: str | None = None,
    ) -> None:
        self._hash = hash_of(mechanism)
        self._credential_of = credential_of
        self._decoy_of = decoy_of
        self._token_of = token_of
        self._nonce = nonce or secrets.token_urlsafe(_BYTES_OF_NONCE)
        self._exchange: _Exchange | None = None
        self.user: str | None = None
        self.token_lifetime_ms: int | None = None

    def respond(self, token: bytes) -> bytes:
        """The server's first message, then its final one."""
        try:
            message = token.decode("ascii")
        except UnicodeDecodeError:
            raise LoginRefusedError from None
        if self._exchange is None:
            self._exchange = self._begin(message)
            return self._exchange.server_first.encode()
        return self._finish(self._exchange, message)

    def _begin(self, message: str) -> _Exchange:
        first = _CLIENT_FIRST.fullmatch(message)
        if first is None:
            raise LoginRefusedError
        user = first["name"].replace("=2C", ",").replace("=3D", "=")
        if (first["authorization_id"] or user) != user:
            raise LoginRefusedError(
                "Authentication failed: Client requested an authorization id that is different from username"
            )
        has_token = _TOKEN.search(first["extensions"]) is not None
        token = self._token_of(user) if has_token else None
        credential = token.credential if token is not None else None if has_token else self._credential_of(user)
        known = credential if credential is not None else self._decoy_of(user)
        nonce = first["nonce"] + self._nonce
        server_first = f"r={nonce},s={b64encode(known.salt).decode()},i={known.iterations}"
        return _Exchange(
            first["header"], first["bare"], server_first, nonce, known, token, exists=credential is not None
        )

    def _finish(self, exchange: _Exchange, message: str) -> bytes:
        final = _CLIENT_FINAL.fullmatch(message)
        if final is None or final["nonce"] != exchange.nonce or b64decode(final["binding"]) != exchange.header.encode():
            raise LoginRefusedError
        exchanged = f"{exchange.client_first},{exchange.server_first},{final['without_proof']}".encode()
        known = exchange.credential
        client_signature = hmac.digest(known.stored_key, exchanged, self._hash)
        proof = b64decode(final["proof"])
        if len(proof) != len(client_signature):
            raise LoginRefusedError
        client_key = bytes(a ^ b for a, b in zip(proof, client_signature, strict=True))
        is_right = hmac.compare_digest(hashlib.new(self._hash, client_key).digest(), known.stored_key)
        if not (is_right and exchange.exists):
            raise LoginRefusedError
        self.user = known.name if exchange.token is None else exchange.token.owner
        self.token_lifetime_ms = None if exchange.token is None else exchange.token.lifetime_ms
        return b"v=" + b64encode(hmac.digest(known.server_key, exchanged, self._hash))


@dataclass(frozen=True, slots=True)
class _Exchange:
    """An exchange after the server's first message."""

    header: str
    client_first: str
    server_first: str
    nonce: str
    credential: UserScramCredentialRecord
    token: TokenLogin | None
    exists: bool
