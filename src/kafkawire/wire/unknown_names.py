"""The error for a name that is in no table, with the names that may be meant."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.near_names import did_you_mean

_LONGEST_NAME = 80


class UnknownNameError(KeyError):
    """There is nothing of that name. The text, made when it is read, names what is most similar.

    Attributes:
        kind: what was looked up: ``message``.
        name: the name.
        known: the names that there are.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known: tuple[str, ...] = tuple(known)
        super().__init__(kind, name, self.known)

    def __str__(self) -> str:
        question = did_you_mean(self.name, self.known)
        hint = f"; {question}" if question else ""
        return f"there is no {self.kind} {self.name[:_LONGEST_NAME]!r}{hint}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"
