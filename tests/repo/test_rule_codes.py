"""Every code that code, tests and documentation cite is an entry of the reference pages.

Codes are ids such as ``wire-uvarint`` and codes of the admin page such as A27. Comments, docstrings, templates and
pages are searched for them. No text cites a numbered section: the reference has names, not numbers. The name of a test
describes a behaviour in words; its docstring cites the code of the admin page.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from kafkawire.codegen.check.catalogue import RULES
from kafkawire.codegen.evolve.change import ChangeKind
from kafkawire.codegen.evolve.rules.catalogue import EVOLUTION_RULES
from kafkawire.codegen.evolve.upstream.rules import UPSTREAM_RULES

ROOT = Path(__file__).parents[2]
PAGES = ("definition-language.md", "wire-format.md", "admin-behaviour.md")
SEARCHED = (
    "src",
    "generator",
    "templates",
    "tests",
    "docs",
    "examples",
    "benchmarks",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
DEFINITIONS = ROOT / "tests" / "golden" / "codegen" / "definitions"

ANCHOR = re.compile(r'<a id="([^"]+)"></a>|^#.*\{ #([a-z0-9-]+) \}$', flags=re.MULTILINE)
ENTRY = re.compile(r'^\| <a id="([^"]+)"></a>`?([A-Za-z0-9-]+)`? \|', flags=re.MULTILINE)
RULE_CODE = re.compile(r"(?<![\w./#-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w-])")
IN_BACKTICKS = re.compile(r"(?<!`)`([a-z][a-z0-9]*(?:-[a-z0-9]+)+)`(?!`)")
ADMIN_CODE = re.compile(r"(?<![\w-])([A-G])(\d{1,2})(?: to \1(\d{1,2}))?(?!\w)")
NAME_OF_TEST = re.compile(r"\bdef (test_\w+)\(")
CODE_IN_NAME = re.compile(r"_[a-g]\d{1,2}(?:_|$)")
FENCE = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)
DOCSTRING = re.compile(r'^ *"""(.*?)"""$', flags=re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)# (?!type: ignore).*$", flags=re.MULTILINE)
JSON_COMMENT = re.compile(r"^\s*//.*$", flags=re.MULTILINE)

SECTION = re.compile(
    r"(?<!RFC \d{4}, )(?<!RFC \d{4} )\b[Ss]ections?\s+\d[\d.]*"
    r"|\b\d[\d.]*(?: and \d[\d.]*)?\s+of\s+the\s+(?:admin\s+)?reference"
    r"|(?<!\w)\((?:[a-z0-9-]+, )?\d{1,2}\.\d{1,2}(?:\.\d)?(?:(?:,| and) \d{1,2}\.\d)*(?:, [a-z0-9-]+)?\)"
)

NO_CODES = frozenset({"default-src", "field-meanings", "set-up", "tagged-field", "type-checked"}) | frozenset(
    get_args(ChangeKind)
)
"""Ordinary words that begin like a code, and the kinds of changes that ``schema diff`` names."""

BROKER_DEVIATIONS = "docs/broker-deviations.md"
"""Has ids of its own; a test of that page holds them."""


def page_text(page: str) -> str:
    return (ROOT / "docs" / "reference" / page).read_text("utf-8")


def anchors(page: str) -> list[str]:
    return [code or heading for code, heading in ANCHOR.findall(page_text(page))]


CODES = frozenset(code for page in PAGES for code, _ in ENTRY.findall(page_text(page)))
FAMILIES = frozenset(code.partition("-")[0] for code in CODES if "-" in code)


def searched() -> Iterator[Path]:
    """The files of the repository that may cite codes."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SEARCHED],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        path = ROOT / name
        is_written = path.suffix in {".py", ".md", ".j2"} or (path.suffix == ".json" and path.parent == DEFINITIONS)
        if is_written and path.is_file() and "expected" not in path.parts:
            yield path


def prose(path: Path) -> str:
    """What a file says to people: comments and docstrings of code, pages without their blocks of code."""
    text = path.read_text("utf-8")
    match path.suffix:
        case ".py":
            return "\n".join((*DOCSTRING.findall(text), *COMMENT.findall(text)))
        case ".md":
            return FENCE.sub("", text)
        case ".json":
            return "\n".join(JSON_COMMENT.findall(text))
        case _:
            return text


