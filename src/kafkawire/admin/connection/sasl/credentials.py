"""As whom to log in. Secrets are in no representation and in no error."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar, Literal

import msgspec

from kafkawire.arguments.fields import check_fields
from kafkawire.model.redaction import Redacted

_BEARER = r"[A-Za-z0-9._~+/-]+=*"
_EXTENSION_NAME = r"[A-Za-z]+"
_EXTENSION_VALUE = r"[\x21-\x7e \t\r\n]+"


class PlainCredentials(Redacted, frozen=True):
    """Name and password as they are (PLAIN, RFC 4616): only for listeners with TLS.

    Attributes:
        username, password: of the user.
        authorization_id: as whom to act; brokers accept only the same user, or nothing, which is the default.

    Raises:
        TypeError: for a value of another type.
        ValueError: for a name or password that is empty or holds NUL.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"password"})

    username: str
    password: str
    authorization_id: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_empty(self.username, self.password)
        for name, text in (
            ("username", self.username), ("password", self.password), ("authorization_id", self.authorization_id),
        ):  # fmt: skip
            if "\0" in text:
                raise ValueError(f"{name}: holds NUL, which PLAIN uses between its parts")

    @property
    def mechanism(self) -> str:
        """Name of the SASL mechanism."""
        return "PLAIN"


class ScramCredentials(Redacted, frozen=True):
    """Name and password that are never sent (SCRAM, RFC 5802 and 7677).

    Attributes:
        username, password: of the user; for a delegation token its id and its HMAC in base 64. Apache Kafka refuses
            names outside ASCII; passwords may hold anything.
        mechanism: ``SCRAM-SHA-256`` or ``SCRAM-SHA-512``.
        is_delegation_token: whether they are those of a delegation token (KIP-48).

    Raises:
        TypeError: for a value of another type.
        ValueError: for an unknown mechanism, or a name or password that is empty.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"password"})

    username: str
    password: str
    mechanism: Literal["SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    is_delegation_token: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_empty(self.username, self.password)
        if self.mechanism not in {"SCRAM-SHA-256", "SCRAM-SHA-512"}:
            raise ValueError(f"mechanism {self.mechanism!r}: must be SCRAM-SHA-256 or SCRAM-SHA-512")


class OAuthBearerCredentials(Redacted, frozen=True):
    """A token that an identity provider has issued (OAUTHBEARER, RFC 7628).

    Attributes:
        token: as the provider gave it.
        extensions: further names and values for the broker (KIP-342).
        authorization_id: as whom to act; empty for the owner of the token.

    Raises:
        TypeError: for a value of another type.
        ValueError: for a token, name or value with characters that the exchange does not allow; ``auth`` is no name.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"token", "extensions"})

    token: str
    extensions: Mapping[str, str] = msgspec.field(default_factory=dict)
    authorization_id: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        if not re.fullmatch(_BEARER, self.token):
            raise ValueError("token: holds characters that a bearer token cannot have, or is empty")
        for name, value in self.extensions.items():
            if name == "auth" or not re.fullmatch(_EXTENSION_NAME, name):
                raise ValueError(f"extension {name!r}: names are letters, and not 'auth'")
            if not re.fullmatch(_EXTENSION_VALUE, value):
                raise ValueError(f"extension {name!r}: values are printable ASCII and white space, at least one")

    @property
    def mechanism(self) -> str:
        """Name of the SASL mechanism."""
        return "OAUTHBEARER"


Credentials = PlainCredentials | ScramCredentials | OAuthBearerCredentials

CredentialsCallback = Callable[[], Credentials | Awaitable[Credentials]]
"""Gives the credentials for one login; called again for each connection and each renewal.

A plain function is called in a thread, since it may read a file or ask a server; a coroutine function is awaited.
"""

CredentialsSource = Credentials | CredentialsCallback


def _refuse_empty(username: str, password: str) -> None:
    if not username or not password:
        raise ValueError(f"{'password' if username else 'username'}: is empty")
