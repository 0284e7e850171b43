"""Each rule of the definition language, shown on examples.

``rules/<rule id>/`` holds definitions that break the rule and no other (``violation*``), near misses that are
accepted without a word (``accepted*``), and ``expected.txt``, what ``kafkawire schema lint`` prints for the former.
A folder of definitions is checked as a set, a file by itself. ``paths.txt`` names paths that cannot be committed.
``pytest tests/golden --update-golden`` writes ``expected.txt`` again; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.check import RULES
from kafkawire.codegen.parse.load import Definitions, load_paths
from kafkawire.codegen.report.text import render_text

RULE_FOLDERS = Path(__file__).parent / "rules"
ROOT = Path(__file__).parents[2]


def _examples(rule: str, prefix: str) -> list[Path]:
    folder = RULE_FOLDERS / rule
    paths = [path for path in folder.iterdir() if path.name.startswith(prefix)]
    listed = folder / "paths.txt"
    if listed.exists():
        paths.extend(folder / name for name in listed.read_text().split() if name.startswith(prefix))
    return sorted(path.relative_to(ROOT) for path in paths)


def _case(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


FOLDERS = sorted(path.name for path in RULE_FOLDERS.iterdir())
VIOLATIONS = [path for rule in FOLDERS for path in _examples(rule, "violation")]
ACCEPTED = [path for rule in FOLDERS for path in _examples(rule, "accepted")]


@pytest.fixture(autouse=True)
def _in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_every_rule_has_an_example() -> None:
    assert set(FOLDERS) == set(RULES)
    assert {path.parent.name for path in VIOLATIONS} == set(RULES)


@pytest.mark.parametrize("path", VIOLATIONS, ids=_case)
def test_violation_breaks_its_rule_and_no_other(path: Path) -> None:
    found = load_paths([path]).findings
    assert {finding.rule for finding in found} == {path.parent.name}
    assert {finding.severity for finding in found} == {RULES[path.parent.name].severity}


@pytest.mark.parametrize("path", ACCEPTED, ids=_case)
def test_near_miss_is_accepted(path: Path) -> None:
    definitions = load_paths([path])
    assert definitions.findings == ()
    assert definitions.messages


@pytest.mark.parametrize("rule", FOLDERS)
def test_findings_read_as_expected(rule: str, update_golden: bool) -> None:
    shown = _shown(load_paths(_examples(rule, "violation")), rule)
    expected = RULE_FOLDERS / rule / "expected.txt"
    if update_golden:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8")


def _shown(definitions: Definitions, rule: str) -> str:
    """The findings as text, with paths that do not depend on where the examples lie."""
    return render_text(definitions.findings, definitions.sources).replace(f"tests/golden/rules/{rule}/", "")
