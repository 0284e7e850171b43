"""Stage B of Kafka's checker: whether the versions of each field have to do with those of its message."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import catalogue
from kafkawire.codegen.evolve.upstream.report import Spot, refusal
from kafkawire.codegen.versions import Versions


def own_version_findings(message: MessageDefinition) -> Iterator[EvolutionFinding]:
    """All fields of one definition, those of common structs included."""
    for path, field in _all_fields(message):
        for rule, attribute, versions in _ranges(field):
            if not versions.intersect(message.valid_versions):
                problem = f'{attribute} "{versions}" have nothing in common with the valid versions '
                problem += f'"{message.valid_versions}"'
                yield refusal(rule, Spot(message.name, path, field.place, attribute), versions, problem)


def _ranges(field: FieldDefinition) -> Iterator[tuple[Rule, str, Versions]]:
    """The ranges of a field that must meet the valid versions."""
    yield catalogue.FIELD_NEVER_VALID, "versions", field.versions
    if field.nullable_versions:
        yield catalogue.NULLABLE_NEVER_VALID, "nullableVersions", field.nullable_versions
    if field.tag is not None:
        yield catalogue.TAGGED_NEVER_VALID, "taggedVersions", field.tagged_versions
    if field.flexible_versions is not None:
        yield catalogue.OVERRIDE_NEVER_VALID, "flexibleVersions", field.flexible_versions


def _all_fields(message: MessageDefinition) -> Iterator[tuple[str, FieldDefinition]]:
    yield from _with_inner("", message.fields)
    for struct in message.common_structs:
        yield from _with_inner(f"commonStructs.{struct.name}.", struct.fields)


def _with_inner(prefix: str, fields: tuple[FieldDefinition, ...]) -> Iterator[tuple[str, FieldDefinition]]:
    for field in fields:
        path = prefix + field.name
        yield path, field
        yield from _with_inner(f"{path}.", field.fields)
