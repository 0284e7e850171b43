"""SCRAM credentials of users as data, and how a password is salted (KIP-554)."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import msgspec

from kafkawire.arguments.fields import check_fields
from kafkawire.arguments.words import shortened
from kafkawire.model.redaction import Redacted
from kafkawire.model.tolerant_enums import TolerantEnum
from kafkawire.protocol.errors import UnacceptableCredentialError, UnsupportedSaslMechanismError
from kafkawire.wire.kafka_errors import ApiError

MINIMUM_ITERATIONS = 4096
"""Fewer are refused, for both mechanisms (C28)."""

MAXIMUM_ITERATIONS = 16384
"""More are refused (C28)."""

_SALT_BYTES = 32


class ScramMechanism(TolerantEnum):
    """A SCRAM mechanism (C27)."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


MechanismName: TypeAlias = Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]
"""The name of a mechanism in Kafka's tools and logins."""

_HASHES = MappingProxyType({ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"})

UserMechanism: TypeAlias = tuple[str, ScramMechanism]
"""A credential of a user: a user has one for each mechanism."""


class ScramCredentialInfo(msgspec.Struct, frozen=True, gc=False):
    """The public part of a credential; never salt or keys.

    Attributes:
        mechanism: its mechanism.
        iterations: how often the password was hashed.
    """

    mechanism: ScramMechanism
    iterations: int


class ScramUpsertion(Redacted, frozen=True):
    """Sets a password of a user for one mechanism. Neither it nor the salt is in the representation.

    Attributes:
        user: name of the user, without ``User:``.
        mechanism: the mechanism; its name, ``"SCRAM-SHA-512"``, is accepted too.
        password: never sent, only its salted hash. Text is hashed as UTF-8.
        iterations: how often it is hashed, from 4096 to 16384; more make stolen credentials harder to use, and each
            login slower.
        salt: None for a random one, which is best.

    Raises:
        TypeError: for a value of another type.
        ValueError: for a name of no mechanism.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"password", "salt"})

    user: str
    mechanism: ScramMechanism
    password: str | bytes
    iterations: int = MINIMUM_ITERATIONS
    salt: bytes | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            user: str,
            mechanism: ScramMechanism | MechanismName,
            password: str | bytes,
            iterations: int = MINIMUM_ITERATIONS,
            salt: bytes | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        _name_mechanism(self)
        check_fields(self)


class ScramDeletion(msgspec.Struct, frozen=True):
    """Deletes a credential of a user.

    Attributes:
        user: name of the user, without ``User:``.
        mechanism: the mechanism; its name, ``"SCRAM-SHA-512"``, is accepted too.

    Raises:
        TypeError: for a value of another type.
        ValueError: for a name of no mechanism.
    """

    user: str
    mechanism: ScramMechanism

    if TYPE_CHECKING:

        def __init__(self, user: str, mechanism: ScramMechanism | MechanismName) -> None: ...

    def __post_init__(self) -> None:
        _name_mechanism(self)
        check_fields(self)


ScramAlteration: TypeAlias = ScramUpsertion | ScramDeletion


def _name_mechanism(alteration: ScramUpsertion | ScramDeletion) -> None:
    """Put the mechanism in place of its name."""
    given: object = alteration.mechanism
    if not isinstance(given, str):
        return
    try:
        msgspec.structs.force_setattr(alteration, "mechanism", ScramMechanism.parse(given))
    except ValueError:
        raise ValueError(
            f"{type(alteration).__name__}: mechanism: expected SCRAM-SHA-256 or SCRAM-SHA-512, got {shortened(given)}"
        ) from None


def refusal_of_alteration(alteration: ScramAlteration) -> ApiError | None:
    """Why a broker refuses an alteration, or None if it does not (C28)."""
    if not alteration.user:
        return UnacceptableCredentialError("Username must not be empty")
    if _bytes_of(alteration.user) is None:
        return UnacceptableCredentialError("the username has characters that UTF-8 cannot encode")
    if alteration.mechanism not in _HASHES:
        return UnsupportedSaslMechanismError(
            f"Unknown SCRAM mechanism: {alteration.mechanism}; SCRAM_SHA_256 and SCRAM_SHA_512 are known"
        )
    return _refusal_of_credential(alteration) if isinstance(alteration, ScramUpsertion) else None


def salted(upsertion: ScramUpsertion) -> tuple[bytes, bytes]:
    """The salt of a credential, and the password that is hashed with it (C27).

    Takes some milliseconds of a processor, for which other threads can run.
    """
    import hashlib  # noqa: PLC0415 slow to import, and few need it

    password = _bytes_of(upsertion.password) or b""
    salt = os.urandom(_SALT_BYTES) if upsertion.salt is None else upsertion.salt
    return salt, hashlib.pbkdf2_hmac(_HASHES[upsertion.mechanism], password, salt, upsertion.iterations)


def hash_of(mechanism: ScramMechanism) -> str:
    """The name of its hash for ``hashlib``.

    Raises:
        KeyError: the mechanism is unknown.
    """
    return _HASHES[mechanism]


def derived_keys(mechanism: ScramMechanism, salted_password: bytes) -> tuple[bytes, bytes]:
    """What a broker stores of a salted password: the stored key and the server's key (RFC 5802, section 3)."""
    import hashlib  # noqa: PLC0415 slow to import, and few need it
    import hmac  # noqa: PLC0415 likewise

    hashed = _HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", hashed)
    return hashlib.new(hashed, client_key).digest(), hmac.digest(salted_password, b"Server Key", hashed)


def _refusal_of_credential(upsertion: ScramUpsertion) -> ApiError | None:
    if not upsertion.password:
        return UnacceptableCredentialError("Password must not be empty")
    if _bytes_of(upsertion.password) is None:
        return UnacceptableCredentialError("the password has characters that UTF-8 cannot encode")
    if upsertion.iterations < MINIMUM_ITERATIONS:
        return UnacceptableCredentialError(f"Too few iterations; {MINIMUM_ITERATIONS} are needed")
    if upsertion.iterations > MAXIMUM_ITERATIONS:
        return UnacceptableCredentialError(f"Too many iterations; {MAXIMUM_ITERATIONS} are allowed")
    return None


def _bytes_of(text: str | bytes) -> bytes | None:
    """Text as UTF-8; None if it has lone surrogates."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None
