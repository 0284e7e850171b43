"""Rules about structs: their fields together, their names, their declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from kafkawire.codegen.check.rule import Located, Problem, Rule, StructScope
from kafkawire.codegen.check.scopes import common_path, field_path, inline_declarations, is_sound
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, Place
from kafkawire.codegen.spelling import meant_type

_DEEPEST = 32
_STRUCT_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")


@Rule(
    "struct-tag-unique", "No two fields of a struct have the same tag.", "use the next free tag of the struct"
).for_structs("tag")
def tag_unique(scope: StructScope) -> Iterator[tuple[FieldDefinition, Problem]]:
    """A tag identifies one field."""
    first: dict[int, FieldDefinition] = {}
    for field in scope.fields:
        if field.tag is not None and first.setdefault(field.tag, field) is not field:
            yield field, Problem("tag", f"tag {field.tag} is already that of {first[field.tag].name}")


@Rule(
    "struct-tags-contiguous",
    "The tags of a struct are 0, 1, 2 and so on without a gap, over all versions.",
    "number the tags of the struct from 0 without a gap",
).for_structs("tag")
def tags_contiguous(scope: StructScope) -> Iterator[tuple[FieldDefinition, Problem]]:
    """Reported once for a struct, at the lowest tag above a gap. Other rules check repeated and negative tags."""
    tagged = {field.tag: field for field in reversed(scope.fields) if field.tag is not None and field.tag >= 0}
    for expected, tag in enumerate(sorted(tagged)):
        if tag != expected:
            yield tagged[tag], Problem("tag", f"tag {tag}, but no field of the struct has tag {expected}")
            return


@Rule(
    "struct-field-name-unique", "No two fields of a struct have the same name.", "rename one of the fields"
).for_structs("name")
def field_name_unique(scope: StructScope) -> Iterator[tuple[FieldDefinition, Problem]]:
    """Names are case-sensitive; gap-case-collision checks those that differ only in case."""
    first: dict[str, FieldDefinition] = {}
    for field in scope.fields:
        if first.setdefault(field.name, field) is not field:
            line = first[field.name].place.span.line
            yield field, Problem("name", f'the struct already has a field "{field.name}", at line {line}')


@Rule(
    "struct-common-capitalised",
    "The name of a common struct begins with a capital and consists of letters and digits.",
    "use a name like TopicPartitions",
).for_messages()
def common_capitalised(message: MessageDefinition) -> Iterator[Located]:
    """Only capitalised types are structs."""
    for struct in message.common_structs:
        if "name" not in struct.place.refused and not _STRUCT_NAME.fullmatch(struct.name):
            yield Located(
                struct.place,
                common_path(message, struct),
                Problem("name", f'"{struct.name}" is not a capitalised name'),
            )


@Rule(
    "struct-common-unique", "No two common structs of a message have the same name.", "rename or remove one of them"
).for_messages()
def common_unique(message: MessageDefinition) -> Iterator[Located]:
    """A type identifies one struct."""
    seen: set[str] = set()
    for struct in message.common_structs:
        if "name" in struct.place.refused:
            continue
        if struct.name in seen:
            problem = Problem("name", f'a common struct "{struct.name}" is already declared')
            yield Located(struct.place, common_path(message, struct), problem)
        seen.add(struct.name)


@Rule(
    "struct-common-respecified",
    "A field whose type is a common struct does not declare fields.",
    'remove "fields" here, or rename the inline struct',
).for_fields("type")
def common_respecified(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """The common struct declares the fields (field-common-struct)."""
    if field.type.is_struct and field.fields and field.type.name in scope.common:
        yield Problem("fields", f'fields for "{field.type.name}", which is a common struct')


@Rule(
    "struct-undeclared",
    "A struct type is declared: by the fields of one field, or as a common struct.",
    'add "fields" (an empty list for a struct without fields), or declare the struct in commonStructs',
).for_messages()
def undeclared(message: MessageDefinition) -> Iterator[Located]:
    """Kafka's generator treats it as a struct without fields, which loses data; mostly the type is misspelt.

    struct-inline-unique checks a name that one field declares and another one uses.
    """
    declarations = list(inline_declarations(message))
    declared = {field.type.name for _, field in declarations if _declares_fields(field)}
    common = {struct.name for struct in message.common_structs}
    for path, field in declarations:
        name = field.type.name
        if name not in declared:
            yield Located(field.place, path, _undeclared(name, common, declared))


def _undeclared(name: str, common: Set[str], inline: Set[str]) -> Problem:
    meant = meant_type(name, (*sorted(common), *sorted(inline)))
    hint = "" if meant is None else f'did you mean "{meant}"?'
    if meant in inline - common:
        hint += f' To use {meant} a second time, move its "fields" to commonStructs'
    return Problem("type", f'the struct "{name}" is not declared', hint)


def _declares_fields(field: FieldDefinition) -> bool:
    """Whether ``fields`` is written, even as an empty or invalid list."""
    return "fields" in field.place.attributes or "fields" in field.place.refused


@Rule(
    "struct-inline-unique",
    "An inline struct is declared by one field of a message.",
    "move the struct to commonStructs, or give the second one another name",
).for_messages("commonStructs")
def inline_unique(message: MessageDefinition) -> Iterator[Located]:
    """Struct names are unique in a message."""
    declarations = list(inline_declarations(message))
    first: dict[str, Place] = {}
    for _, field in declarations:
        if _declares_fields(field):
            first.setdefault(field.type.name, field.place)
    for path, field in declarations:
        place = first.get(field.type.name, field.place)
        if place is not field.place:
            line = place.of("type").line
            yield Located(
                field.place,
                path,
                Problem("type", f'the struct "{field.type.name}" is already declared, at line {line}'),
            )


@Rule(
    "struct-unknown",
    "A struct that is used inside a common struct is itself common, or declared in the fields of the message.",
    "declare the struct in commonStructs",
).for_messages()
def unknown(message: MessageDefinition) -> Iterator[Located]:
    """Kafka's generator does not find an inline struct in a common struct (struct-inline-in-common)."""
    if not is_sound(message):
        return
    common = {struct.name for struct in message.common_structs}
    declared = {field.type.name for _, field in inline_declarations(message)}
    for struct in message.common_structs:
        for field in struct.fields:
            name = field.type.name
            if not field.type.is_struct or name in common or (name in declared and not field.fields):
                continue
            path = field_path(common_path(message, struct), field)
            if field.fields:
                yield Located(
                    field.place, path, Problem("type", f'the struct "{name}" is declared inside a common struct')
                )
            else:
                yield Located(field.place, path, _undeclared(name, common, frozenset()))


