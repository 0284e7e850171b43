"""The module with the layouts of one message as data, for the reference codec and the JSON form."""

from __future__ import annotations

from dataclasses import dataclass

from kafkawire.codegen.emit.names import literal
from kafkawire.codegen.resolve.layouts import ResolvedMessage
from kafkawire.layout import Field, Uuid


@dataclass(frozen=True, slots=True)
class StructData:
    """A struct, or the message itself: its class and its fields as source."""

    name: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayoutsView:
    """Everything that the template of a layouts module prints."""

    source: str
    name: str
    imports: str
    versions: str
    flexible: str
    structs: tuple[StructData, ...]


def layouts_view(message: ResolvedMessage, *, source: str) -> LayoutsView:
    """Gather the fields of a message and of its structs."""
    all_fields = [field for fields in message.fields.values() for field in fields]
    imports = ["MessageLayouts"]
    imports += ["Field"] if all_fields else []
    imports += ["Uuid"] if any(isinstance(field.default, Uuid) for field in all_fields) else []
    return LayoutsView(
        source=source,
        name=message.definition.name,
        imports=", ".join(sorted(imports)),
        versions=str(message.definition.valid_versions),
        flexible=str(message.definition.flexible_versions),
        structs=tuple(StructData(name, tuple(map(_call, fields))) for name, fields in message.fields.items()),
    )


def _call(field: Field) -> str:
    """A field as a constructor call that names only what differs from the defaults."""
    arguments = [f'"{field.name}"', f'"{field.type}"']
    plain = Field(field.name, field.type)
    for name in field.__struct_fields__[2:]:
        value = getattr(field, name)
        if value == getattr(plain, name):
            continue
        text = literal(value) if name == "default" else repr(value)
        arguments.append(text if name == "versions" else f"{name}={text}")
    return f"Field({', '.join(arguments)})"
