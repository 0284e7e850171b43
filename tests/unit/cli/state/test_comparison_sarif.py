"""``kafkawire diff -o sarif``: a result for each item that differs, where a document declares it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.embedded.filled_state import PROPERTIES, fill
from tests.made.sarif import Result, Run, run_of

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

REAL_LOG = Path("tests/fixtures/kafka-4.3.1/logs").resolve()
DATES = ("--log", str(REAL_LOG), "--from", "2026-11-21T08:36:37", "--to", "2026-11-21T08:37:23.700")


@pytest.fixture(autouse=True)
def _no_contexts(config_file: Path) -> None:
    assert not config_file.exists()


def sarif(capsys: pytest.CaptureFixture[str], *words: str) -> Run:
    assert main(["diff", *words, "-o", "sarif"]) == ExitCode.DONE
    return run_of(capsys.readouterr().out)


def place(result: Result) -> tuple[str, int | None]:
    """The path and the line of a result."""
    (location,) = result.locations
    assert location.physical_location is not None
    region = location.physical_location.region
    return location.physical_location.artifact_location.uri, None if region is None else region.start_line


def test_an_item_is_at_the_line_that_declares_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.yaml").write_text("topics:\n  orders:\n    partitions: 1\n  gone: {}\n")
    Path("new.yaml").write_text("topics:\n  added: {}\n  orders:\n    partitions: 2\n")
    run = sarif(capsys, "old.yaml", "new.yaml")
    assert {(each.rule_id, *place(each)) for each in run.results} == {
        ("topics-added", "new.yaml", 2),
        ("topics-changed", "new.yaml", 3),
        ("topics-removed", "old.yaml", 4),
    }
    (orders,) = [each for each in run.results if each.rule_id == "topics-changed"]
    assert orders.message.text == "orders: changed from old.yaml to new.yaml: partitions: 1 → 2"
    assert orders.locations[0].logical_locations[0].fully_qualified_name == "topics/orders"
    assert orders.properties["values"] == [{"name": "partitions", "left": "1", "right": "2"}]
    assert [rule.id for rule in run.tool.driver.rules] == ["topics-added", "topics-changed", "topics-removed"]


def test_what_no_document_declares_is_at_the_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "topics.yaml").write_text("topics:\n  orders: {}\n")
    run = sarif(capsys, str(tmp_path / "topics.yaml"), f"log:{REAL_LOG}", "--only", "topics")
    missing = [each for each in run.results if each.rule_id == "topics-added"]
    assert missing
    assert {place(each) for each in missing} == {(str(tmp_path / "topics.yaml"), None)}


def test_a_log_at_two_dates_has_a_result_for_each_item(capsys: pytest.CaptureFixture[str]) -> None:
    run = sarif(capsys, *DATES)
    assert {place(each)[1] for each in run.results} == {None}
    assert {place(each)[0].endswith("tests/fixtures/kafka-4.3.1/logs") for each in run.results} == {True}
    main(["diff", *DATES, "-o", "name"])
    assert [each.properties["item"] for each in run.results] == capsys.readouterr().out.splitlines()


def test_clusters_have_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    with (
        ThreadedBroker(PROPERTIES) as one,
        ThreadedBroker(PROPERTIES) as other,
        BlockingAdminClient(one.bootstrap_servers) as admin,
    ):
        fill(admin)
        run = sarif(capsys, one.bootstrap_servers, other.bootstrap_servers)
    assert len(run.results) > 5
    assert {each.locations[0].physical_location for each in run.results} == {None}


def test_equal_sides_have_no_results_and_codes_are_those_of_other_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *DATES[:-1], DATES[3], "--exit-code", "-o", "sarif"]) == ExitCode.DONE
    assert run_of(capsys.readouterr().out).results == []
    assert main(["diff", *DATES, "--exit-code", "-o", "sarif"]) == ExitCode.CHANGES
    assert run_of(capsys.readouterr().out).results
