"""Which type a text that names none was meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkawire.codegen.spelling import A_SLIP, likeness
from kafkawire.layout import FIELD_TYPES

_LONGEST = 100

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
