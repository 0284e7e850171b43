"""Suggestions for a name that does not exist: the names that were probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final

_MOST_NEAR: Final = 2
_LIKENESS: Final = 0.6
_LONGEST: Final = 100
"""Most letters of a name for which others are searched: the time grows with the square."""


def near_names(name: str, names: Iterable[str], *, likeness: float = _LIKENESS) -> Sequence[str]:
    """The names most similar to one, the most similar first; at most two, and none if no name is similar.

    The case of letters does not count. A name that begins with the whole word is similar too: ``TOPIC_RECORD`` to
    ``topic``.

    Args:
        name: the name that does not exist.
        names: those that do.
        likeness: the least share of letters that two similar names have in common, from 0 to 1.
    """
    if len(name) > _LONGEST:
        return ()
    wanted = name.casefold()
    by_small_letters = {each.casefold(): each for each in names}
    if wanted in by_small_letters:
        return (by_small_letters[wanted],)
    begun = sorted((each for each in by_small_letters if wanted and each.startswith(f"{wanted}_")), key=len)
    alike = difflib.get_close_matches(wanted, by_small_letters, _MOST_NEAR, likeness)
    return [by_small_letters[each] for each in dict.fromkeys((*begun, *alike))][:_MOST_NEAR]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The suggestion as a question, ``did you mean topic or topic_history?``; empty if no name is similar."""
    near = near_names(name, names)
    return f"did you mean {' or '.join(near)}?" if near else ""
