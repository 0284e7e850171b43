"""Files that pages show are what their readers expect, and every block of every page is proven somewhere."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.pages.page import FENCED, Block, blocks
from tests.pages.proofs import (
    BY_LANGUAGE,
    IS_DATA,
    LEDGER,
    PAGES,
    ROOT,
    RUN_ELSEWHERE,
    TEXTS,
    Proven,
    ledger,
    with_name,
)

from kafkawire.cli.access.contexts import checked_context
from kafkawire.cli.configs.resources import ConfigItem
from kafkawire.cli.items import given_items
from kafkawire.cli.quotas.entities import QuotaItem
from kafkawire.cli.topics.creating import TopicItem
from kafkawire.cli.users.changing import UserItem
from kafkawire.codegen.evolve.checking.accepted import read_accepted
from kafkawire.codegen.evolve.checking.result import PURPOSES
from kafkawire.codegen.importing.sources import Decision, Release
from kafkawire.codegen.parse.meanings import parse_meanings
from kafkawire.declared.documents.reading import read_texts
from kafkawire.logs import read_alert_rules
from kafkawire.model.configs.broker_names import broker_definition
from kafkawire.model.properties_file import parse_properties

DATA = [proven for proven in LEDGER if proven.test == IS_DATA]
FENCE = re.compile(r"^ *(?:`{3,}|~{3,})", flags=re.MULTILINE)

WORKFLOW = {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
JOB = {
    "name", "permissions", "needs", "if", "runs-on", "environment", "concurrency", "outputs", "env", "defaults",
    "steps", "timeout-minutes", "strategy", "continue-on-error", "container", "services", "uses", "with", "secrets",
}  # fmt: skip
STEP = {
    "id", "if", "name", "uses", "run", "working-directory", "shell", "with", "env", "continue-on-error",
    "timeout-minutes",
}  # fmt: skip
"""The keys that GitHub knows, from its documentation "Workflow syntax for GitHub Actions"."""

ITEMS: Mapping[str, type[object]] = {
    "topics.yaml": TopicItem,
    "configs.yaml": ConfigItem,
    "quotas.yaml": QuotaItem,
    "users.yaml": UserItem,
}
"""Files that commands on many items read."""

OF_KAFKA = {
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
    "super.users",
}


def named(proven: Proven) -> str:
    return f"{proven.page}:{proven.block.line}"


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=with_name)
def test_each_block_is_proven_by_a_test(page: Path) -> None:
    for proven in ledger(page):
        assert proven.test, f"{named(proven)}: say in tests/pages/proofs.py how a block of this kind is proven"
        file, _, function = proven.test.partition("::")
        assert function in functions_of(file), f"{named(proven)}: there is no test {proven.test}"
    assert FENCE.search(FENCED.sub("", page.read_text())) is None, "a fence has no end, or one elsewhere"


def test_every_rule_of_the_list_is_needed() -> None:
    assert set(BY_LANGUAGE) <= {proven.block.language for proven in LEDGER}
    assert set(TEXTS) <= {proven.page for proven in LEDGER if proven.block.language == "text"}
    assert set(RUN_ELSEWHERE) <= {proven.page for proven in LEDGER if proven.block.executed}


def test_a_block_of_an_unknown_kind_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.pages.proofs.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text('=== "Tab"\n\n    ```ruby\n    puts 1\n    ```\n\n```\nbare\n```\n\n```text\nprinted\n```\n')
    assert [(each.block.language, each.block.text, each.test) for each in ledger(page)] == [
        ("ruby", "puts 1\n", None),
        ("", "bare\n", None),
        ("text", "printed\n", None),
    ]


@pytest.mark.parametrize("proven", DATA, ids=named)
def test_data_is_what_its_reader_expects(proven: Proven, tmp_path: Path) -> None:
    READERS[proven.block.language](proven.block, tmp_path)


def read_toml(block: Block, folder: Path) -> None:
    parsed = tomllib.loads(block.text)
    match sorted(parsed):
        case ["accepted"]:
            (folder / "accepted.toml").write_text(block.text)
            assert read_accepted(folder / "accepted.toml", {rule: "" for rules in PURPOSES.values() for rule in rules})
        case ["fields", *_]:
            assert not parse_meanings(block.text, block.title).findings
        case ["contexts", "current"]:
            for name, table in parsed["contexts"].items():
                checked_context(table, name)
        case ["decisions"]:
            msgspec.convert(parsed["decisions"], tuple[Decision, ...])
        case ["rules"]:
            (folder / block.title).write_text(block.text)
            assert read_alert_rules(folder / block.title)
        case ["releases"]:
            msgspec.convert(parsed["releases"], tuple[Release, ...])
        case others:
            pytest.fail(f"say what reads a file with {others}")


def read_properties(block: Block, _folder: Path) -> None:
    names = set(dict(parse_properties(block.text)))
    assert names
    assert [name for name in names - OF_KAFKA if broker_definition(name) is None] == []


def read_yaml(block: Block, folder: Path) -> None:
    """tests/repo/test_schema_checks.py runs those of pre-commit, GitHub and GitLab; this looks at their keys."""
    parsed = next(yaml.safe_load_all(block.text))
    if block.title.startswith(".github/workflows/"):
        keys = {"on" if key is True else key for key in parsed}  # YAML 1.1 reads "on" as a boolean
        assert {"on", "jobs"} <= keys <= WORKFLOW
        for job in parsed["jobs"].values():
            assert "runs-on" in job or "uses" in job
            assert set(job) <= JOB
            check_steps(job.get("steps", []))
    elif block.title in ITEMS:
        (folder / block.title).write_text(block.text, "utf-8")
        assert given_items(folder / block.title, ITEMS[block.title])
    elif not block.title:
        check_steps(parsed)
    elif block.title in {".pre-commit-config.yaml", ".gitlab-ci.yml"}:
        assert parsed
    else:
        assert not read_texts({block.title: block.text}).problems


def check_steps(steps: list[dict[str, Any]]) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    for step in steps:
        assert set(step) <= STEP
        assert ("uses" in step) != ("run" in step)
        if "/kafkawire@" in step.get("uses", ""):
            assert set(step.get("with", {})) <= set(action["inputs"])


def read_json(block: Block, _folder: Path) -> None:
    json.loads(block.text)


READERS: dict[str, Callable[[Block, Path], None]] = {
    "toml": read_toml,
    "properties": read_properties,
    "yaml": read_yaml,
    "json": read_json,
}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("yaml", "- run: a\n  uses: b\n"),
        ("yaml", "- run: a\n  whit: b\n"),
        ("properties", "ssl.keystore.typ=PEM\n"),
        ("toml", '[[releases]]\nversion = "4.4.0"\nabsnt = []\n'),
        ("json", "{"),
    ],
)
def test_wrong_data_is_found(language: str, text: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError)):
        READERS[language](Block(language, "", text, 1), tmp_path)


FAILS = """
from kafkawire.admin import BlockingAdminClient, TopicPartition


def test_fails(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        admin.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 42}).all()
"""


def test_a_report_of_requests_looks_as_shown(tmp_path: Path) -> None:
    page = ROOT / "docs" / "how-to" / "test-with-a-broker.md"
    (shown,) = (block.text for block in blocks(page.read_text()) if block.language == "text")
    (tmp_path / "test_fails.py").write_text(FAILS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_fails.py"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert shown in printed
