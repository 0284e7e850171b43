"""The module that holds the layouts of one message as data, for the reference codec and the JSON form."""

from __future__ import annotations

from dataclasses import dataclass

from kafkawire.codegen.emit.names import CodecNames, literal, name_codecs
from kafkawire.codegen.resolve.layouts import ResolvedMessage
from kafkawire.layout import FieldLayout


@dataclass(frozen=True, slots=True)
class StructData:
    """One distinct layout of a struct: the variable that holds it and its fields as source."""

    variable: str
    name: str
    fields: tuple[str, ...]
    flexible: bool


@dataclass(frozen=True, slots=True)
class LayoutsView:
    """Everything that the template of a layouts module prints."""

    source: str
    name: str
    imports: str
    structs: tuple[StructData, ...]
    tops: tuple[str, ...]
    by_version: str


def layouts_view(message: ResolvedMessage, *, source: str) -> LayoutsView:
    """Gather the layouts of a message, those that are used by others first."""
    names = name_codecs(message)
    structs = tuple(
        StructData(_variable(codec.name), layout.name, tuple(_field(f, names) for f in layout.fields), layout.flexible)
        for layout, codec in names.codecs.items()
    )
    imports = ["MessageLayouts", "StructLayout"]
    source_text = "".join(field for struct in structs for field in struct.fields)
    imports += [name for name in ("FieldLayout", "Uuid") if f"{name}(" in source_text or f"{name}." in source_text]
    return LayoutsView(
        source=source,
        name=message.definition.name,
        imports=", ".join(sorted(imports)),
        structs=structs,
        tops=tuple(_variable(names.codecs[layout].name) for layout in message.layouts.layouts),
        by_version=repr(dict(message.layouts.by_version)),
    )


def _variable(codec_name: str) -> str:
    return f"_{codec_name}"


def _field(field: FieldLayout, names: CodecNames) -> str:
    """A field as a constructor call that names only what differs from the defaults."""
    arguments = [f'"{field.name}"', f'"{field.attribute}"', f'"{field.type}"']
    plain = FieldLayout(field.name, field.attribute, field.type)
    for name in field.__struct_fields__[3:]:
        value = getattr(field, name)
        if value == getattr(plain, name) and type(value) is type(getattr(plain, name)):
            continue
        if name == "struct":
            arguments.append(f"struct={_variable(names.codecs[value].name)}")
        elif name == "default":
            text = literal(value)
            arguments.append(f"default={'Uuid()' if text == 'ZERO_UUID' else text}")
        else:
            arguments.append(f"{name}={value!r}")
    return f"FieldLayout({', '.join(arguments)})"
