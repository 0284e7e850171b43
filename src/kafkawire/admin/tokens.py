"""Delegation tokens as data (KIP-48, KIP-373)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.model.redaction import Redacted
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import InvalidPrincipalTypeError, error_of
from kafkawire.wire.kafka_errors import ApiError

_EXPLANATIONS: Mapping[int, str] = MappingProxyType(
    {
        ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: "the brokers have no delegation.token.secret.key",
        ErrorCode.DELEGATION_TOKEN_NOT_FOUND: "no token has this HMAC",
        ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH: "only the owner and the renewers of a token may do this",
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: (
            "the connection is not authenticated: it needs a login (SASL) or a certificate (mutual TLS), "
            "and a login by a token does not count"
        ),
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: "the owner of the token does not allow this",
        ErrorCode.DELEGATION_TOKEN_EXPIRED: "the token has expired and cannot be used or renewed",
        ErrorCode.INVALID_PRINCIPAL_TYPE: "renewers must be of the type User",
    }
)


class DelegationToken(Redacted, frozen=True):
    """Credentials that replace a client's own password. The HMAC is not in the representation.

    Principals are written with their type, as in ACLs: ``User:alice``. Times are in milliseconds since 1970.

    Attributes:
        token_id: its id, the user name of a login.
        hmac: the secret; names the token when it is renewed or expired.
        owner: the principal of clients with the token.
        requester: who has created it; None from brokers before 3.3, where it is the owner.
        renewers: who may renew it, beside the owner.
        issue_timestamp_ms: when it was created.
        expiry_timestamp_ms: until when it is valid unless it is renewed.
        max_timestamp_ms: until when it can be renewed at most.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"hmac"})

    token_id: str
    hmac: bytes
    owner: str
    requester: str | None
    renewers: tuple[str, ...]
    issue_timestamp_ms: int
    expiry_timestamp_ms: int
    max_timestamp_ms: int

    def credentials(self, mechanism: Literal["SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512") -> ScramCredentials:
        """The credentials for a login; the listener must offer the mechanism.

        Example:
            ```python
            for token in await admin.describe_delegation_token():
                async with AdminClient("localhost:9092", credentials=token.credentials()) as borrower:
                    print("as", token.owner, "in", (await borrower.describe_cluster()).cluster_id)
            ```
        """
        password = base64.b64encode(self.hmac).decode()
        return ScramCredentials(self.token_id, password, mechanism, is_delegation_token=True)


def principal_parts(principal: str) -> tuple[str, str]:
    """Type and name of a principal.

    Raises:
        InvalidPrincipalTypeError: if it is not written as ``User:name``.
    """
    kind, separator, name = principal.partition(":")
    if not (kind and separator and name):
        raise InvalidPrincipalTypeError(f"{principal!r} is not a principal: write it as User:name")
    return kind, name


def token_error(code: int) -> ApiError:
    """The error of a code, with the message that brokers leave out."""
    return error_of(code, _EXPLANATIONS.get(code))
