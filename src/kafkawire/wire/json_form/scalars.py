"""Values that JSON has no form for, as Kafka writes them."""

from __future__ import annotations

import math
from binascii import b2a_base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["NOT_FINITE", "json_number", "json_octets", "json_uuid"]

_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_UUID_CHARACTERS: Final = 22

NOT_FINITE: Final[Mapping[str, float]] = MappingProxyType(
    {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
)
"""The strings that stand for numbers that JSON does not have."""


def json_uuid(octets: bytes) -> str:
    """URL-safe base64 without padding (json-uuid)."""
    return b2a_base64(octets, newline=False)[:_UUID_CHARACTERS].translate(_URL_SAFE).decode()


def json_octets(octets: bytes | memoryview) -> str:
    """Base64 (json-bytes, json-records); Kafka writes records as an empty string."""
    return b2a_base64(octets, newline=False).decode()


def json_number(number: float) -> float | str:
    """A number, or the string that stands for it where JSON has none (json-float)."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
