"""Times of Kafka in rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_SECOND: Final = 1000


def time_of(milliseconds: int | None) -> datetime | None:
    """A time of Kafka, in milliseconds since 1970."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / _SECOND, UTC)
