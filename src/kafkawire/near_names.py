"""Suggestions for a name that does not exist: the names that were probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_MOST_NEAR: Final = 2
_LIKENESS: Final = 0.6
_LONGEST: Final = 100
"""Most letters of a name for which others are searched: the time grows with the square."""

_BETWEEN_WORDS: Final = re.compile(r"[-_ ]+|(?<=[a-z0-9])(?=[A-Z])")


def near_names(name: str, names: Iterable[str], *, likeness: float = _LIKENESS) -> Sequence[str]:
    """The names that were probably meant: those that begin with the same words, then the most similar one.

    At most two; none if no name is similar. The case of letters, underscores, hyphens and a plural do not count.

    Args:
        name: the name that does not exist.
        names: those that do.
        likeness: the least share of letters that two similar names have in common, from 0 to 1.
    """
    from difflib import get_close_matches  # noqa: PLC0415 few names are wrong, and every command would import it

    if len(name) > _LONGEST:
        return ()
    words = _words(name)
    wanted = words.replace("_", "")
    by_letters = {_words(each).replace("_", ""): each for each in names}
    if not wanted or wanted in by_letters:
        return [by_letters[wanted]] if wanted else ()
    beginnings = (f"{words}_", f"{words.removesuffix('s')}_")
    begun = sorted((each for each in by_letters.values() if _words(each).startswith(beginnings)), key=len)
    alike = [by_letters[each] for each in get_close_matches(wanted, by_letters, 1, likeness)]
    return list(dict.fromkeys((*begun, *alike)))[:_MOST_NEAR]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The suggestion as a question, ``did you mean topic or topic_history?``; empty if no name is similar."""
    near = near_names(name, names)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _words(name: str) -> str:
    """The words of a name in small letters, with underscores between them."""
    return _BETWEEN_WORDS.sub("_", name).strip("_").casefold()
