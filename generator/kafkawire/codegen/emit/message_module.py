"""The module of one message: what templates/message.py.j2 may see, gathered from the resolved message."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.emit.annotations import field_annotation
from kafkawire.codegen.emit.docstrings import message_docstring, message_summary, struct_docstring
from kafkawire.codegen.emit.formatting import LINE_LENGTH
from kafkawire.codegen.emit.fusing import ONE_BYTE_CODES
from kafkawire.codegen.emit.grammar import grammar_lines, versions_text
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.emit.names import (
    RUN_TIME_NAMES,
    STANDARD_LIBRARY,
    Codec,
    CodecNames,
    default_constant,
    default_expression,
    literal,
    local,
    name_codecs,
)
from kafkawire.codegen.emit.reading import Bulk, ReadStep, ReadText, bulk_reading, reading_steps
from kafkawire.codegen.emit.reading_codes import ReadingCodes, reading_codes
from kafkawire.codegen.emit.sink import Sink
from kafkawire.codegen.emit.write_steps import (
    Prepare,
    WriteArray,
    WriteFused,
    WriteRun,
    WriteStep,
    WriteTags,
    WriteText,
)
from kafkawire.codegen.emit.writing import writing_steps
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
    imports: str
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
    reading_codes: ReadingCodes
    pack_codes: tuple[str, ...]
    pack_many_codes: tuple[str, ...]
    pack_text_codes: tuple[tuple[str, ...], ...]
    pack_pair_codes: tuple[tuple[str, ...], ...]
    pack_twins_codes: tuple[tuple[str, ...], ...]
    readers: str
    encoders: str
    sink: Sink


def message_view(message: ResolvedMessage, *, unstable: Versions, source: str) -> ModuleView:
    """Gather what the module of a message says; the imports are filled in once the text is known."""
    definition = message.definition
    header_name, headers = header_versions(definition)
    names = name_codecs(message)
    codecs = tuple(_codec_view(codec, names) for codec in names.codecs.values())
    reading = tuple(step for codec in codecs for step in codec.reading)
    writing = tuple(step for codec in codecs for step in _all_writing(codec.writing))
    return ModuleView(
        source=source,
        summary=message_summary(definition),
        imports="",
        name=definition.name,
        api_key=repr(definition.api_key),
        versions=range_source(definition.valid_versions),
        flexible_versions=range_source(definition.flexible_versions.intersect(definition.valid_versions)),
        unstable_versions=range_source(unstable),
        header_name=header_name,
        header_versions=repr(headers),
        top=_struct_view(message.top, message, message_docstring(message)),
        structs=tuple(_struct_view(struct, message, struct_docstring(struct)) for struct in message.structs.values()),
        default_structs=tuple(_default_structs(message)),
        codecs=codecs,
        reading_codes=reading_codes(reading, (codec.bulk for codec in codecs)),
        pack_codes=_codes(_pack_codes(writing)),
        pack_many_codes=_codes(s.code for s in writing if isinstance(s, WriteArray | Prepare) and s.code),
        pack_text_codes=tuple(sorted({s.around for s in writing if isinstance(s, WriteText) and any(s.around)})),
        pack_pair_codes=_fused_codes(writing, "pair"),
        pack_twins_codes=_fused_codes(writing, "twins"),
        readers=_table(message, names.single_reader),
        encoders=_table(message, names.encoder),
        sink=_sink(names.codecs.values()),
    )


def source_path(definition: MessageDefinition) -> str:
    """The file of a definition below the folder of all."""
    return "/".join(filter(None, (definition.group, f"{definition.name}.json")))


def without_docstrings(view: ModuleView) -> ModuleView:
    """The view with words left out, so that what the text of the module names is what its code uses."""
    blank = '""""""'
    structs = tuple(replace(struct, docstring=blank) for struct in view.structs)
    return replace(view, summary="", top=replace(view.top, docstring=blank), structs=structs)


def import_lines(body: str) -> str:
    """The imports that the text of a module without docstrings needs."""
    used = set(re.findall(r"\b[A-Za-z_]+\b", body))
    lines = [f"from {module} import {name}" for name, module in STANDARD_LIBRARY.items() if name in used]
    lines += [""] if lines else []
    if "msgspec" in used:
        lines += ["import msgspec", ""]
    for module, names in RUN_TIME_NAMES.items():
        needed = sorted(used.intersection(names))
        if needed:
            lines.append(f"from {module} import {', '.join(needed)}")
    return "\n".join(lines)


def range_source(versions: Versions) -> str:
    """A version range as a Python range."""
    return f"range({versions.lowest}, {versions.highest + 1})" if versions else "range(0)"


def _struct_view(struct: ResolvedStruct, message: ResolvedMessage, docstring: str) -> StructView:
    return StructView(
        class_name=struct.class_name,
        docstring=docstring,
        fields=tuple(_field_view(field, struct, message) for field in struct.fields),
        has_views=any(not field.type.is_struct and FIELD_TYPES[field.type.name].view for field in struct.fields),
    )


def _field_view(field: FieldDefinition, struct: ResolvedStruct, message: ResolvedMessage) -> FieldView:
    default = default_value(field)
    source = literal(default)
    if field.type.is_struct and not field.type.array and default is not None:
        constant = default_constant(message.structs[field.type.name].class_name)
        source = f"msgspec.field(default_factory=lambda: {constant})"
    annotation = field_annotation(field, message, default_is_none=default is None)
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
    arguments = ", ".join(_arguments(layout))
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


def _arguments(layout: StructLayout) -> list[str]:
    """Positional arguments that construct the struct from its locals; absent fields at the end are left out."""
    arguments = [default_expression(field) if field.presence == "absent" else local(field) for field in layout.fields]
    if layout.flexible:
        return [*arguments, "tags"]
    while arguments and layout.fields[len(arguments) - 1].presence == "absent":
        arguments.pop()
    return arguments


def _result(pair: str) -> str:
    """What a reader returns. On a pair that needs several lines, black and ruff agree only if it has parentheses."""
    return f"({pair})" if len(f"    return {pair}") > LINE_LENGTH else pair


def _pack_codes(steps: Iterable[WriteStep]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, WriteRun):
            yield from {step.code}.difference(ONE_BYTE_CODES)
        elif isinstance(step, WriteFused) and step.packer == "run":
            yield from step.codes
        elif isinstance(step, WriteText):
            yield from filter(None, step.around)
            yield from () if step.compact else (step.length_code,)
        elif isinstance(step, WriteArray) and step.compact and step.lead:
            yield from (step.lead.code, f"{step.lead.code}B")
        elif isinstance(step, WriteArray) and not (step.compact or step.prefixed):
            yield "i"


def _fused_codes(steps: Iterable[WriteStep], packer: str) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted({step.codes for step in steps if isinstance(step, WriteFused) and step.packer == packer}))


def _codes(codes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(codes)))


def _all_writing(steps: Iterable[WriteStep]) -> Iterator[WriteStep]:
    """The steps and those inside them."""
    for step in steps:
        yield step
        if isinstance(step, WriteArray):
            yield from _all_writing(step.element)
        elif isinstance(step, WriteFused):
            yield from (*step.inside, *_all_writing(step.apart))
        elif isinstance(step, WriteTags):
            yield from _all_writing(inner for known in step.known for inner in known.steps)


def _sink(codecs: Collection[Codec]) -> Sink:
    fields = [field for codec in codecs for field in codec.layout.fields if field.presence != "absent"]
    types = {FIELD_TYPES[field.type] for field in fields if field.type != STRUCT}
    if any(type_.domain == "octets" for type_ in types):
        return Sink("out", "list", views=any(type_.view for type_ in types))
    if any(codec.many for codec in codecs):
        return Sink("out", "bytearray")
    has_loops = any(field.array and FIELD_TYPES[field.type].domain not in ("int", "float") for field in fields)
    return Sink("out", "list" if has_loops or not all(codec.is_message for codec in codecs) else "bytes")


def _table(message: ResolvedMessage, name: Callable[[StructLayout], str]) -> str:
    """A dict of versions to functions, as source."""
    layouts = message.layouts
    entries = (f"{version}: {name(layouts.layouts[index])}" for version, index in layouts.by_version.items())
    return "{" + ", ".join(entries) + "}"
