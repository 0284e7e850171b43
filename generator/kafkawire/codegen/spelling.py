"""Hints for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, or None if none is; letter case counts little."""
    if len(word) > 100:
        return None
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(word.lower(), by_lower, n=1)
    return by_lower[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean "versions"?``, or the empty text."""
    match = closest(word, known)
    return f'did you mean "{match}"?' if match else ""
