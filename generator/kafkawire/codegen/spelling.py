"""Hints for misspelt words and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches

from kafkawire.layout import FIELD_TYPES

A_SLIP = 0.81
"""A likeness above this is a slip of the finger: ``strin`` for ``string`` is 0.91, ``int24`` for ``int64`` only 0.8."""

_LONGEST = 100
"""Most letters of a word for which a hint is searched."""

_OF_JAVA: Mapping[str, str] = {
    "boolean": "bool",
    "byte": "int8",
    "short": "int16",
    "int": "int32",
    "integer": "int32",
    "long": "int64",
    "float": "float64",
    "double": "float64",
}
"""Types of Java, which Kafka is written in; a ``float`` has no type of its own size."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like `word`, or None if none is; letter case counts little."""
    if len(word) > _LONGEST:
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


def meant_type(word: str, structs: Iterable[str] = ()) -> str | None:
    """The primitive type or struct that was probably meant, or None where no name is near.

    Args:
        word: what is written, without ``[]``.
        structs: names of the structs that the message declares.
    """
    if not 0 < len(word) <= _LONGEST:
        return None
    small = word.lower()
    exact = {name.lower(): name for name in (*structs, *FIELD_TYPES)}
    if small in exact:
        return exact[small]
    if small in _OF_JAVA:
        return _OF_JAVA[small]
    found = {name: likeness(small, lower) for lower, name in exact.items()}
    best = max(found, key=lambda name: found[name])
    return best if found[best] > A_SLIP else None
