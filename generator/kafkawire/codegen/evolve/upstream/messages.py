"""Stage A of Kafka's checker: what the messages themselves say."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import catalogue
from kafkawire.codegen.evolve.upstream.report import Spot, between, flexible_versions, refusal


def message_findings(older: MessageDefinition, newer: MessageDefinition) -> Iterator[EvolutionFinding]:
    """Key, type and versions; an empty range has its ends at 0 and -1 here as in Kafka."""
    name, place = newer.name, newer.place
    valid = older.valid_versions, newer.valid_versions
    if older.api_key != newer.api_key:
        problem = f"the API key was {_key(older)} and is {_key(newer)}"
        yield refusal(catalogue.API_KEY, Spot(name, "", place, "apiKey"), valid[1], problem)
    if older.type != newer.type:
        problem = f'the type was "{older.type}" and is "{newer.type}"'
        yield refusal(catalogue.TYPE, Spot(name, "", place, "type"), valid[1], problem)
    flexible = flexible_versions(older), flexible_versions(newer)
    if not flexible[1].contains(flexible[0]):
        lost = (flexible[0].subtract(flexible[1]) or flexible[0]).intersect(valid[0])
        problem = f'the flexible versions were "{flexible[0]}" and are "{flexible[1]}"'
        yield refusal(catalogue.FLEXIBLE_SHRINKS, Spot(name, "", place, "flexibleVersions"), lost, problem)
    problem = f'the valid versions were "{valid[0]}" and are "{valid[1]}"'
    if valid[1].highest < valid[0].highest:
        lost = between(valid[1].highest + 1, valid[0].highest).intersect(valid[0])
        yield refusal(catalogue.MAX_VERSION_LOWER, Spot(name, "", place, "validVersions"), lost, problem)
    if valid[1].lowest < valid[0].lowest:
        back = between(valid[1].lowest, valid[0].lowest - 1).intersect(valid[1])
        yield refusal(catalogue.MIN_VERSION_LOWER, Spot(name, "", place, "validVersions"), back, problem)


def _key(message: MessageDefinition) -> str:
    return "none" if message.api_key is None else str(message.api_key)
