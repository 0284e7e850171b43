"""Each rule about changes, shown on examples.

``rules/<rule id>/`` has pairs of definitions in folders ``older`` and ``newer``: ``found*`` pairs have findings of this
rule only (and of the rule named after ``-with-``, which always comes with it), ``near-miss*`` pairs have none of it,
and ``expected.txt`` is what ``kafkawire schema check`` prints for the former.
``pytest tests/golden --update-golden`` writes ``expected.txt`` again; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.evolve.checking.result import CheckResult, check_sides
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.render.as_text import check_lines
from kafkawire.codegen.evolve.rules.catalogue import EVOLUTION_RULES

RULE_FOLDERS = Path(__file__).parent / "rules"
FOLDERS = sorted(path.name for path in RULE_FOLDERS.iterdir())
CASES = sorted(path for rule in RULE_FOLDERS.iterdir() for path in rule.iterdir() if path.is_dir())
FOUND = [path for path in CASES if path.name.startswith("found")]
NEAR_MISSES = [path for path in CASES if path.name.startswith("near-miss")]


def _case(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _check(case: Path, monkeypatch: pytest.MonkeyPatch) -> CheckResult:
    monkeypatch.chdir(case)
    sides = load_side("older"), load_side("newer")
    assert [finding for side in sides for finding in side.findings if finding.severity == "error"] == []
    return check_sides(*sides, "kafkawire")


def test_every_rule_has_an_example_and_a_near_miss() -> None:
    assert set(FOLDERS) == set(EVOLUTION_RULES)
    assert {path.parent.name for path in FOUND} == set(EVOLUTION_RULES)
    assert {path.parent.name for path in NEAR_MISSES} == set(EVOLUTION_RULES)
    assert len(FOUND) + len(NEAR_MISSES) == len(CASES)


@pytest.mark.parametrize("case", FOUND, ids=_case)
def test_the_rule_is_reported_and_no_other(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _check(case, monkeypatch)
    _, _, companion = case.name.partition("-with-")
    assert {judged.finding.rule for judged in result.findings} == {case.parent.name, companion or case.parent.name}


@pytest.mark.parametrize("case", NEAR_MISSES, ids=_case)
def test_near_miss_is_not_reported(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _check(case, monkeypatch)
    assert case.parent.name not in {judged.finding.rule for judged in result.findings}
    assert not result.fails


@pytest.mark.parametrize("rule", EVOLUTION_RULES)
def test_severities_of_the_catalogue_are_those_of_the_examples(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        judged.finding.severity
        for case in FOUND
        if case.parent.name == rule and "unstable" not in case.name
        for judged in _check(case, monkeypatch).findings
        if judged.finding.rule == rule
    }
    assert found == set(EVOLUTION_RULES[rule].severities)


@pytest.mark.parametrize("rule", FOLDERS)
def test_findings_read_as_expected(rule: str, monkeypatch: pytest.MonkeyPatch, update_golden: bool) -> None:
    shown = "\n".join(_shown(case, monkeypatch) for case in FOUND if case.parent.name == rule)
    expected = RULE_FOLDERS / rule / "expected.txt"
    if update_golden:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


def _shown(case: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    lines = "".join(f"{line.text}\n" for line in check_lines(_check(case, monkeypatch)))
    return f"--- {case.name} ---\n{lines}"
