"""Warnings: definitions that Kafka's generator accepts, but that are probably mistakes."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import Located, MessageSet, Problem, Rule, StructScope, of_message
from kafkawire.codegen.check.scopes import all_fields, common_path, field_path, is_sound, struct_scopes
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.spelling import A_SLIP, likeness
from kafkawire.codegen.versions import NO_VERSIONS
from kafkawire.layout import snake_case


@Rule(
    "gap-field-outside-valid",
    "A field is in some version of the struct or message that contains it.",
    "correct the versions of the field, or remove it",
    "warning",
).for_fields("type", "versions")
def field_outside_valid(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Inline structs have an error of their own, struct-versions-overlap."""
    if not scope.is_inline_struct(field) and scope.versions and not scope.versions.intersect(field.versions):
        yield Problem(
            "versions", f'versions "{field.versions}" have nothing in common with "{scope.versions}" of {scope.path}'
        )


@Rule(
    "gap-nullable-outside",
    "The nullable versions of a field are among its versions.",
    'narrow "nullableVersions" to "versions"; other versions have no effect',
    "warning",
).for_fields("versions", "nullableVersions")
def nullable_outside(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Four fields of Kafka have this fault, which is harmless."""
    if not field.versions.contains(field.nullable_versions):
        yield Problem(
            "nullableVersions",
            f'nullableVersions "{field.nullable_versions}" is not inside versions "{field.versions}"',
        )


@Rule(
    "gap-fields-on-primitive-array",
    "An array of primitives does not declare fields, which would be ignored.",
    'remove "fields", or make the element a struct',
    "warning",
).for_fields("type")
def fields_on_primitive_array(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """They have no effect."""
    if field.fields and field.type.array and not field.type.is_struct:
        yield Problem("fields", f"fields on type {field.type}")


@Rule(
    "gap-string-default-escape",
    "The default of a string has no quotes and no backslashes, which would break Kafka's Java classes.",
    "choose a default without them",
    "warning",
).for_fields("type", "default")
def string_default_escape(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Kafka's generator copies the text between quotes as it is."""
    default = field.default or ""
    if str(field.type) == "string" and ('"' in default or "\\" in default):
        yield Problem("default", f"default {default[:60]!r}")


@Rule(
    "gap-almost-null",
    "The default of a nullable string is null, or a text that is not similar to null.",
    'write "null" for no value; anything else is a text',
    "warning",
).for_fields("type", "default", "nullableVersions")
def almost_null(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """A ``Null`` is a text of four letters."""
    default = field.default or "null"
    is_nullable_string = str(field.type) == "string" and bool(field.nullable_versions)
    if is_nullable_string and default != "null" and len(default) < 8 and likeness(default.lower(), "null") > A_SLIP:
        yield Problem("default", f"default {default!r} is a text")


@Rule(
    "gap-never-met",
    "Nullable, tagged, flexible and deprecated versions contain a valid version, or are none.",
    'correct the range, which has no effect, or write "none"',
    "warning",
).for_messages("validVersions")
def never_met(message: MessageDefinition) -> Iterator[Located]:
    """Other rules check ranges outside the versions of their field, and fields that are never valid."""
    valid = message.valid_versions
    ranges = {"flexibleVersions": message.flexible_versions, "deprecatedVersions": message.deprecated_versions}
    for attribute, versions in ranges.items():
        if valid and versions and not versions.intersect(valid):
            yield of_message(message, attribute, f'{attribute} "{versions}", but validVersions "{valid}"')
    for scope in struct_scopes(message):
        for field in scope.fields:
            yield from (
                Located(field.place, field_path(scope.path, field), problem) for problem in _never_met(field, scope)
            )


def _never_met(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    occurs = scope.versions.intersect(field.versions)
    ranges = {
        "nullableVersions": field.nullable_versions.intersect(field.versions),
        "taggedVersions": field.tagged_versions.intersect(field.versions),
        "flexibleVersions": field.flexible_versions or NO_VERSIONS,
    }
    for attribute, versions in ranges.items():
        if occurs and versions and not versions.intersect(occurs):
            yield Problem(attribute, f'{attribute} "{versions}", but the field occurs only in "{occurs}"')


@Rule(
    "gap-unused-common",
    "A common struct is used by a field.",
    "remove the struct, or correct the type of the field that should use it",
    "warning",
).for_messages()
def unused_common(message: MessageDefinition) -> Iterator[Located]:
    """It is left over, or the type of a field is misspelt."""
    if not is_sound(message):
        return
    used = {field.type.name for _, field in all_fields(message)}
    for struct in message.common_structs:
        # A struct without a valid name (struct-name-required, struct-common-capitalised) cannot be used at all.
        can_be_used = "name" not in struct.place.refused and struct.name[:1].isupper()
        if can_be_used and struct.name not in used:
            problem = Problem("name", f'no field has the type "{struct.name}"')
            yield Located(struct.place, common_path(message, struct), problem)


@Rule(
    "gap-case-collision",
    "The fields of a struct differ in more than letter case, and their names in snake case differ too.",
    "rename one of the fields",
    "warning",
).for_structs("name")
def case_collision(scope: StructScope) -> Iterator[tuple[FieldDefinition, Problem]]:
    """Equal names are an error, struct-field-name-unique."""
    first: dict[str, str] = {}
    for field in scope.fields:
        taken = [first.setdefault(key, field.name) for key in (field.name.lower(), snake_case(field.name))]
        other = next((name for name in taken if name != field.name), None)
        if other is not None:
            yield field, Problem("name", f'"{field.name}" collides with "{other}"')


@Rule(
    "gap-request-response-mismatch",
    "A request and its response have the same valid versions.",
    "raise both together, even if only one of them changes",
    "warning",
).for_sets
def request_response_mismatch(group: MessageSet) -> Iterator[Located]:
    """Reported at the response (conv-pair)."""
    for request, response in _pairs(group):
        if request.valid_versions != response.valid_versions:
            yield of_message(
                response,
                "validVersions",
                f'validVersions "{response.valid_versions}", but "{request.valid_versions}" in {request.name}',
            )


@Rule(
    "gap-response-name",
    "The name of a response ends in Response and begins like that of its request.",
    "name the pair FooRequest and FooResponse",
    "warning",
).for_sets
def response_name(group: MessageSet) -> Iterator[Located]:
    """Of a response without a request, only the ending is checked."""
    requests = {id(response): request for request, response in _pairs(group)}
    for message in group.messages:
        if message.type != "response" or "name" in message.place.refused:
            continue
        request = requests.get(id(message))
        stem = message.name.removesuffix("Response")
        if stem == message.name:
            yield of_message(message, "name", f'response name "{message.name}" does not end in Response')
        elif request is not None and request.name.removesuffix("Request") != stem:
            yield of_message(message, "name", f'response name "{message.name}" for the request {request.name}')


@Rule(
    "gap-duplicate-message-name",
    "No two messages of a folder have the same name; the second would overwrite the first.",
    "rename one of the messages, or remove it",
    "warning",
).for_sets
def duplicate_message_name(group: MessageSet) -> Iterator[Located]:
    """Reported at all except the first."""
    first: dict[str, MessageDefinition] = {}
    for message in group.messages:
        if "name" not in message.place.refused and first.setdefault(message.name, message) is not message:
            yield of_message(message, "name", f"another message of this name is in {first[message.name].place.file}")


def _pairs(group: MessageSet) -> Iterator[tuple[MessageDefinition, MessageDefinition]]:
    """Requests and responses whose key no other has, where the compared attributes could be read."""
    sound = [message for message in group.messages if not message.place.refused & {"apiKey", "type", "validVersions"}]
    by_key: dict[tuple[str, int | None], list[MessageDefinition]] = {}
    for message in sound:
        by_key.setdefault((message.type, message.api_key), []).append(message)
    for (type_, key), requests in by_key.items():
        responses = by_key.get(("response", key), [])
        if type_ == "request" and key is not None and len(requests) == len(responses) == 1:
            yield requests[0], responses[0]
