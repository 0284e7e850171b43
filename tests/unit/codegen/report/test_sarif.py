"""SARIF 2.1.0: what the format asks for."""

from __future__ import annotations

import re

import pytest
from tests.made.sarif import ArtifactLocation, LogicalLocation, Message, Region, Run, run_of

from kafkawire.codegen.definition import Span
from kafkawire.codegen.report.entry import Entry, Level, ReportedRule
from kafkawire.codegen.report.sarif import render_sarif

RULES = [ReportedRule("b-rule", "B must hold.", "fix b"), ReportedRule("a-rule", "A must hold.")]


def entry(path: str | None = "specs/A.json", rule: str = "a-rule", level: Level = "error", message: str = "m") -> Entry:
    return Entry(path or "kafka:3.9.2/clients/A.json", path, Span(3, 5, 4, 9), level, rule, message, "fix it")


def rendered(*entries: Entry) -> Run:
    return run_of(render_sarif(entries, RULES, "1.2.3"))


def uri_of(run: Run) -> ArtifactLocation:
    place = run.results[0].locations[0].physical_location
    assert place is not None
    return place.artifact_location


def test_a_finding_is_a_result_with_rule_level_message_and_region() -> None:
    (result,) = rendered(entry()).results

    assert (result.rule_id, result.level, result.message.text) == ("a-rule", "error", "m; fix it")
    place = result.locations[0].physical_location
    assert place is not None
    assert place.region == Region(3, 5, 4, 9)
    assert (result.locations[0].logical_locations, result.properties) == ([], {})


def test_the_rules_that_were_broken_are_explained_and_pointed_to() -> None:
    run = rendered(entry(rule="b-rule"), entry(rule="a-rule"), entry(rule="b-rule"))

    assert [rule.id for rule in run.tool.driver.rules] == ["a-rule", "b-rule"]
    assert [result.rule_index for result in run.results] == [1, 0, 1]
    assert run.tool.driver.rules[1].help == Message("fix b")
    assert run.tool.driver.rules[0].help is None


def test_other_rules_are_left_out() -> None:
    assert [rule.id for rule in rendered(entry(rule="b-rule")).tool.driver.rules] == ["b-rule"]


@pytest.mark.parametrize("level", ["error", "warning", "note"])
def test_levels_are_those_of_sarif(level: Level) -> None:
    assert rendered(entry(level=level)).results[0].level == level


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("specs/clients/A.json", "specs/clients/A.json"),
        ("a b#c?d%e.json", "a%20b%23c%3Fd%25e.json"),
        ("größe.json", "gr%C3%B6%C3%9Fe.json"),
        ("c:drive.json", "c%3Adrive.json"),
        ("[a].json", "%5Ba%5D.json"),
        ("line\nend.json", "line%0Aend.json"),
        ("\udc80.json", "%3F.json"),
    ],
)
def test_paths_are_relative_references(path: str, uri: str) -> None:
    location = uri_of(rendered(entry(path)))

    assert (location.uri, location.uri_base_id) == (uri, "%SRCROOT%")
    assert re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", location.uri)


def test_a_file_outside_the_repository_counts_from_nowhere() -> None:
    location = uri_of(rendered(entry(None)))

    assert (location.uri, location.uri_base_id) == ("kafka%3A3.9.2/clients/A.json", None)


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    assert rendered(entry(message="a \udc80")).results[0].message.text == "a ?; fix it"


def test_without_findings_there_is_a_run_without_results() -> None:
    run = rendered()

    assert (run.results, run.tool.driver.rules, run.tool.driver.version) == ([], [], "1.2.3")


def test_a_thing_that_no_text_has_is_named_with_its_facts() -> None:
    thing = Entry("logs", "logs", None, "error", "a-rule", "m", subject="TOPIC/orders", facts={"logOffset": 7})
    nowhere = Entry("", None, None, "error", "a-rule", "m", subject="TOPIC/orders")
    one, other = rendered(thing, nowhere).results

    place = one.locations[0].physical_location
    assert place is not None
    assert (place.artifact_location.uri, place.region) == ("logs", None)
    assert one.properties == {"logOffset": 7}
    assert one.locations[0].logical_locations == [LogicalLocation("TOPIC/orders")]
    assert other.locations[0].physical_location is None
    assert other.locations[0].logical_locations == [LogicalLocation("TOPIC/orders")]
