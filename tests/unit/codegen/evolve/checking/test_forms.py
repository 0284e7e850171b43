"""The output of results with many findings."""

from __future__ import annotations

from collections.abc import Iterable

from tests.laws.codegen.evolve.meaning import side_of
from tests.made.release_jars import field, message, parsed

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.checking.result import CheckResult, check_sides
from kafkawire.codegen.evolve.pairing import MessagePair
from kafkawire.codegen.evolve.render.as_markdown import check_markdown
from kafkawire.codegen.evolve.render.as_text import check_lines
from kafkawire.codegen.evolve.rules.rule import MessageChange
from kafkawire.codegen.versions import NO_VERSIONS


def orders(valid: str) -> Iterable[MessageDefinition]:
    return (parsed(message(f"Order{number}", valid, [field("Id", "int64", "0+")])) for number in range(9))


def dropped() -> CheckResult:
    return check_sides(side_of(*orders("0-2")), side_of(*orders("2")), "kafkawire")


def test_equal_findings_are_grouped() -> None:
    lines = [line.text for line in check_lines(dropped())]
    assert sum("risky[conv-lowest]" in line for line in lines) == 1
    assert [line.rpartition(": ")[2] for line in lines if line.startswith("  the same: ")] == [
        f"Order{number} 0-1" for number in range(1, 9)
    ]
    assert check_markdown(dropped()).count("| `conv-lowest` |") == 1


def test_thousands_of_versions_are_judged_by_looking_at_a_few() -> None:
    older, newer = (parsed(message("Order", "0-32766", [field("Id", "int64", start)])) for start in ("0+", "9+"))
    change = MessageChange(older, newer, MessagePair(older, newer), NO_VERSIONS, NO_VERSIONS)
    assert [(first, len(alike)) for first, alike in change.stretches] == [(0, 9), (9, 32758)]
    result = check_sides(side_of(older), side_of(newer), "kafkawire")
    assert [(judged.finding.rule, str(judged.finding.versions)) for judged in result.findings] == [
        ("conv-remove-field", "0-8")
    ]


def test_markdown_is_never_longer_than_a_comment_may_be() -> None:
    page = check_markdown(dropped(), limit=300)
    assert len(page.encode()) <= 300
    assert page.startswith("### Schema check")
    assert page.endswith("The text output has all.*\n")


def test_text_of_definitions_cannot_speak_to_terminals_or_tables() -> None:
    older = parsed(message("Order", "0", [field("Note", "string", "0+")]))
    newer = parsed(message("Order", "0", [field("Note", "string", "0+", default="\x1b[2J|<b>")]))
    result = check_sides(side_of(older), side_of(newer), "kafkawire")
    assert not any("\x1b" in line.text for line in check_lines(result))
    page = check_markdown(result)
    assert "\x1b" not in page
    assert "<b>" not in page
    assert "|&#60;" not in page
