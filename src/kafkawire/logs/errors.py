"""The errors of reading logs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from kafkawire.logs.times import datetime_of, milliseconds

_MOST_NEAR: Final = 2


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


class BeforeKnowledgeError(ValueError):
    """An ``as_of`` before the time from which the whole state is known from a log and its snapshots.

    Attributes:
        log: path of the folder of the log.
        as_of: the time of the options.
        begins: the time from which the whole state is known; None if the log is empty.
    """

    def __init__(self, log: str, as_of: datetime, begins: int | None) -> None:
        self.log = log
        self.as_of = as_of
        self.begins = None if begins is None else datetime_of(begins)
        known = (
            "the log is empty" if self.begins is None else f"the whole state is known since {self.begins.isoformat()}"
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


def near_names(name: str, names: Iterable[str]) -> str:
    """The names most similar to one, in words: ``topic or topic_history``; empty if none is similar."""
    by_small_letters = {each.casefold(): each for each in names}
    if name.casefold() in by_small_letters:
        return by_small_letters[name.casefold()]
    near = difflib.get_close_matches(name.casefold(), by_small_letters, _MOST_NEAR)
    return " or ".join(by_small_letters[each] for each in near)


def _meant(name: str, names: Sequence[str], all_of_them: str) -> str:
    near = near_names(name, names)
    return f": did you mean {near}?" if near else f"; {all_of_them} {', '.join(names)}"


def _restored_error(code: str, path: str, reason: str, position: int | None, offset: int | None) -> LogReadError:
    return LogReadError(code, path, reason, position=position, offset=offset)
