"""The errors of reading logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from kafkawire.logs.times import datetime_of, milliseconds
from kafkawire.near_names import did_you_mean


class LogReadError(Exception):
    """Bytes that cannot be decoded, in mode FAILFAST; in every mode, a path that cannot be read.

    Attributes:
        code: one of ``kafkawire.logs.FLAW_CODES``, or ``unreadable`` for a path.
        path: the file.
        position: of the batch in the file, or None if the error concerns the file.
        offset: of the batch or record in the log, or None if it is not known.
        reason: the error in one sentence.
    """

    def __init__(
        self, code: str, path: str, reason: str, *, position: int | None = None, offset: int | None = None
    ) -> None:
        self.code = code
        self.path = path
        self.position = position
        self.offset = offset
        self.reason = reason
        where = path if position is None else f"{path} at byte {position}"
        if offset is not None:
            where = f"{where}, offset {offset}"
        super().__init__(f"{where}: {code}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return _restored_error, (self.code, self.path, self.reason, self.position, self.offset)


def system_reason(error: OSError) -> str:
    """What the system says is wrong, without the number of the error and the path; else the whole message."""
    return error.strerror or str(error)


class NoLogsError(LogReadError):
    """A path that does not exist, or has no log that the table reads; the code is ``unreadable``."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__("unreadable", path, reason)

    def __reduce__(self) -> tuple[object, ...]:
        return NoLogsError, (self.path, self.reason)


class BeforeKnowledgeError(ValueError):
    """An ``as_of`` before the time from which the whole state is known from a log and its snapshots.

    Attributes:
        log: path of the folder of the log.
        as_of: the time of the options.
        begins: the time from which the whole state is known; None if nothing of it could be read.
    """

    def __init__(self, log: str, as_of: datetime, begins: int | None) -> None:
        self.log = log
        self.as_of = as_of
        self.begins: datetime | None = None if begins is None else datetime_of(begins)
        known = (
            "nothing of the log could be read"
            if self.begins is None
            else f"the whole state is known since {self.begins.isoformat()}"
        )
        super().__init__(f"{log}: the state at {as_of.isoformat()} is unknown: {known}")

    def __reduce__(self) -> tuple[object, ...]:
        begins = None if self.begins is None else milliseconds(self.begins)
        return BeforeKnowledgeError, (self.log, self.as_of, begins)


class UnknownTableError(ValueError):
    """There is no table of that name."""

    def __init__(self, name: str, names: Iterable[str]) -> None:
        super().__init__(f"there is no table {name!r}{_meant(name, sorted(names), 'there are')}")


class UnknownColumnError(ValueError):
    """The table has no column of that name."""

    def __init__(self, table: str, name: str, names: Iterable[str]) -> None:
        super().__init__(f"table {table!r} has no column {name!r}{_meant(name, list(names), 'it has')}")


class OwnDefinitionsError(ValueError):
    """Definitions that cannot be used; the message has the findings as ``kafkawire schema lint`` prints them."""


def _meant(name: str, names: Sequence[str], all_of_them: str) -> str:
    question = did_you_mean(name, names)
    return f"; {question}" if question else f"; {all_of_them} {', '.join(names)}"


def _restored_error(code: str, path: str, reason: str, position: int | None, offset: int | None) -> LogReadError:
    return LogReadError(code, path, reason, position=position, offset=offset)
