"""The module of one message: the data of templates/message.py.j2, from the resolved message."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.emit.annotations import field_annotation
from kafkawire.codegen.emit.decoding import Bulk, ReadStep, ReadText, bulk_reading, reading_steps
from kafkawire.codegen.emit.docstrings import message_docstring, message_summary, struct_docstring
from kafkawire.codegen.emit.encoding import writing_steps
from kafkawire.codegen.emit.formatting import LINE_LENGTH
from kafkawire.codegen.emit.grammar import grammar_lines, versions_text
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.emit.names import (
    Codec,
    CodecNames,
    default_constant,
    default_expression,
    default_literal,
    local,
    name_codecs,
)
from kafkawire.codegen.emit.sink import Sink
from kafkawire.codegen.emit.used_names import UsedNames
from kafkawire.codegen.emit.write_steps import WriteStep
from kafkawire.codegen.resolve.layouts import ResolvedMessage, ResolvedStruct, default_value
from kafkawire.codegen.versions import Versions
from kafkawire.layout import FIELD_TYPES, STRUCT, StructLayout


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of a generated class."""

    attribute: str
    annotation: str
    default: str


@dataclass(frozen=True, slots=True)
class StructView:
    """A generated class; ``has_views`` if a field of it may hold a view."""

    class_name: str
    docstring: str
    fields: tuple[FieldView, ...]
    has_views: bool


@dataclass(frozen=True, slots=True)
class CodecView:
    """The functions for one layout of a struct."""

    name: str
    type: str
    title: str
    grammar: tuple[str, ...]
    single: bool
    many: bool
    is_message: bool
    reading: tuple[ReadStep, ...]
    writing: tuple[WriteStep, ...]
    arguments: str
    result: str
    has_views: bool
    bulk: Bulk | None


@dataclass(frozen=True, slots=True)
class ModuleView:
    """Everything that the template of a message module prints."""

    source: str
    summary: str
    name: str
    api_key: str
    versions: str
    flexible_versions: str
    unstable_versions: str
    header_name: str | None
    header_versions: str
    top: StructView
    structs: tuple[StructView, ...]
    default_structs: tuple[str, ...]
    codecs: tuple[CodecView, ...]
    readers: str
    encoders: str
    sink: Sink


def message_view(message: ResolvedMessage, use: UsedNames, *, unstable: Versions, source: str) -> ModuleView:
    """Gather what the module of a message says; ``use`` notes the names that it uses."""
    definition = message.definition
    header_name, headers = header_versions(definition)
    names = name_codecs(message, use)
    codecs = tuple(_codec_view(codec, names) for codec in names.codecs.values())
    return ModuleView(
        source=source,
        summary=message_summary(definition),
        name=definition.name,
        api_key=repr(definition.api_key),
        versions=range_source(definition.valid_versions),
        flexible_versions=range_source(definition.flexible_versions.intersect(definition.valid_versions)),
        unstable_versions=range_source(unstable),
        header_name=header_name,
        header_versions=repr(headers),
        top=_struct_view(message.top, message, message_docstring(message), use),
        structs=tuple(_struct_view(s, message, struct_docstring(s), use) for s in message.structs.values()),
        default_structs=tuple(_default_structs(message)),
        codecs=codecs,
        readers=_table(message, names.single_reader),
        encoders=_table(message, names.encoder),
        sink=_sink(names.codecs.values(), use),
    )


def source_path(definition: MessageDefinition) -> str:
    """The file of a definition below the folder of all."""
    return "/".join(filter(None, (definition.group, f"{definition.name}.json")))


def range_source(versions: Versions) -> str:
    """A version range as a Python range."""
    return f"range({versions.lowest}, {versions.highest + 1})" if versions else "range(0)"


def _struct_view(struct: ResolvedStruct, message: ResolvedMessage, docstring: str, use: UsedNames) -> StructView:
    return StructView(
        class_name=struct.class_name,
        docstring=docstring,
        fields=tuple(_field_view(field, struct, message, use) for field in struct.fields),
        has_views=any(not field.type.is_struct and FIELD_TYPES[field.type.name].view for field in struct.fields),
    )


def _field_view(field: FieldDefinition, struct: ResolvedStruct, message: ResolvedMessage, use: UsedNames) -> FieldView:
    default = default_value(field)
    source = default_literal(default, use)
    if field.type.is_struct and not field.type.array and default is not None:
        constant = default_constant(message.structs[field.type.name].class_name)
        source = f"{use('msgspec')}.field(default_factory=lambda: {constant})"
    annotation = field_annotation(field, message, use, default_is_none=default is None)
    return FieldView(struct.attributes[field.name], annotation, source)


def _default_structs(message: ResolvedMessage) -> Iterator[str]:
    """Classes of structs that are the default of a field, innermost first, each once."""
    structs = (*message.structs.values(), message.top)
    seen: dict[str, None] = {}

    def visit(struct: ResolvedStruct) -> None:
        for field in struct.fields:
            if field.type.is_struct and not field.type.array:
                inner = message.structs[field.type.name]
                visit(inner)
                if default_value(field) is not None:
                    seen.setdefault(inner.class_name)

    for struct in structs:
        visit(struct)
    return iter(seen)


def _codec_view(codec: Codec, names: CodecNames) -> CodecView:
    layout = codec.layout
    type_ = names.message_class if codec.is_message else f"{names.message_class}.{layout.name}"
    arguments = ", ".join(_arguments(layout, names.use))
    reading = reading_steps(layout, names)
    return CodecView(
        name=codec.name,
        type=type_,
        title=f"{layout.name}, {versions_text(codec.versions)}",
        grammar=grammar_lines(layout),
        single=codec.single,
        many=codec.many,
        is_message=codec.is_message,
        reading=reading,
        writing=writing_steps(layout, names),
        arguments=arguments,
        result=_result(f"{type_}({arguments}), at"),
        has_views=any(isinstance(step, ReadText) and step.view for step in reading),
        bulk=bulk_reading(layout) if codec.many else None,
    )


def _arguments(layout: StructLayout, use: UsedNames) -> list[str]:
    """Positional arguments that construct the struct from its locals; absent fields at the end are left out."""
    arguments = [
        default_expression(field, use) if field.presence == "absent" else local(field) for field in layout.fields
    ]
    if layout.flexible:
        return [*arguments, "tags"]
    while arguments and layout.fields[len(arguments) - 1].presence == "absent":
        arguments.pop()
    return arguments


def _result(pair: str) -> str:
    """What a reader returns. On a pair that needs several lines, black and ruff agree only if it has parentheses."""
    return f"({pair})" if len(f"    return {pair}") > LINE_LENGTH else pair


def _sink(codecs: Collection[Codec], use: UsedNames) -> Sink:
    fields = [field for codec in codecs for field in codec.layout.fields if field.presence != "absent"]
    types = {FIELD_TYPES[field.type] for field in fields if field.type != STRUCT}
    if any(type_.domain == "octets" for type_ in types):
        return Sink("out", "list", use, views=any(type_.view for type_ in types))
    if any(codec.many for codec in codecs):
        return Sink("out", "bytearray", use)
    has_loops = any(field.array and not FIELD_TYPES[field.type].many_written_at_once for field in fields)
    return Sink("out", "list" if has_loops or not all(codec.is_message for codec in codecs) else "bytes", use)


def _table(message: ResolvedMessage, name: Callable[[StructLayout], str]) -> str:
    """A dict of versions to functions, as source."""
    layouts = message.layouts
    entries = (f"{version}: {name(layouts.layouts[index])}" for version, index in layouts.by_version.items())
    return "{" + ", ".join(entries) + "}"
