"""Python names for Kafka's (section 13 of the reference)."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

RESERVED_ATTRIBUTES = frozenset(
    {"encode", "decode", "decode_from", "fast_reader", "fast_writer", "layouts", "refuse_trailing",
     "unknown_tagged_fields"}
)  # fmt: skip
"""What every generated class has; a field of that name gets a trailing underscore."""

RESERVED_CLASSES = frozenset(
    {"Any", "ClassVar", "Final", "Message", "NAME", "None", "Sequence", "Struct", "True", "False", "Uuid", "VERSIONS"}
)
"""Names that generated modules use themselves; a struct or message of that name gets a trailing underscore."""


def snake_case(name: str) -> str:
    """Kafka's own rule: an underscore goes before a capital unless the character before it is one too.

    Digits count as lower case: ``KRaftVersion`` is ``kraft_version``, ``V3AndBelow`` is ``v3_and_below``
    (name-snake-upstream).
    """
    letters = []
    previous_is_upper = True
    for letter in name:
        if letter.isupper() and not previous_is_upper:
            letters.append("_")
        previous_is_upper = letter.isupper()
        letters.append(letter.lower())
    return "".join(letters)


def attribute_name(name: str) -> str:
    """The attribute of a field: snake case, with a trailing underscore if Python or the class needs the name."""
    snake = snake_case(name)
    return snake + "_" if keyword.iskeyword(snake) or snake in RESERVED_ATTRIBUTES else snake


def attribute_names(names: Iterable[str]) -> dict[str, str]:
    """Attributes for the fields of one struct; a name that is taken gets another underscore (gap-case-collision)."""
    attributes: dict[str, str] = {}
    for name in names:
        attribute = attribute_name(name)
        while attribute in attributes.values():
            attribute += "_"
        attributes[name] = attribute
    return attributes


def class_name(name: str) -> str:
    """The class of a message or struct: Kafka's name, unless generated modules use that name themselves."""
    return name + "_" if name in RESERVED_CLASSES or keyword.iskeyword(name) else name
