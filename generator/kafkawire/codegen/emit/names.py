"""The names of the codecs of one message, and the expressions that they use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafkawire.codegen.emit.used_names import RUN_TIME_NAMES, STRUCTS, UsedNames
from kafkawire.codegen.naming import distinct
from kafkawire.codegen.resolve.layouts import ResolvedMessage
from kafkawire.layout import STRUCT, DefaultValue, FieldLayout, StructLayout, Uuid, snake_case


@dataclass(frozen=True, slots=True)
class Codec:
    """One distinct layout of a struct and how the message uses it.

    Attributes:
        layout: the layout.
        name: stem of the function names, ``topic_v9``: the struct and the first version that has the layout.
        versions: versions of the message that have the layout.
        single, many: whether it is read and written one at a time, as an array, or both.
        is_message: whether it is the message itself.
    """

    layout: StructLayout
    name: str
    versions: tuple[int, ...]
    single: bool
    many: bool
    is_message: bool


@dataclass(frozen=True, slots=True)
class CodecNames:
    """Names for the codecs of one message.

    Attributes:
        message_class: name of the message's class.
        codecs: the distinct layouts, those that are used by others first.
        use: notes the names that the module imports or makes.
    """

    message_class: str
    codecs: Mapping[StructLayout, Codec]
    use: UsedNames

    def single_reader(self, layout: StructLayout) -> str:
        """The function that reads one struct."""
        return f"_read_{self.codecs[layout].name}"

    def many_reader(self, layout: StructLayout) -> str:
        """The function that reads a number of structs."""
        return f"_read_many_{self.codecs[layout].name}"

    def encoder(self, layout: StructLayout) -> str:
        """The function that encodes the message itself."""
        return f"_encode_{self.codecs[layout].name}"

    def single_writer(self, layout: StructLayout) -> str:
        """The function that writes one struct."""
        return f"_write_{self.codecs[layout].name}"

    def many_writer(self, layout: StructLayout) -> str:
        """The function that writes an array of structs."""
        return f"_write_many_{self.codecs[layout].name}"


def default_expression(field: FieldLayout, use: UsedNames) -> str:
    """An expression for the default of a field."""
    if field.type == STRUCT and not field.array and field.default is not None:
        return default_constant(field.struct_name)
    return default_literal(field.default, use)


def is_set(field: FieldLayout, expression: str, use: UsedNames) -> str:
    """An expression that is true if the value differs from the field's default (value-equals-default)."""
    default = field.default
    if default is None:
        return f"{expression} is not None"
    if field.array:
        return f"({expression} is None or len({expression}))" if field.ever_nullable else f"len({expression})"
    if field.type == STRUCT:
        constant = default_expression(field, use)
        return f"({expression} is not {constant} and {use('differs')}({expression}, {constant}))"
    if isinstance(default, bool):
        return f"{expression} is not {default}"
    return f"{expression} != {default_literal(default, use)}"


def may_be_set(field: FieldLayout, expression: str, use: UsedNames) -> str:
    """A quick expression that is true wherever ``is_set`` is."""
    if field.type == STRUCT and not field.array and field.default is not None:
        return f"{expression} is not {default_expression(field, use)}"
    return is_set(field, expression, use)


TEMPLATE_LOCALS = frozenset(
    {"at", "buffer", "count", "end", "entries", "item", "items", "known", "m", "make", "n", "numbers", "others", "out",
     "payload", "result", "start", "tag", "tags", "text", "unknown", "view"}
)  # fmt: skip
"""Locals that the templates use themselves."""

TEMPLATE_BUILTINS = frozenset({"bool", "bytearray", "float", "len", "memoryview", "range", "starmap", "tuple", "type"})
"""Built-in functions that the templates call."""

TAKEN_LOCALS = TEMPLATE_LOCALS | TEMPLATE_BUILTINS | frozenset(RUN_TIME_NAMES[STRUCTS])
DERIVED_LOCALS = ("_item", "_items", "_raw")
"""Endings of locals that are made from the local of a field."""


def local(field: FieldLayout) -> str:
    """The local variable of a field: its attribute, with an underscore if the templates use that name.

    Attributes that end in an underscore or like a derived local get an underscore too, so that all locals differ.
    """
    attribute = field.attribute
    is_taken = attribute in TAKEN_LOCALS or attribute.endswith(("_", *DERIVED_LOCALS))
    return attribute + "_" if is_taken else attribute


def default_constant(struct_class: str) -> str:
    """The module constant that holds a struct with all its fields at their defaults.

    The class name stays as it is: two class names may be the same in snake case.
    """
    return f"_DEFAULT_{struct_class}"


def literal(value: DefaultValue) -> str:
    """A default as Python source."""
    if isinstance(value, Uuid) and value == Uuid():
        return "Uuid()"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def default_literal(value: DefaultValue, use: UsedNames) -> str:
    """A default as source of a module of a message, which has names for some."""
    if isinstance(value, Uuid):
        return use("ZERO_UUID") if value == Uuid() else f"{use('Uuid')}.from_text({str(value)!r})"
    return literal(value)


def name_codecs(message: ResolvedMessage, use: UsedNames) -> CodecNames:
    """Find the distinct layouts of a message and name them."""
    versions: dict[StructLayout, list[int]] = {}
    single: set[StructLayout] = set()
    many: set[StructLayout] = set()
    for version, index in message.layouts.by_version.items():
        top = message.layouts.layouts[index]
        single.add(top)
        for layout, is_array in _uses(top):
            (many if is_array else single).add(layout)
            users = versions.setdefault(layout, [])
            if not users or users[-1] != version:
                users.append(version)
        versions.setdefault(top, []).append(version)
    tops = set(message.layouts.layouts)
    names = distinct(f"{snake_case(layout.name)}_v{users[0]}" for layout, users in versions.items())
    codecs = {
        layout: Codec(layout, name, tuple(users), layout in single, layout in many, layout in tops)
        for (layout, users), name in zip(versions.items(), names, strict=True)
    }
    return CodecNames(message.top.class_name, codecs, use)


def _uses(layout: StructLayout) -> Iterator[tuple[StructLayout, bool]]:
    """Every use of a struct below a layout, innermost first, and whether it is an array's element."""
    for field in layout.fields:
        if field.struct is not None:
            yield from _uses(field.struct)
            yield field.struct, field.array
