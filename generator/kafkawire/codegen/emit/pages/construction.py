"""How a message is constructed: Python source that gives a value to every field one has to think about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.resolve.layouts import ResolvedMessage, ResolvedStruct
from kafkawire.layout import FIELD_TYPES

WIDTH = 88
"""Lines of examples are shorter than those of modules: pages have less room."""

_INDENT = " " * 4


@dataclass(frozen=True, slots=True)
class Call:
    """A call with arguments, or a tuple where the function is empty; each argument is a keyword and its value."""

    function: str
    arguments: tuple[tuple[str, Call | str], ...]


def construction(message: ResolvedMessage, version: int) -> str:
    """A statement that makes a message of a version.

    Left out are fields whose default the definition spells out, and tagged ones: both are given when needed.
    """
    return _source(_call(message.top, message, version), "message = ", 0)


def _call(struct: ResolvedStruct, message: ResolvedMessage, version: int) -> Call:
    top = message.top.class_name
    name = top if struct is message.top else f"{top}.{struct.class_name}"
    shown = (f for f in struct.fields if version in f.versions and version not in f.tagged_versions and not f.default)
    return Call(name, tuple((struct.attributes[field.name], _value(field, message, version)) for field in shown))


def _value(field: FieldDefinition, message: ResolvedMessage, version: int) -> Call | str:
    if field.type.is_struct:
        element: Call | str = _call(message.structs[field.type.name], message, version)
    else:
        element = _primitive(field)
    return Call("", (("", element),)) if field.type.array else element


def _primitive(field: FieldDefinition) -> str:
    """A value that shows the type; texts say which field they are."""
    match FIELD_TYPES[field.type.name].domain:
        case "bool":
            return "True"
        case "int":
            return "1"
        case "float":
            return "1.5"
        case "uuid":
            return "Uuid.random()"
        case "text":
            return f'"{field.name}"'
        case _:
            return 'b""' if field.type.name == "records" else 'b"\\x01"'


def _source(value: Call | str, keyword: str, depth: int) -> str:
    """A value on one line where it fits, else each argument on its own, as formatters have it."""
    flat = keyword + _flat(value)
    if isinstance(value, str) or not value.arguments or len(_INDENT * depth + flat) + 1 <= WIDTH:
        return flat
    lines = [f"{keyword}{value.function}("]
    lines += [f"{_INDENT * (depth + 1)}{argument}," for argument in _arguments(value, depth + 1)]
    return "\n".join([*lines, f"{_INDENT * depth})"])


def _arguments(call: Call, depth: int) -> Iterator[str]:
    for name, value in call.arguments:
        yield _source(value, f"{name}=" if name else "", depth)


def _flat(value: Call | str) -> str:
    if isinstance(value, str):
        return value
    arguments = ", ".join(f"{name}={_flat(inner)}" if name else _flat(inner) for name, inner in value.arguments)
    return f"{value.function}({arguments}{',' if not value.function else ''})"
