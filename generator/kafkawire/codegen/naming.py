"""Python names for Kafka's (name-snake-upstream).

Kafka's names are letters and digits only. So a Python name that ends with an underscore is made here, and
a name that begins with one is never that of a field.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from kafkawire.layout import snake_case

RESERVED_ATTRIBUTES = frozenset(
    {"encode", "decode", "decode_from", "fast_codec", "layouts", "refuse_trailing",
     "unknown_tagged_fields", "bool", "bytes", "float", "int", "msgspec", "str"}
)  # fmt: skip
"""Attributes of every generated class, and names in the declarations of its fields; a field with such a name gets a
trailing underscore."""

RESERVED_CLASSES = frozenset(
    {"ALIASES", "AttributeError", "BYTES", "BrokerId", "GroupId", "KeyError", "Message", "NAME", "NOTHING",
     "ProducerId", "RELEASES", "RecordBytes", "SearchStrategy", "Sequence", "Struct", "Tags", "TopicName",
     "TransactionalId", "TypeVar", "Uuid", "VERSIONS", "ValueError"}
)  # fmt: skip
"""Names that generated modules use themselves; a struct or message of that name gets a trailing underscore."""

RESERVED_MODULES = frozenset({"api_table", "error_codes", "errors", "record_registries", "strategies"})
"""Modules of every generated package; a message of that name gets a module with a trailing underscore."""

RESERVED_ERRORS = frozenset({"ApiError", "UnrecognizedCodeError", "ValueError"})
"""Names that the module of exceptions uses; an exception with such a name gets a trailing underscore."""


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
    """The class of a message: Kafka's name, unless generated modules use that name themselves."""
    return name + "_" if name in RESERVED_CLASSES or keyword.iskeyword(name) else name


def struct_class_name(name: str, message_name: str) -> str:
    """The class of a struct inside a message, whose own name it must not hide."""
    made = class_name(name)
    return made + "_" if made == class_name(message_name) else made


def module_name(name: str) -> str:
    """The module of a message."""
    snake = snake_case(name)
    return snake + "_" if keyword.iskeyword(snake) or snake in RESERVED_MODULES else snake


def error_class_names(constants: Iterable[str]) -> list[str]:
    """The exceptions of error codes: ``NOT_CONTROLLER`` is ``NotControllerError``, and no name is given twice.

    Kafka's own endings are not doubled: ``UNKNOWN_SERVER_ERROR``, ``INVALID_TOPIC_EXCEPTION``.
    """
    made = []
    for constant in constants:
        words = [word for word in constant.split("_") if word]
        if words and words[-1].upper() in ("ERROR", "EXCEPTION"):
            words.pop()
        name = "".join(word.capitalize() for word in [*words, "error"])
        name = name if name.isidentifier() else f"Code{name}"
        made.append(name + "_" if name in RESERVED_ERRORS else name)
    return distinct(made)


def distinct(names: Iterable[str]) -> list[str]:
    """The names, made unique: names that differ in Kafka may be equal in Python."""
    given: dict[str, None] = {}
    for name in names:
        free = name
        while free in given:
            free += "_"
        given[free] = None
    return list(given)
