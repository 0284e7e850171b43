"""Every kind of mistake in documents that declare a cluster's state, as commands print it.

``documents/*.txt`` is what is printed for the document of the same name, which has several mistakes of one kind.
``pytest tests/golden --update-golden`` writes them, and the published JSON Schema, again; read the difference before
committing it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.cli.documents.reading import problem_text
from kafkawire.cli.schema.documents import run as print_schema
from kafkawire.declared.documents.json_schema import json_schema
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.documents.reading import read_documents

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "documents.schema.json"
FOLDER = Path(__file__).parent / "documents"
DOCUMENTS = sorted(path.name for path in FOLDER.glob("*.yaml"))


@pytest.fixture(autouse=True)
def _in_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_mistakes_are_printed_with_place_and_remedy(name: str, *, update_golden: bool) -> None:
    printed = problem_text(read_documents([name]))
    expected = (FOLDER / name).with_suffix(".txt")
    if update_golden:
        expected.write_text(printed, encoding="utf-8")
    assert printed == expected.read_text(encoding="utf-8")


def test_every_rule_has_an_example() -> None:
    found = {problem.rule for name in DOCUMENTS for problem in read_documents([name]).problems}
    assert found == set(Rule)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_secrets_are_not_printed(name: str) -> None:
    declared = read_documents([name])
    printed = problem_text(declared)
    assert "hunter" not in printed
    assert "hunter" not in repr(declared)
    assert not any("hunter" in str(problem) for problem in declared.problems)


def test_published_schema_is_that_of_the_reader(*, update_golden: bool) -> None:
    schema = json.dumps(json_schema(), indent=2) + "\n"
    if update_golden:
        PUBLISHED.write_text(schema, encoding="utf-8")
    assert schema == PUBLISHED.read_text(encoding="utf-8")


def test_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    print_schema()
    assert capsys.readouterr().out == PUBLISHED.read_text(encoding="utf-8")


def test_the_page_has_every_key_and_rule() -> None:
    page = PUBLISHED.with_name("documents.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`([a-zA-Z0-9_-]+)`", page))
    assert {key for key in keys_of(json_schema()) if "." not in key} - {"default", "prefix", "name"} <= words
    assert set(Rule) <= words


def keys_of(schema: object) -> Iterator[str]:
    """The keys of the objects that a schema describes, without the names of configs."""
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False:
            yield from schema.get("properties", ())
        for part in schema.values():
            yield from keys_of(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from keys_of(part)
