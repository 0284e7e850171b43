"""The credentials of SCRAM users."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from kafkawire.protocol import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

JAVA_SALT_BITS: Final = 130
"""Kafka's Java clients and tools use a random number of 130 bits, written in base 36, as salt."""

_DIGITS: Final = b"0123456789abcdefghijklmnopqrstuvwxyz"
_JAVA_SALT: Final = re.compile(rb"[1-9a-z][0-9a-z]{23,25}")


class CredentialShape(Struct, frozen=True, order=True):
    """The parts of a credential that a login shows, except the bytes of the salt.

    Attributes:
        iterations: how often the password was hashed.
        salt_size: bytes of the salt.
        is_java_text: whether the salt is text in base 36, as Java makes it.
    """

    iterations: int
    salt_size: int
    is_java_text: bool


def base_36(number: int) -> bytes:
    """A number of 0 or more in base 36, as Java writes it."""
    digits = bytearray()
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return bytes(reversed(digits)) or b"0"


class ScramImage:
    """All credentials.

    Attributes:
        by_user: user to mechanism (1 SCRAM-SHA-256, 2 SCRAM-SHA-512) to credential.
        shapes: mechanism to the number of credentials of each shape.
    """

    def __init__(self) -> None:
        self.by_user: dict[str, dict[int, UserScramCredentialRecord]] = {}
        self.shapes: dict[int, Counter[CredentialShape]] = {}

    def apply(self, record: UserScramCredentialRecord) -> None:
        """Set a credential."""
        credentials = self.by_user.setdefault(record.name, {})
        replaced = credentials.get(record.mechanism)
        if replaced is not None:
            self._uncount(replaced)
        credentials[record.mechanism] = record
        self.shapes.setdefault(record.mechanism, Counter())[_shape(record)] += 1

    def apply_remove(self, record: RemoveUserScramCredentialRecord) -> None:
        """Remove a credential."""
        credentials = self.by_user.get(record.name, {})
        removed = credentials.pop(record.mechanism, None)
        if removed is None:
            return
        self._uncount(removed)
        if not credentials:
            del self.by_user[record.name]

    def records(self) -> Iterator[Message]:
        """The records that set all credentials."""
        for credentials in self.by_user.values():
            yield from credentials.values()

    def _uncount(self, record: UserScramCredentialRecord) -> None:
        shapes, shape = self.shapes[record.mechanism], _shape(record)
        shapes[shape] -= 1
        if not shapes[shape]:
            del shapes[shape]


def _shape(record: UserScramCredentialRecord) -> CredentialShape:
    is_java_text = _JAVA_SALT.fullmatch(record.salt) is not None
    return CredentialShape(record.iterations, len(record.salt), is_java_text)
