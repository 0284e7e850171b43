"""Rules about one field."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import Problem, Rule, StructScope
from kafkawire.codegen.definition import FieldDefinition
from kafkawire.layout import ENTITY_TYPES, FIELD_TYPES


@Rule(
    "field-nullable-type",
    "Only strings, bytes, records, arrays and structs can be null.",
    'remove "nullableVersions", or say "no value" with a default such as -1',
).for_fields("type", "nullableVersions")
def nullable_type(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Fixed-width values have no room for null."""
    can_be_null = field.type.array or field.type.is_struct or FIELD_TYPES[field.type.name].nullable
    if field.nullable_versions and not can_be_null:
        yield Problem("nullableVersions", f'nullableVersions "{field.nullable_versions}" on type {field.type}')


@Rule(
    "field-entity-type-match", "The type of a field matches its entityType.", "correct the type or the entityType"
).for_fields("type", "entityType")
def entity_type_match(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A broker id is an int32, in an array too."""
    needed = ENTITY_TYPES.get(field.entity_type)
    if needed is not None and field.type.name != needed:
        yield Problem(
            "entityType",
            f'entityType "{field.entity_type}" on type {field.type}',
            f"make it {needed} (or an array of that), or correct the entityType",
        )


@Rule(
    "field-fields-on-scalar",
    "Only fields of a struct type, or of an array, have fields of their own.",
    'remove "fields", or name a struct as the type',
).for_fields("type")
def fields_on_scalar(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A primitive has no parts."""
    if field.fields and not (field.type.array or field.type.is_struct):
        yield Problem("fields", f"fields on type {field.type}")


@Rule(
    "field-flexible-override-type",
    "Only strings and bytes may have flexible versions of their own.",
    'remove "flexibleVersions" from the field',
).for_fields("type", "flexibleVersions")
def flexible_override_type(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """The attribute selects an encoding of the length, and only these two types have both."""
    if field.flexible_versions is not None and str(field.type) not in ("string", "bytes"):
        yield Problem("flexibleVersions", f'flexibleVersions "{field.flexible_versions}" on type {field.type}')


@Rule(
    "field-flexible-override-subset",
    "The flexible versions of a field are flexible versions of its message.",
    "narrow the flexible versions of the field",
).for_fields("flexibleVersions")
def flexible_override_subset(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A field cannot be flexible where its message is not."""
    flexible = scope.message.flexible_versions
    if field.flexible_versions is None or "flexibleVersions" in scope.message.place.refused:
        return
    if not flexible.contains(field.flexible_versions):
        yield Problem(
            "flexibleVersions",
            f'flexibleVersions "{field.flexible_versions}" is not inside "{flexible}" of the message',
        )


@Rule("field-tag-negative", "Tags are numbers from 0 on.", "use the next free tag of the struct").for_fields("tag")
def tag_negative(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Tags travel as unsigned numbers."""
    if field.tag is not None and field.tag < 0:
        yield Problem("tag", f"tag {field.tag} is negative")


@Rule(
    "field-tag-without-tagged-versions",
    "A field with a tag states the versions in which it is tagged.",
    'add "taggedVersions", as in "2+", or remove "tag"',
).for_fields("tag", "taggedVersions")
def tag_without_tagged_versions(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A tag that is never used is a mistake."""
    if field.tag is not None and not field.tagged_versions:
        yield Problem("tag", f"tag {field.tag} without taggedVersions")


@Rule(
    "field-tagged-versions-without-tag",
    "A field with tagged versions has a tag.",
    'add "tag" with the next free number of the struct, or remove "taggedVersions"',
).for_fields("tag", "taggedVersions")
def tagged_versions_without_tag(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """The tag identifies the value."""
    if field.tag is None and field.tagged_versions:
        yield Problem("taggedVersions", f'taggedVersions "{field.tagged_versions}" without tag')


@Rule(
    "field-tagged-nullable-all-or-none",
    "A field is nullable in all of its tagged versions or in none of them.",
    'make "nullableVersions" contain "taggedVersions", or remove it',
).for_fields("nullableVersions", "taggedVersions")
def tagged_nullable_all_or_none(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A tagged value has the same form in all its versions."""
    nullable, tagged = field.nullable_versions, field.tagged_versions
    if nullable.intersect(tagged) and not nullable.contains(tagged):
        yield Problem("nullableVersions", f'nullableVersions "{nullable}" covers taggedVersions "{tagged}" in part')


@Rule(
    "field-tagged-open-ended",
    "A tagged field stays tagged: its tagged versions are open-ended.",
    "leave the end open, as in 2+",
).for_fields("taggedVersions")
def tagged_open_ended(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Moving back in line would change what old readers see."""
    tagged = field.tagged_versions
    if tagged and not tagged.is_open:
        yield Problem("taggedVersions", f'taggedVersions "{tagged}" ends', f'write "{tagged.lowest}+"')


@Rule(
    "field-tagged-subset-of-versions",
    "The tagged versions of a field are among its versions.",
    'widen "versions" or narrow "taggedVersions"',
).for_fields("versions", "taggedVersions")
def tagged_subset_of_versions(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A field cannot be tagged in a version without the field; field-tagged-open-ended checks open ends."""
    if not field.versions.contains(field.tagged_versions):
        yield Problem(
            "taggedVersions", f'taggedVersions "{field.tagged_versions}" is not inside versions "{field.versions}"'
        )


@Rule(
    "field-tagged-subset-of-flexible",
    "A field is tagged only in flexible versions.",
    "begin the tagged versions at the first flexible version or later",
).for_fields("taggedVersions", "flexibleVersions")
def tagged_subset_of_flexible(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Versions that are not flexible have no tagged section."""
    message = scope.message
    if "flexibleVersions" in message.place.refused or not message.valid_versions:
        return
    flexible = message.flexible_versions if field.flexible_versions is None else field.flexible_versions
    if not flexible.contains(field.tagged_versions):
        yield Problem(
            "taggedVersions",
            f'taggedVersions "{field.tagged_versions}" is not inside the flexible versions "{flexible}"',
        )


@Rule(
    "field-tagged-map-key", "The key of a struct is not tagged.", 'remove "mapKey", or send the field in line'
).for_fields("tag", "mapKey")
def tagged_map_key(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Every element needs its key."""
    if field.map_key and field.tag is not None:
        yield Problem("mapKey", f"mapKey true on a field with tag {field.tag}")


@Rule("field-tagged-records", "Records are not tagged.", "send the field in line").for_fields("type", "taggedVersions")
def tagged_records(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Records are passed on without copying, which tagged sections do not allow."""
    if str(field.type) == "records" and field.tagged_versions:
        yield Problem("type", f'type records with taggedVersions "{field.tagged_versions}"')


@Rule(
    "field-array-of-records",
    "There are no arrays of records.",
    "put the records into a struct with one field, and make an array of that",
).for_fields("type")
def array_of_records(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Records are null by default, and elements of arrays are never null."""
    if field.type.array and field.type.name == "records":
        yield Problem("type", "type []records is an array of records")


@Rule("field-zero-copy-type", "Only bytes can be kept without copying.", 'remove "zeroCopy"').for_fields(
    "type", "zeroCopy"
)
def zero_copy_type(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """The attribute requests a view of the buffer."""
    if field.zero_copy and str(field.type) != "bytes":
        yield Problem("zeroCopy", f"zeroCopy true on type {field.type}")


@Rule(
    "field-map-key-top-level",
    "The fields of a message itself are not keys.",
    'remove "mapKey"; only elements of arrays are looked up by key',
).for_fields("mapKey")
def map_key_top_level(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A message is not an element of anything."""
    if field.map_key and scope.is_top_level:
        yield Problem("mapKey", "mapKey true on a field of the message itself")
