"""Hints for misspelt words and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from kafkawire.layout import FIELD_TYPES
from kafkawire.near_names import near_names

A_SLIP = 0.81
"""A likeness above this is a typing error: ``strin`` for ``string`` is 0.91, ``int24`` for ``int64`` only 0.8."""

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
"""Java's types, since Kafka is written in Java; there is no type with the size of ``float``."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None; letter case is ignored."""
    return next(iter(near_names(word, known)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean "versions"?``, or the empty text."""
    match = closest(word, known)
    return f'did you mean "{match}"?' if match else ""


def likeness(one: str, other: str) -> float:
    """The similarity of two words, from 0 to 1; it is 1 for the same letters in another order."""
    return 1.0 if sorted(one) == sorted(other) else SequenceMatcher(None, one, other).ratio()


def meant_type(word: str, structs: Iterable[str] = ()) -> str | None:
    """The primitive type or struct that was probably meant, or None if no name is similar.

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
