"""The page about saved plans shows one as ``plan`` writes it, and names every field."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.embedded.filled_state import PROPERTIES
from tests.pages.page import blocks

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.declared.saved_plan import SavedPlanError, load_plan

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "saved-plan.md").read_text()
DOCUMENT = """\
topics:
  orders: {partitions: 6, configs: {retention.ms: 604800000}}
users:
  billing: {SCRAM-SHA-512: {password: {env: BILLING_PASSWORD}}}
acls:
  - {principal: "User:billing", topic: orders, operation: read}
"""


def shown() -> dict[str, Any]:
    (block,) = (block for block in blocks(PAGE) if block.language == "json")
    plan: dict[str, Any] = json.loads(block.text)
    return plan


def test_the_page_shows_what_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config_file: Path) -> None:
    assert not config_file.exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLING_PASSWORD", "s3cret")
    Path("cluster.yaml").write_text(DOCUMENT)
    with ThreadedBroker(PROPERTIES) as broker:
        words = ["plan", "cluster.yaml", "--out", "saved.plan", "--super-user", "User:root"]
        words += ["--deny-everyone-if-no-acl", "-b", broker.bootstrap_servers]
        assert main(words) == ExitCode.DONE
    saved = json.loads(Path("saved.plan").read_text())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", saved["created"])
    assert saved["secrets"][0]["reference"]["folder"] == str(tmp_path)
    expected = shown()
    for each in (saved, expected):
        each["cluster_id"] = each["created"] = each["secrets"][0]["reference"]["folder"] = None
    assert saved == expected
    mask = os.umask(0)
    os.umask(mask)
    assert Path("saved.plan").stat().st_mode & 0o777 == 0o666 & ~mask
    assert "s3cret" not in Path("saved.plan").read_text()


def test_the_page_names_every_field() -> None:
    plan = shown()
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert named == {*plan, *plan["items"][0], "reason", "error"}
    assert load_plan(json.dumps(plan).encode(), "x").plan.cluster_id == plan["cluster_id"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "x: a plan of version 2; this kafkawire reads version 1: make it again"),
        ({"more": 1}, "x: not a plan that kafkawire has saved: Object contains unknown field `more`"),
        ({"items": [{"kind": "topics"}]}, "x: not a plan that kafkawire has saved: Object missing required field"),
        ({"authority": {"super_users": "all"}}, r"x: not a plan that kafkawire has saved: Expected `array`"),
    ],
)
def test_another_version_or_form_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SavedPlanError, match=message):
        load_plan(json.dumps({**shown(), **change}).encode(), "x")


def test_a_file_without_a_field_is_refused() -> None:
    for field in shown().keys() - {"format"}:
        with pytest.raises(SavedPlanError):
            load_plan(json.dumps({name: value for name, value in shown().items() if name != field}).encode(), "x")
