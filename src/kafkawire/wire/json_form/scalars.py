"""Values that JSON has no form for, as Kafka writes them."""

from __future__ import annotations

import base64
import math

__all__ = ["json_number", "json_octets", "json_uuid"]


def json_uuid(octets: bytes) -> str:
    """The 22 characters of an id (json-uuid)."""
    return base64.urlsafe_b64encode(octets)[:22].decode()


def json_octets(octets: bytes | memoryview) -> str:
    """Base64 (json-bytes, json-records); Kafka writes records as an empty string."""
    return base64.b64encode(octets).decode()


def json_number(number: float) -> float | str:
    """JSON has no infinities; the strings that stand for them cannot be read back (json-float)."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
