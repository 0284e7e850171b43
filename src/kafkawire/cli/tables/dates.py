"""Dates as people write them on a command line."""

from __future__ import annotations

from datetime import UTC, datetime

from kafkawire.cli.outcome import CommandError, ExitCode

__all__ = ["date_of", "in_utc"]


def date_of(text: str, option: str) -> datetime:
    """The date that an option names, in UTC; one without a zone is in UTC already.

    Args:
        text: ISO 8601, such as ``2026-03-01``, ``2026-03-01T12:30Z`` or ``2026-03-01 12:30:00.250+02:00``.
        option: whose value it is.

    Raises:
        CommandError: it is no date.
    """
    try:
        found = datetime.fromisoformat(text.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise CommandError(
            f"{option} {text}: that is no date; write it as 2026-03-01 or 2026-03-01T12:30:00Z", ExitCode.USAGE
        ) from None


def in_utc(date: datetime) -> str:
    """A date in ISO 8601 with microseconds and a Z."""
    return f"{date.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
