"""Hints for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

A_SLIP = 0.81
"""A likeness above this is a slip of the finger: ``strin`` for ``string`` is 0.91, ``int24`` for ``int64`` only 0.8."""


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


def likeness(one: str, other: str) -> float:
    """How like two words are, from 0 to 1; the same letters in another order are as good as the same."""
    return 1.0 if sorted(one) == sorted(other) else SequenceMatcher(None, one, other).ratio()
