"""The error for a name that is in no table, with the names that may be meant."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_NEAR = 3
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
        near = self._near()
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return f"there is no {self.kind} {self.name[:_LONGEST_NAME]!r}{hint}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _near(self) -> list[str]:
        """The names that begin so, or the most similar one, whatever the case of letters and the underscores."""
        from difflib import get_close_matches  # noqa: PLC0415 slow to import, and few names are wrong

        by_letters = {_letters(name): name for name in self.known}
        wanted = _letters(self.name[:_LONGEST_NAME])
        if wanted in by_letters:
            return [by_letters[wanted]]
        longer = [name for letters, name in by_letters.items() if wanted and letters.startswith(wanted)]
        if longer:
            return sorted(longer, key=len)[:_MOST_NEAR]
        near = get_close_matches(wanted, by_letters, 1, cutoff=0.75)
        return [by_letters[letters] for letters in near]


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()
