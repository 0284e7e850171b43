"""What was valid at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["BeforeKnowledgeError", "milliseconds", "valid_at"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class BeforeKnowledgeError(ValueError):
    """A time that nothing is known about: the log and its snapshots begin later.

    Attributes:
        log: path of the folder of the log.
        as_of: the time that was asked for.
        begins: the first time that something is known about, or None if the log is empty.
    """

    def __init__(self, log: str, as_of: datetime, begins: int | None) -> None:
        self.log = log
        self.as_of = as_of
        self.begins = None if begins is None else _EPOCH + begins * _MILLISECOND
        known = "the log is empty" if self.begins is None else f"what is known begins at {self.begins.isoformat()}"
        super().__init__(f"{log}: nothing is known as of {as_of.isoformat()}: {known}")

    def __reduce__(self) -> tuple[object, ...]:
        begins = None if self.begins is None else (self.begins - _EPOCH) // _MILLISECOND
        return BeforeKnowledgeError, (self.log, self.as_of, begins)


def milliseconds(time: datetime) -> int:
    """Milliseconds since the epoch; a time without a zone is UTC."""
    aware = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return (aware - _EPOCH) // _MILLISECOND


def valid_at(time: int, valid_from: int | None, valid_to: int | None) -> bool:
    """Whether something was so at a time. An unknown beginning lies before it, and what has no end is still so."""
    return (valid_from is None or valid_from <= time) and (valid_to is None or time < valid_to)
