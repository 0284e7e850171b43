"""The rules of Kafka's own schema checker, oddities included.

``tests/conformance/test_evolution_checker.py`` compares the examples with Kafka's checker.
"""

from __future__ import annotations

import json

import pytest
from tests.made.release_jars import Json, field, message
from tests.made.schema_changes import EXAMPLES, Example, X, Y, common, sample

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import UPSTREAM_RULES, upstream_findings
from kafkawire.codegen.parse.load import parse_message


def parsed(definition: Json, file: str) -> MessageDefinition:
    read, findings = parse_message(json.dumps(definition, indent=1), file)
    assert read is not None, findings
    return read


def found(older: Json, newer: Json) -> tuple[EvolutionFinding, ...]:
    return upstream_findings(parsed(older, "old.json"), parsed(newer, "new.json"))


def rules(older: Json, newer: Json) -> list[str]:
    return [finding.rule for finding in found(older, newer)]


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{example.rule}: {example.what}" for example in EXAMPLES])
def test_rule(example: Example) -> None:
    broken = found(example.older, example.broken)
    assert broken[0].rule == (example.first or example.rule)
    assert example.rule in [finding.rule for finding in broken]
    assert {finding.severity for finding in broken} == {"breaking"}

    assert rules(example.accepted_after or example.older, example.accepted) == []


def test_every_rule_has_an_example() -> None:
    assert {example.rule for example in EXAMPLES} == UPSTREAM_RULES.keys()


def test_rules_say_what_they_are_for() -> None:
    for rule in UPSTREAM_RULES.values():
        assert rule.purpose.endswith(".")
        assert rule.remedy[-1] not in ".;"


def test_place_is_that_of_the_attribute_in_the_newer_file() -> None:
    (finding,) = found(sample("0-3", X | {"default": 1}), sample("0-3", X | {"default": 200}))

    assert (finding.file, finding.path, str(finding.versions)) == ("new.json", "X", "0-3")
    line = json.dumps(sample("0-3", X | {"default": 200}), indent=1).splitlines()[finding.span.line - 1]
    assert line[finding.span.column - 1 : finding.span.end_column - 1] == "200"
    assert finding.reason == "the default was '1' and is '200'; restore the exact text of the default"


def test_place_of_what_is_wrong_with_the_older_definition_is_in_the_older_file() -> None:
    findings = found(sample("0-3", X, Y | {"versions": "4+"}), sample("0-4", X))

    assert {finding.file for finding in findings} == {"old.json"}
    assert {finding.path for finding in findings} == {"Y"}


def test_paths_name_the_fields_around() -> None:
    older = sample("0-3", field("S", "[]S", "0+", fields=[field("T", "[]T", "0+", fields=[X])]))
    newer = sample("0-3", field("S", "[]S", "0+", fields=[field("T", "[]T", "0+", fields=[X | {"type": "int8"}])]))

    (finding,) = found(older, newer)
    assert (finding.message, finding.path) == ("Sample", "S.T.X")


def test_path_of_a_field_of_a_common_struct_by_itself() -> None:
    newer = sample("0-3", X, commonStructs=[common("S", X | {"versions": "4+"})])

    assert [finding.path for finding in found(sample("0-3", X), newer)] == ["commonStructs.S.X"]


def test_all_problems_are_reported() -> None:
    older = sample("0-3", X, Y, field("Z", "int8", "0+"))
    newer = sample("0-3", X | {"default": 1}, Y | {"versions": "1+"}, field("Z", "int16", "0+"), apiKey=1)

    expected = ["evo-api-key", "evo-default-differs", "evo-min-effective-differs", "evo-type-differs"]
    assert rules(older, newer) == expected


def test_versions_that_the_message_lost_are_not_reported_again_for_each_field() -> None:
    assert rules(sample("0-3", X, Y), sample("0-2", X, Y)) == ["evo-max-version-lower"]
    assert rules(sample("0-3", X, Y), sample("0-3", X, Y, flexibleVersions="1+")) == ["evo-flexible-shrinks"]


def test_fields_with_other_positions_are_reported_once() -> None:
    newer = sample("0-3", field("New", "bool", "0+"), X, Y)

    (finding,) = found(sample("0-3", X, Y), newer)
    assert (finding.rule, finding.path) == ("evo-type-differs", "New")
    assert finding.reason.startswith('compared with "X" at its position, the type was "int32" and is "bool"')


def test_a_type_changed_in_place_leaves_the_fields_in_step() -> None:
    newer = sample("0-3", X | {"type": "int64"}, Y | {"default": "a"})

    assert rules(sample("0-3", X, Y), newer) == ["evo-type-differs", "evo-default-differs"]


def test_a_common_struct_is_compared_once_however_often_it_is_used() -> None:
    def twice(x: Json) -> Json:
        uses = [field("S", "[]S", "0+"), field("T", "[]S", "0+")]
        return message("Sample", "0-3", uses, commonStructs=[common("S", x)])

    assert [finding.path for finding in found(twice(X), twice(X | {"default": 1}))] == ["S.X"]


def test_a_problem_of_both_definitions_at_one_place_is_reported_once() -> None:
    definition = parsed(sample("0-3", Y | {"flexibleVersions": "none"}), "same.json")

    assert [finding.rule for finding in upstream_findings(definition, definition)] == ["evo-override-never-valid"]


def test_structs_that_fan_out_take_no_time() -> None:
    structs = [common(f"S{n}", field("A", f"[]S{n + 1}", "0+"), field("B", f"[]S{n + 1}", "0+")) for n in range(60)]
    definition = sample("0-3", field("S", "[]S0", "0+"), commonStructs=[*structs, common("S60", X)])

    assert rules(definition, definition) == []


def test_structs_in_a_long_chain_need_no_stack() -> None:
    structs = [common(f"S{n}", field("A", f"[]S{n + 1}", "0+")) for n in range(1500)]
    definition = sample("0-3", field("S", "[]S0", "0+"), commonStructs=[*structs, common("S1500", X)])

    assert rules(definition, definition) == []
