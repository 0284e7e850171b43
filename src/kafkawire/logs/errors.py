"""What reading logs raises."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["LogReadError", "OwnDefinitionsError", "UnknownColumnError", "UnknownTableError", "near_names"]


_MOST_NEAR: Final = 2


class LogReadError(Exception):
    """Bytes of a log that cannot be read, in mode FAILFAST; in every mode, a path that cannot be read at all.

    Attributes:
        code: one of ``kafkawire.logs.FLAW_CODES``, or ``unreadable`` for a path.
        path: the file.
        position: of the batch in the file, or None if it is about the file.
        offset: of the batch or record in the log, or None if it is not known.
        reason: what was wrong, in one sentence.
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


class UnknownTableError(ValueError):
    """A name that no table has."""

    def __init__(self, name: str, names: Iterable[str]) -> None:
        super().__init__(f"there is no table {name!r}{_meant(name, sorted(names), 'there are')}")


class UnknownColumnError(ValueError):
    """A name that no column of the table has."""

    def __init__(self, table: str, name: str, names: Iterable[str]) -> None:
        super().__init__(f"table {table!r} has no column {name!r}{_meant(name, list(names), 'it has')}")


class OwnDefinitionsError(ValueError):
    """Definitions that cannot be used; the message has the findings as ``kafkawire schema lint`` prints them."""


def near_names(name: str, names: Iterable[str]) -> str:
    """The names that are like one, in words: ``topic or topic_history``; empty if none is."""
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