@Rule(
    "struct-contains-itself",
    "A struct does not contain itself, not even in an array or through other structs.",
    "break the cycle; the wire format has no references",
).for_messages()
def contains_itself(message: MessageDefinition) -> Iterator[Located]:
    """Kafka's generator does not terminate for such definitions. Reported at each field that closes a cycle."""
    inside = {field.type.name: (path, field.fields) for path, field in inline_declarations(message)}
    inside.update({struct.name: (common_path(message, struct), struct.fields) for struct in message.common_structs})
    done: set[str] = set()
    for start in inside:
        entered = {start: iter(inside[start][1])} if start not in done else {}
        while entered:
            name = next(reversed(entered))
            field = next(entered[name], None)
            if field is None:
                done.add(name)
                del entered[name]
            elif field.type.is_struct and field.type.name in entered:
                path = field_path(inside[name][0], field)
                yield Located(field.place, path, Problem("type", f'the struct "{field.type.name}" contains itself'))
            elif field.type.is_struct and field.type.name in inside and field.type.name not in done:
                entered[field.type.name] = iter(inside[field.type.name][1])


@Rule(
    "struct-nesting", "Structs are nested at most 32 deep.", "flatten the structure; real definitions nest four deep"
).for_messages()
def nesting(message: MessageDefinition) -> Iterator[Located]:
    """Codecs are recursive and must not run out of stack. struct-contains-itself checks cycles."""
    common = {struct.name: struct for struct in message.common_structs}
    level = {name: {field.type.name for field in struct.fields} & common.keys() for name, struct in common.items()}
    for _ in range(_DEEPEST):
        level = {name: inner & level.keys() for name, inner in level.items() if inner & level.keys()}
    if level and not any(True for _ in contains_itself.check(message)):
        struct = common[min(level)]
        problem = Problem("name", f'more than {_DEEPEST} structs are nested below "{struct.name}"')
        yield Located(struct.place, common_path(message, struct), problem)


@Rule(
    "struct-versions-overlap",
    "An inline struct shares a version with the struct or message that contains it.",
    "correct the versions of the field, or remove it",
).for_fields("type", "versions")
def versions_overlap(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A struct that is in no version is a mistake; its fields are not checked any further."""
    if scope.is_inline_struct(field) and scope.versions and not scope.versions.intersect(field.versions):
        yield Problem(
            "versions", f'versions "{field.versions}" have nothing in common with "{scope.versions}" of {scope.path}'
        )
