"""Decoy credentials for SCRAM logins of users that do not exist, so that logins do not reveal which users exist."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Mapping
from typing import Final

from kafkawire.broker.image.scram_users import JAVA_SALT_BITS, CredentialShape, ScramImage, base_36
from kafkawire.model.scram import MINIMUM_ITERATIONS, ScramMechanism, hash_of
from kafkawire.protocol import UserScramCredentialRecord

_WITHOUT_USERS: Final[Mapping[CredentialShape, int]] = {
    CredentialShape(MINIMUM_ITERATIONS, 25, is_java_text=True): 3,
    CredentialShape(MINIMUM_ITERATIONS, 26, is_java_text=True): 2,
}
"""The shapes that Kafka's tools make, for a broker without users: two of five salts have 26 characters."""

_MOST_TRIES: Final = 10_000
"""The most attempts to draw a Java salt of the wanted length; at least one in ten has it."""


class DecoyCredentials:
    """Makes credentials, always the same for a name, also after a restart.

    The iterations and the length and alphabet of the salt are those of a group of existing users, chosen by the name. A
    group is chosen in proportion to the number of its users, and a name keeps its group unless that becomes rarer or
    another more frequent.

    Args:
        secret: not known to clients, and the same as long as the users are.
        scram: the existing users.
    """

    def __init__(self, secret: bytes, scram: ScramImage) -> None:
        self._secret = secret
        self._scram = scram

    def of(self, user: str, mechanism: ScramMechanism) -> UserScramCredentialRecord:
        """The credential of a user that does not exist; no password matches it."""
        shapes = self._scram.shapes.get(mechanism) or _WITHOUT_USERS
        shape = max(shapes, key=lambda one: (self._score(user, mechanism, one, shapes[one]), one))
        key = bytes(hashlib.new(hash_of(mechanism)).digest_size)
        return UserScramCredentialRecord(
            user, mechanism, self._salt(user, mechanism, shape), key, key, shape.iterations
        )

    def _score(self, user: str, mechanism: ScramMechanism, shape: CredentialShape, weight: int) -> float:
        """Highest for a shape with the probability that is its share of all weights (weighted rendezvous hashing)."""
        digest = self._digest("shape", user, mechanism, repr(shape))
        uniform = (int.from_bytes(digest[:6]) + 1) / ((1 << 48) + 1)
        return -weight / math.log(uniform)

    def _salt(self, user: str, mechanism: ScramMechanism, shape: CredentialShape) -> bytes:
        if shape.is_java_text:
            for number in range(_MOST_TRIES):
                drawn = int.from_bytes(self._digest("java", user, mechanism, number)) % (1 << JAVA_SALT_BITS)
                salt = base_36(drawn)
                if len(salt) == shape.salt_size:
                    return salt
        blocks = range(shape.salt_size // hashlib.sha256().digest_size + 1)
        return b"".join(self._digest("salt", user, mechanism, block) for block in blocks)[: shape.salt_size]

    def _digest(self, purpose: str, user: str, mechanism: ScramMechanism, more: object) -> bytes:
        return hmac.digest(self._secret, repr((purpose, user, int(mechanism), more)).encode(), "sha256")
