"""Stages A and B of Kafka's checker: the messages themselves, and the versions of the fields of each definition."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import rules
from kafkawire.codegen.evolve.upstream.report import Spot, between, flexible_versions, refusal
from kafkawire.codegen.versions import Versions


def message_findings(older: MessageDefinition, newer: MessageDefinition) -> Iterator[EvolutionFinding]:
    """Stage A: key, type and versions. An empty range ends at 0 and -1, as in Kafka."""
    name, place = newer.name, newer.place
    valid = older.valid_versions, newer.valid_versions
    if older.api_key != newer.api_key:
        problem = f"the API key was {_key(older)} and is {_key(newer)}"
        yield refusal(rules.API_KEY, Spot(name, "", place, "apiKey"), valid[1], problem)
    if older.type != newer.type:
        problem = f'the type was "{older.type}" and is "{newer.type}"'
        yield refusal(rules.TYPE, Spot(name, "", place, "type"), valid[1], problem)
    flexible = flexible_versions(older), flexible_versions(newer)
    if not flexible[1].contains(flexible[0]):
        lost = (flexible[0].subtract(flexible[1]) or flexible[0]).intersect(valid[0])
        problem = f'the flexible versions were "{flexible[0]}" and are "{flexible[1]}"'
        yield refusal(rules.FLEXIBLE_SHRINKS, Spot(name, "", place, "flexibleVersions"), lost, problem)
    problem = f'the valid versions were "{valid[0]}" and are "{valid[1]}"'
    if valid[1].highest < valid[0].highest:
        lost = between(valid[1].highest + 1, valid[0].highest).intersect(valid[0])
        yield refusal(rules.MAX_VERSION_LOWER, Spot(name, "", place, "validVersions"), lost, problem)
    if valid[1].lowest < valid[0].lowest:
        back = between(valid[1].lowest, valid[0].lowest - 1).intersect(valid[1])
        yield refusal(rules.MIN_VERSION_LOWER, Spot(name, "", place, "validVersions"), back, problem)


def own_version_findings(message: MessageDefinition) -> Iterator[EvolutionFinding]:
    """Stage B: all fields of one definition, including those of common structs."""
    for path, field in _all_fields(message):
        for rule, attribute, versions in _ranges(field):
            if not versions.intersect(message.valid_versions):
                problem = f'{attribute} "{versions}" have nothing in common with the valid versions '
                problem += f'"{message.valid_versions}"'
                yield refusal(rule, Spot(message.name, path, field.place, attribute), versions, problem)


def _ranges(field: FieldDefinition) -> Iterator[tuple[Rule, str, Versions]]:
    """The ranges of a field that must meet the valid versions."""
    yield rules.FIELD_NEVER_VALID, "versions", field.versions
    if field.nullable_versions:
        yield rules.NULLABLE_NEVER_VALID, "nullableVersions", field.nullable_versions
    if field.tag is not None:
        yield rules.TAGGED_NEVER_VALID, "taggedVersions", field.tagged_versions
    if field.flexible_versions is not None:
        yield rules.OVERRIDE_NEVER_VALID, "flexibleVersions", field.flexible_versions


def _all_fields(message: MessageDefinition) -> Iterator[tuple[str, FieldDefinition]]:
    yield from _with_inner("", message.fields)
    for struct in message.common_structs:
        yield from _with_inner(f"commonStructs.{struct.name}.", struct.fields)


def _with_inner(prefix: str, fields: tuple[FieldDefinition, ...]) -> Iterator[tuple[str, FieldDefinition]]:
    for field in fields:
        path = prefix + field.name
        yield path, field
        yield from _with_inner(f"{path}.", field.fields)


def _key(message: MessageDefinition) -> str:
    return "none" if message.api_key is None else str(message.api_key)
