"""What reading logs raises."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["LogReadError", "UnknownColumnError", "UnknownTableError"]


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
        super().__init__(f"there is no table {name!r}; there are {', '.join(sorted(names))}")


class UnknownColumnError(ValueError):
    """A name that no column of the table has."""

    def __init__(self, table: str, name: str, names: Iterable[str]) -> None:
        super().__init__(f"table {table!r} has no column {name!r}; it has {', '.join(names)}")


def _restored_error(code: str, path: str, reason: str, position: int | None, offset: int | None) -> LogReadError:
    return LogReadError(code, path, reason, position=position, offset=offset)
