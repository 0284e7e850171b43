"""Times as text."""

from __future__ import annotations

from datetime import UTC, datetime


def time_of(text: str) -> datetime:
    """The time in a text such as ``2026-03-01`` or ``2026-03-01T12:30:00Z``; without a zone it is in UTC.

    Raises:
        ValueError: the text is no time; the message is the end of a sentence.
    """
    try:
        time = datetime.fromisoformat(text.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("not a time such as 2026-03-01 or 2026-03-01T12:30:00Z") from None
