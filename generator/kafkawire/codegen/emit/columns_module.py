"""The module that reads one record type into columns: what templates/columns.py.j2 may see.

It reads by the same steps as the message's own module. Only what comes of values differs: strings stay octets, which
Arrow checks itself, ids become text, structs become tuples with a value for each field of any version.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition
from kafkawire.codegen.emit.docstrings import message_summary
from kafkawire.codegen.emit.grammar import grammar_lines, versions_text
from kafkawire.codegen.emit.names import Codec, CodecNames, literal, local, name_codecs
from kafkawire.codegen.emit.reading import (
    Bulk,
    KnownTag,
    ReadItems,
    ReadNumbers,
    ReadRun,
    ReadStep,
    ReadTags,
    ReadText,
    TagDefault,
    bulk_reading,
    reading_steps,
)
from kafkawire.codegen.emit.reading_codes import ReadingCodes, reading_codes
from kafkawire.codegen.resolve.layouts import ResolvedMessage, ResolvedStruct
from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout, Uuid

ARROW_INTEGERS = {"uint16": "int32", "uint32": "int64"}
"""Signed types that hold unsigned ones, which Spark and many other readers of tables do not have."""

ARROW_TYPES = {"bool": "bool", "float": "double", "uuid": "string", "text": "string", "octets": "binary"}
"""Arrow types by the domain of a field type."""


@dataclass(frozen=True, slots=True)
class Column:
    """A field of the message that a layout has: its place in the schema, what appends to it, and its value."""

    index: int
    add: str
    value: str


_COUNTER = (Column(-1, "count_add", "None"),)
"""What tells the rows of a layout without fields."""


@dataclass(frozen=True, slots=True)
class ColumnCodec:
    """How one layout of the message or of a struct is read."""

    name: str
    title: str
    grammar: tuple[str, ...]
    single: bool
    many: bool
    is_message: bool
    reading: tuple[ReadStep, ...]
    bulk: Bulk | None
    row: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ColumnsView:
    """Everything that the template of a columns module prints."""

    source: str
    summary: str
    imports: str
    schema: str
    codecs: tuple[ColumnCodec, ...]
    reading_codes: ReadingCodes
    decoders: tuple[str, ...]


def columns_view(message: ResolvedMessage, *, source: str) -> ColumnsView:
    """Gather what the module says; the imports are filled in once the text is known."""
    names = name_codecs(message)
    codecs = tuple(_codec(codec, names) for codec in names.codecs.values())
    return ColumnsView(
        source=source,
        summary=message_summary(message.definition),
        imports="",
        schema=_schema(message.top, message),
        codecs=codecs,
        reading_codes=reading_codes((s for codec in codecs for s in codec.reading), (c.bulk for c in codecs)),
        decoders=_decoders(message, names),
    )


def code_alone(view: ColumnsView) -> ColumnsView:
    """The view with words left out, so that what the text of the module names is what its code uses."""
    codecs = tuple(replace(codec, title="", grammar=()) for codec in view.codecs)
    return replace(view, summary="", schema="", codecs=codecs)


def _schema(struct: ResolvedStruct, message: ResolvedMessage) -> str:
    """The fields of a struct with their types, as source."""
    return _tuple(f'("{struct.attributes[field.name]}", {_column_type(field, message)})' for field in struct.fields)


def _column_type(field: FieldDefinition, message: ResolvedMessage) -> str:
    if field.type.is_struct:
        element = _schema(message.structs[field.type.name], message)
    else:
        type_ = FIELD_TYPES[field.type.name]
        integer = ARROW_INTEGERS.get(type_.name, type_.name)
        element = f'"{integer if type_.domain == "int" else ARROW_TYPES[type_.domain]}"'
    return f"[{element}]" if field.type.array else element


def _codec(codec: Codec, names: CodecNames) -> ColumnCodec:
    layout = codec.layout
    present = [(index, field) for index, field in enumerate(layout.fields) if field.presence != "absent"]
    return ColumnCodec(
        name=codec.name,
        title=f"{layout.name}, {versions_text(codec.versions)}",
        grammar=grammar_lines(layout),
        single=codec.single and not codec.is_message,
        many=codec.many,
        is_message=codec.is_message,
        reading=tuple(_columnar(step, layout) for step in reading_steps(layout, names, octets_alone=True)),
        bulk=_bulk(layout) if codec.many else None,
        row=_tuple("None" if field.presence == "absent" else local(field) for field in layout.fields),
        columns=tuple(Column(index, f"{local(field)}_add", local(field)) for index, field in present) or _COUNTER,
    )


def _bulk(layout: StructLayout) -> Bulk | None:
    """How to read many rows at once, if the bytes of a struct are its row (uuids and strings are not)."""
    return bulk_reading(layout) if len(layout.inline) == len(layout.fields) else None


def _columnar(step: ReadStep, layout: StructLayout) -> ReadStep:
    """The step with what columns make of its values."""
    match step:
        case ReadRun():
            return replace(step, uuid_maker="uuid_text")
        case ReadText():
            tail = replace(step.tail, uuid_maker="uuid_text") if step.tail else None
            return replace(step, decoded=False, view=False, tail=tail)
        case ReadNumbers():
            return replace(step, twin="")
        case ReadItems():
            return replace(step, element=tuple(_columnar(inner, layout) for inner in step.element))
        case ReadTags():
            known = (KnownTag(k.tag, tuple(_columnar(inner, layout) for inner in k.steps)) for k in step.known)
            defaults = (TagDefault(local(field), "Value", _default(field)) for field in layout.tagged)
            return replace(step, known=tuple(known), defaults=tuple(defaults), kept=False)
    return step


def _default(field: FieldLayout) -> str:
    """What stands in a row for a tagged field that the section lacks, as source (tagged-read-absent)."""
    if field.struct is not None and not field.array and field.default is not None:
        return _tuple("None" if inner.presence == "absent" else _default(inner) for inner in field.struct.fields)
    value = field.default
    if isinstance(value, str | Uuid):
        return repr(str(value).encode())
    return literal(value)


def _tuple(values: Iterable[str]) -> str:
    """A tuple as source. A comma behind its last value would let the formatter give each a line of its own."""
    listed = tuple(values)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def _decoders(message: ResolvedMessage, names: CodecNames) -> tuple[str, ...]:
    """For each version its entry in the table of decoders, as source."""
    layouts = message.layouts
    entries = []
    for version, index in layouts.by_version.items():
        layout = layouts.layouts[index]
        absent = tuple(at for at, field in enumerate(layout.fields) if field.presence == "absent")
        counted = next((at for at in range(len(layout.fields)) if at not in absent), -1)
        entries.append(f"{version}: LayoutColumns(_decode_{names.codecs[layout].name}, {counted}, {absent})")
    return tuple(entries)
