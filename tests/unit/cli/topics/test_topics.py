"""``kafkawire topics`` at an embedded broker."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    topics = [
        NewTopic("orders", num_partitions=3, configs={"retention.ms": "86400000"}),
        NewTopic("orders-eu", num_partitions=1),
        NewTopic("payments", num_partitions=2),
    ]
    with ThreadedBroker({}, topics=topics) as running:
        yield running


@pytest.fixture
def client(broker: ThreadedBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.bootstrap_servers) as connected:
        yield connected


@pytest.fixture
def topics(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("topics", broker.bootstrap_servers, capsys)


def test_all_topics_are_listed_with_their_numbers(topics: Command) -> None:
    rows = topics.rows("list")
    assert [row["name"] for row in rows] == ["orders", "orders-eu", "payments"]
    assert (rows[0]["partitions"], rows[0]["replication_factor"], rows[0]["under_replicated"]) == (3, 1, 0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["orders"], ["orders"]),
        (["orders*"], ["orders", "orders-eu"]),
        (["payments", "orders-??"], ["payments", "orders-eu"]),
        (["--regex", ".*s"], ["orders", "payments"]),
        (["--under-replicated"], []),
        (["--unavailable"], []),
        (["--under-min-isr"], []),
        (["--at-min-isr"], ["orders", "orders-eu", "payments"]),
        (["--with-overrides"], ["orders"]),
        (["no-such-*"], []),
    ],
)
def test_names_patterns_and_states_choose_topics(words: list[str], expected: list[str], topics: Command) -> None:
    assert topics.text("list", *words, "-o", "name").splitlines() == expected


def test_overrides_are_in_the_row(topics: Command) -> None:
    [row] = topics.rows("list", "--with-overrides")
    assert row["overrides"] == {"retention.ms": "86400000"}


def test_an_unknown_name_suggests_another_and_some_failed(topics: Command) -> None:
    [row] = topics.rows("list", "payments", "order", code=ExitCode.SOME_FAILED)
    assert row["name"] == "payments"
    assert topics.err == (
        "kafkawire: UNKNOWN_TOPIC_OR_PARTITION (3): 'order': there is no such topic; did you mean orders?\n"
    )
    assert topics.rows("describe", "order", code=ExitCode.FAILED) == []


def test_a_malformed_expression_is_wrong_usage(topics: Command) -> None:
    topics.text("list", "--regex", "(", code=ExitCode.USAGE)
    assert "--regex: missing ), unterminated subpattern" in topics.err


def test_a_description_has_partitions_and_configs_with_their_source(topics: Command) -> None:
    [row] = topics.rows("describe", "orders")
    assert (row["topic"], row["partition_count"], row["replication_factor"]) == ("orders", 3, 1)
    assert [each["partition"] for each in row["partitions"]] == [0, 1, 2]
    assert row["partitions"][0]["leader"] == row["partitions"][0]["replicas"][0]
    assert {"name": "retention.ms", "value": "86400000", "source": "DYNAMIC_TOPIC_CONFIG"} in row["configs"]


def test_a_description_for_people_has_sections(topics: Command) -> None:
    text = topics.text("describe", "orders", "payments")
    assert text.count("partitions:\n") == 2
    assert "retention.ms" in text


def test_topics_are_created_with_numbers_and_configs(topics: Command, client: BlockingAdminClient) -> None:
    words = ["create", "a", "b", "--partitions", "4", "--config", "retention.ms=1000", "--config", "x=", "--wait"]
    rows = topics.rows(*words[:-3], "--wait")
    assert [(row["item"], row["status"], row["reason"]) for row in rows] == [
        ("a", "done", "4 partitions, replication factor 1"),
        ("b", "done", "4 partitions, replication factor 1"),
    ]
    assert len(client.describe_topics(["a"])["a"].partitions) == 4


def test_a_dry_run_creates_nothing(topics: Command, client: BlockingAdminClient) -> None:
    assert topics.statuses("create", "a", "--dry-run") == {"a": "would be done"}
    assert "a" not in client.list_topics()


def test_what_exists_fails_unless_it_may(topics: Command) -> None:
    assert topics.statuses("create", "orders", "new", code=ExitCode.SOME_FAILED) == {"orders": "failed", "new": "done"}
    assert topics.statuses("create", "orders", code=ExitCode.FAILED) == {"orders": "failed"}
    assert topics.statuses("create", "orders", "--if-not-exists") == {"orders": "unchanged"}


def test_brokers_of_partitions_are_given_as_to_kafkas_tool(topics: Command, client: BlockingAdminClient) -> None:
    assert topics.statuses("create", "placed", "--replica-assignment", "1,1") == {"placed": "done"}
    assert [each.replicas for each in client.describe_topics(["placed"])["placed"].partitions] == [(1,), (1,)]
    topics.text("create", "other", "--replica-assignment", "1,x", code=ExitCode.USAGE)
    assert "--replica-assignment: '1,x' does not fit" in topics.err
    topics.text("create", "other", "--replica-assignment", "1", "--partitions", "2", code=ExitCode.USAGE)
    assert "leave --partitions and --replication-factor out" in topics.err


FILES = {
    "names": "# of the team\nclicks\n\nviews\n",
    "yaml": "- name: clicks\n  partitions: 2\n  configs: {retention.ms: 1000, preallocate: true}\n- views\n",
    "yaml documents": "name: clicks\npartitions: 2\n---\nname: views\n",
    "yaml in braces": "{name: clicks, partitions: 2}\n",
    "yaml in brackets": "[{name: clicks}, views]\n",
    "json": '[{"name": "clicks", "assignments": {"0": [1]}}, "views"]',
    "jsonl": '{"name": "clicks"}\n{"name": "views", "replication_factor": 1}\n',
    "one json": '{"name": "clicks"}',
}


@pytest.mark.parametrize("form", FILES)
def test_topics_come_from_a_file(form: str, topics: Command, tmp_path: Path) -> None:
    file = tmp_path / "topics"
    file.write_text(FILES[form], "utf-8")
    expected = {"clicks": "done", "views": "done"} if "views" in FILES[form] else {"clicks": "done"}
    assert topics.statuses("create", "--from", str(file)) == expected
    assert topics.text("list", "--from", str(file), "-o", "name").split() == list(expected)


def test_topics_come_from_standard_input(topics: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"clicks\nviews\n")))
    assert topics.statuses("create", "--from", "-") == {"clicks": "done", "views": "done"}


MISTAKES = {
    '[{"nam": "x"}]': "item 1: object contains unknown field nam",
    "- name: x\n- partitions: 2\n": "item 2: object missing required field name",
    "- name: x\n  partitions: many\n": "item 1: partitions: expected int | null, got str",
    "name: [": ": did not find expected node content",
    '{"name": "x"}\n{"name": \n': ":2: ",
    "[" * 100_000: "nested too deeply",
    "- " * 100_000: "nested too deeply",
    "- a: " + "[" * 100 + "]" * 100: "nested too deeply",
    "\xff": "byte 0xff is not UTF-8; save the file as UTF-8",
}


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: text[:20])
def test_mistakes_in_a_file_are_wrong_usage(text: str, topics: Command, tmp_path: Path) -> None:
    file = tmp_path / "topics"
    file.write_bytes(text.encode("latin-1"))
    topics.text("create", "--from", str(file), code=ExitCode.USAGE)
    assert topics.err.startswith(f"kafkawire: {file}")
    assert MISTAKES[text] in topics.err


def test_partitions_are_added_and_configs_changed(topics: Command) -> None:
    rows = topics.rows("alter", "orders", "payments", "--partitions", "3", "--set", "segment.ms=5000")
    assert [(row["item"], row["action"], row["status"]) for row in rows] == [
        ("orders", "add partitions", "unchanged"),
        ("payments", "add partitions", "done"),
        ("orders", "change configs", "done"),
        ("payments", "change configs", "done"),
    ]
    topics.rows("alter", "orders", "--delete", "retention.ms")
    [row] = topics.rows("list", "orders", "--with-overrides")
    assert row["overrides"] == {"segment.ms": "5000"}


def test_fewer_partitions_and_bad_values_fail_also_dry(topics: Command) -> None:
    rows = topics.rows("alter", "orders", "--partitions", "1", "--dry-run", code=ExitCode.FAILED)
    assert rows[0]["error"] == "INVALID_PARTITIONS"
    rows = topics.rows("alter", "orders*", "--set", "retention.ms=x", "--dry-run", code=ExitCode.FAILED)
    assert [row["error"] for row in rows] == ["INVALID_CONFIG"] * 2


def test_changes_of_a_file_have_configs_to_remove(topics: Command, tmp_path: Path) -> None:
    file = tmp_path / "changes.yaml"
    file.write_text("- name: orders*\n  configs: {segment.ms: 7}\n- name: orders\n  configs: {retention.ms: null}\n")
    assert topics.statuses("alter", "--from", str(file)) == {"orders": "done", "orders-eu": "done"}
    assert {row["name"]: row["overrides"] for row in topics.rows("list", "--with-overrides")} == {
        "orders": {"segment.ms": "7"},
        "orders-eu": {"segment.ms": "7"},
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alter", "orders"], "no change is given; give --partitions, --set or --delete"),
        (["alter", "--partitions", "2"], "no topic is named; give names, patterns, --regex or --from FILE"),
        (["alter", "orders", "--set", "x"], "--set: 'x': write NAME=VALUE"),
        (["alter", "orders", "--set", "x=1", "--set", "x=2"], "--set: x is given twice; give it once"),
        (["create"], "no topic is named; give names or --from FILE"),
        (["delete"], "no topic is named; give names, patterns, --regex or --from FILE"),
        (["delete", "orders"], "delete the topic orders with all records: there is no terminal to ask on"),
    ],
)
def test_wrong_usage_is_said(words: list[str], message: str, topics: Command) -> None:
    topics.text(*words, code=ExitCode.USAGE)
    assert topics.err.startswith(f"kafkawire: {message}")


def test_topics_are_deleted_after_a_yes(topics: Command, client: BlockingAdminClient) -> None:
    words = ["delete", "orders*", "nope", "--yes"]
    assert topics.statuses(*words, "--dry-run", code=ExitCode.SOME_FAILED) == {
        "orders": "would be done",
        "orders-eu": "would be done",
        "nope": "failed",
    }
    assert len(client.list_topics()) == 3
    assert set(topics.statuses(*words, "--if-exists").values()) == {"done", "unchanged"}
    assert list(client.list_topics()) == ["payments"]


def test_a_config_is_set_or_removed_and_not_both(topics: Command) -> None:
    words = ("alter", "orders", "--set", "retention.ms=5", "--delete", "retention.ms")
    topics.text(*words, code=ExitCode.USAGE)
    assert topics.err == "kafkawire: --set and --delete both name retention.ms; give one of them\n"


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
def test_a_config_that_is_not_set_is_not_said_to_be_removed(option: str, topics: Command) -> None:
    [row] = topics.rows("alter", "orders", "--delete", "retention.mss", option)
    assert (row["status"], row["reason"]) == ("unchanged", "retention.mss is not set there")
