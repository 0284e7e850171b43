"""Kafka's 128-bit identifiers."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import uuid


class Uuid(bytes):
    """Sixteen bytes, most significant first, whose text is Kafka's: URL-safe base64 without padding.

    It is a ``bytes`` and compares and hashes as one, so plain 16-byte values are accepted wherever a
    ``Uuid`` is. ``Uuid()`` is the zero id, which means "no id" by Kafka's convention (wire-uuid).
    """

    __slots__ = ()

    def __new__(cls, value: bytes | uuid.UUID = bytes(16)) -> Self:
        """Make an id of 16 bytes, or of a ``uuid.UUID``.

        Raises:
            TypeError: for another type.
            ValueError: for any other number of bytes.
        """
        octets = value if isinstance(value, (bytes, bytearray, memoryview)) else _octets(value)
        if len(octets) != 16:
            raise ValueError(f"a uuid has 16 bytes, not {len(octets)}")
        return super().__new__(cls, octets)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read 22 characters of URL-safe base64, or 24 with ``==`` (json-read-uuid).

        Raises:
            ValueError: if the text is not of that form.

        Example:
            ```python
            from kafkawire.wire import Uuid

            topic_id = Uuid.from_text("MkSL4DsFQPS6b3f0vTkPzw")
            assert str(topic_id) == "MkSL4DsFQPS6b3f0vTkPzw"
            assert len(topic_id) == 16
            ```
        """
        if len(text) == 24 and text.endswith("=="):
            text = text[:-2]
        if len(text) != 22 or not text.isascii() or not text.replace("-", "a").replace("_", "a").isalnum():
            raise ValueError(f"not a uuid in Kafka's base64 form of 22 characters: {text[:40]!r}")
        return cls(base64.urlsafe_b64decode(text + "=="))

    @classmethod
    def random(cls) -> Self:
        """A random (version 4) id whose text does not begin with a dash, as Kafka makes them."""
        while True:
            raw = bytearray(os.urandom(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            made = cls(bytes(raw))
            if not str(made).startswith("-"):
                return made

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(self)[:22].decode()

    def __repr__(self) -> str:
        return f"Uuid.from_text({str(self)!r})"


def _octets(value: object) -> bytes:
    """Those of a ``uuid.UUID``; its module is not imported for it."""
    octets = getattr(value, "bytes", None)
    if not isinstance(octets, bytes):
        raise TypeError(f"expected 16 bytes or a uuid.UUID, not {type(value).__name__}; Uuid.from_text reads text")
    return octets