def rule_codes(path: Path, text: str) -> set[str]:
    """The ids that a text cites: words in the form of a code whose first part is that of a rule."""
    if path == ROOT / BROKER_DEVIATIONS:
        return set()
    found = (IN_BACKTICKS if path.suffix == ".md" else RULE_CODE).findall(text)
    return {code for code in found if code.partition("-")[0] in FAMILIES} - NO_CODES


def admin_codes(text: str) -> set[str]:
    """The admin codes that a text cites; ``A3 to A10`` cites all between."""
    return {
        f"{letter}{number}".lower()
        for letter, first, last in ADMIN_CODE.findall(text)
        for number in range(int(first), int(last or first) + 1)
    }


def cited(path: Path, text: str) -> set[str]:
    """The codes that the prose of a file cites."""
    return rule_codes(path, text) | admin_codes(text)


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return {path: prose(path) for path in searched()}


def test_an_anchor_is_set_once() -> None:
    counts = Counter(anchor for page in PAGES for anchor in anchors(page))
    assert [anchor for anchor, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_anchor_of_an_entry_is_its_code(page: str) -> None:
    entries = ENTRY.findall(page_text(page))
    assert len(entries) > 100
    assert [code for anchor, code in entries if anchor != code.lower()] == []


def test_every_code_that_is_cited_is_an_entry(texts: dict[Path, str]) -> None:
    codes = {path: cited(path, text) for path, text in texts.items()}
    assert sum(map(len, codes.values())) > 500  # the search finds citations at all
    missing = {path.relative_to(ROOT).as_posix(): sorted(found - CODES) for path, found in codes.items()}
    assert {path: found for path, found in missing.items() if found} == {}


def test_the_name_of_a_test_has_no_code_of_the_admin_page() -> None:
    names = {name for path in searched() for name in NAME_OF_TEST.findall(path.read_text("utf-8"))}
    assert len(names) > 1000
    assert sorted(name for name in names if CODE_IN_NAME.search(name)) == []


@pytest.mark.parametrize(
    ("name", "has_code"),
    [
        ("test_a27_an_acl", True),
        ("test_filters_of_e5", True),
        ("test_text_is_utf_8", False),
        ("test_wire_uvarint_has_5_bytes", False),
    ],
)
def test_codes_in_names_are_found(name: str, has_code: bool) -> None:
    assert bool(CODE_IN_NAME.search(name)) is has_code


@pytest.mark.parametrize("rules", [RULES, EVOLUTION_RULES, UPSTREAM_RULES], ids=["lint", "check", "upstream"])
def test_every_rule_that_findings_name_is_an_entry(rules: dict[str, object]) -> None:
    assert sorted(set(rules) - CODES) == []


def test_codes_in_the_evolution_rules_are_entries() -> None:
    covered = {code for rule in EVOLUTION_RULES.values() for code in rule.covers}
    assert sorted(covered - CODES) == []


def test_the_warnings_of_the_page_are_those_of_lint() -> None:
    _, _, rest = page_text("definition-language.md").partition("\n### Warnings\n")
    listed, _, _ = rest.partition("\n## ")
    warnings = {rule.id for rule in RULES.values() if rule.severity == "warning"}
    assert {anchor for anchor, _ in ENTRY.findall(listed)} == warnings


def test_no_text_cites_a_numbered_section(texts: dict[Path, str]) -> None:
    found = {path.relative_to(ROOT).as_posix(): SECTION.findall(text) for path, text in texts.items()}
    assert {path: sections for path, sections in found.items() if sections} == {}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Lengths are compact (wire-uvarint).", {"wire-uvarint"}),
        ("A rule that is misspelt: tagged-ordr.", {"tagged-ordr"}),
        ("of a well-known user-agent", set()),
        ("A3 to A5, as brokers decide it (B5, 4).", {"a3", "a4", "a5", "b5"}),
        ("UTF-8, U1 and a C3PO", set()),
    ],
)
def test_citations_are_found(text: str, codes: set[str]) -> None:
    assert rule_codes(ROOT / "src" / "any.py", text) | admin_codes(text) == codes


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("Where requests go (section 1.1 of the admin reference).", True),
        ("Rules about one field (5.4).", True),
        ("(value-equals-default, 7.1)", True),
        ("The attributes as tables (1.3 and 2 of the reference).", True),
        ("RFC 7677, section 4: less is too easy to guess.", False),
        ("from brokers that lack it (before 3.3)", False),
    ],
)
def test_sections_are_found(text: str, is_found: bool) -> None:
    assert bool(SECTION.search(text)) is is_found
