"""``kafkawire configs`` at an embedded broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedded.filled_state import AUTHORIZER
from tests.made.operator_command import Command

from kafkawire.admin import NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

PASSWORD = "listener.name.external.ssl.keystore.password"


@pytest.fixture
def configs(capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    topics = [NewTopic("orders", configs={"retention.ms": "86400000"}), NewTopic("orders-eu"), NewTopic("payments")]
    with ThreadedBroker({}, topics=topics) as running:
        yield Command("configs", running.bootstrap_servers, capsys)


def values(configs: Command, *words: str) -> dict[tuple[str, str], str | None]:
    return {(row["resource"], row["config"]): row["value"] for row in configs.rows("describe", *words)}


def test_a_description_has_what_is_set_on_each_resource(configs: Command) -> None:
    assert values(configs, "--topic", "orders", "--topic", "payments") == {("topic orders", "retention.ms"): "86400000"}


def test_named_configs_are_described_wherever_they_are_set(configs: Command) -> None:
    rows = configs.rows("describe", "retention.ms", "no.such", "--topic", "orders*")
    assert [(row["resource_name"], row["source"]) for row in rows] == [
        ("orders", "DYNAMIC_TOPIC_CONFIG"),
        ("orders-eu", "DEFAULT_CONFIG"),
    ]
    assert rows[0]["config_type"] == "LONG"
    assert len(configs.rows("describe", "--topic", "orders", "--all")) > 20


def test_synonyms_and_documentation_are_there_on_request(configs: Command) -> None:
    [row] = configs.rows("describe", "cleanup.policy", "--topic", "orders", "--synonyms", "--documentation")
    assert row["synonyms"] == [{"source": "DEFAULT_CONFIG", "name": "log.cleanup.policy", "value": "delete"}]
    [row] = configs.rows("describe", "retention.ms", "--topic", "orders")
    assert (row["synonyms"], row["documentation"]) == (None, None)
    assert "synonyms" not in configs.text("describe", "retention.ms", "--topic", "orders")


def test_many_keys_of_many_resources_are_set_at_once(configs: Command) -> None:
    statuses = configs.statuses(
        "set", "retention.ms=1000", "segment.ms=500", "--topic", "orders*", "--topic", "payments"
    )
    assert statuses == {"topic orders": "done", "topic orders-eu": "done", "topic payments": "done"}
    assert len(values(configs, "--topic", "*")) == 6


def test_kinds_of_resources(configs: Command) -> None:
    configs.text("set", "min.insync.replicas=1", "--broker-default")
    configs.text("set", "log.cleaner.threads=2", "--broker", "*")
    configs.text("set", "consumer.session.timeout.ms=45000", "--group", "readers")
    configs.text("set", "interval.ms=1000", "--client-metrics", "cpu")
    named = ["--broker-default", "--broker", "1", "--group", "readers", "--client-metrics", "cpu"]
    assert values(configs, *named) == {
        ("all brokers", "min.insync.replicas"): "1",
        ("broker 1", "log.cleaner.threads"): "2",
        ("group readers", "consumer.session.timeout.ms"): "45000",
        ("client metrics cpu", "interval.ms"): "1000",
    }


def test_lists_get_and_lose_entries(configs: Command) -> None:
    key = ("topic orders", "cleanup.policy")
    configs.text("append", "cleanup.policy=compact", "--topic", "orders")
    assert values(configs, "--topic", "orders", "cleanup.policy")[key] == "delete,compact"
    configs.text("subtract", "cleanup.policy=delete", "--topic", "orders")
    assert values(configs, "--topic", "orders", "cleanup.policy")[key] == "compact"
    configs.text("delete", "cleanup.policy", "--topic", "orders")
    assert values(configs, "--topic", "orders", "cleanup.policy")[key] == "delete"


@pytest.mark.parametrize(
    ("words", "preview"),
    [
        (["set", "retention.ms=1000", "segment.ms=604800000"], "retention.ms 86400000 → 1000"),
        (["set", "retention.ms=86400000"], "as it is"),
        (["delete", "retention.ms"], "retention.ms 86400000 → its default"),
        (["append", "cleanup.policy=compact,delete"], "cleanup.policy delete → delete,compact"),
    ],
)
def test_a_dry_run_shows_what_would_be_and_changes_nothing(words: list[str], preview: str, configs: Command) -> None:
    before = values(configs, "--topic", "orders")
    [row] = configs.rows(*words, "--topic", "orders", "--dry-run")
    assert (row["status"], row["reason"]) == ("would be done", preview)
    assert values(configs, "--topic", "orders") == before


def test_a_bad_value_and_an_unknown_topic_fail_by_themselves(configs: Command) -> None:
    words = ["set", "retention.ms=x", "--topic", "orders", "--dry-run"]
    [row] = configs.rows(*words, code=ExitCode.FAILED)
    assert row["error"] == "INVALID_CONFIG"
    words = ["set", "retention.ms=1", "--topic", "orders", "--topic", "payment"]
    rows = configs.rows(*words, code=ExitCode.SOME_FAILED)
    assert [row["status"] for row in rows] == ["done", "failed"]
    assert rows[1]["reason"].endswith("there is no such topic; did you mean payments?")
    configs.text("describe", "--topic", "payment", code=ExitCode.FAILED)
    assert "did you mean payments?" in configs.err


FILE = f"""\
- name: orders
  configs: {{retention.ms: null, segment.ms: 5000}}
- {{type: broker, name: "1", configs: {{{PASSWORD}: hunter2}}}}
"""


def test_a_file_has_resources_of_any_kind_and_secrets_stay_hidden(configs: Command, tmp_path: Path) -> None:
    file = tmp_path / "configs.yaml"
    file.write_text(FILE, "utf-8")
    rows = configs.rows("set", "--from", str(file), "--dry-run")
    assert rows[1]["reason"] == f"{PASSWORD} (hidden) → (hidden)"
    assert configs.statuses("set", "--from", str(file)) == {"topic orders": "done", "broker 1": "done"}
    assert values(configs, "--topic", "orders") == {("topic orders", "segment.ms"): "5000"}
    [row] = configs.rows("describe", "--broker", "1")
    assert (row["config"], row["value"], row["is_sensitive"]) == (PASSWORD, None, True)
    assert "hunter2" not in configs.text("describe", "--broker", "*", "-o", "wide")


def test_a_password_is_not_taken_from_the_words_of_a_command(configs: Command) -> None:
    configs.text("set", f"{PASSWORD}=hunter2", "--broker-default", code=ExitCode.USAGE)
    assert "other users can read the words of a command" in configs.err
    assert "hunter2" not in configs.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["describe"], "no resource is named; give --topic, --broker, --broker-default, --group or another kind"),
        (["set", "a=1"], "no resource is named; "),
        (["set", "--topic", "orders"], "a resource has no configs to set; give CONFIG=VALUE"),
        (["delete", "--topic", "orders"], "no config is named; give names"),
        (["describe", "--broker", "one"], "--broker: 'one' does not fit; give the id of a broker, or '*'"),
        (["append", "x", "--topic", "orders"], "CONFIG=ENTRY: 'x': write NAME=VALUE"),
    ],
)
def test_wrong_usage_is_said(words: list[str], message: str, configs: Command) -> None:
    configs.text(*words, code=ExitCode.USAGE)
    assert configs.err.startswith(f"kafkawire: {message}")


@pytest.mark.parametrize(
    "words",
    [["configs", "describe", "--broker", "9"], ["configs", "set", "a=1", "--broker-logger", "9"]]
    + [["cluster", command, "--node", "9"] for command in ("log-dirs", "api-versions", "features")],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_node_that_does_not_live_is_said_at_once(
    words: list[str], configs: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "-b", configs.servers]) == ExitCode.FAILED
    assert "the cluster has no live node 9; live nodes: 1\n" in capsys.readouterr().err


def test_a_message_names_the_resource_and_no_object(configs: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["configs", "describe", "--topic", "nope", "-b", configs.servers]) == ExitCode.FAILED
    error = capsys.readouterr().err
    assert "nope" in error
    assert "ConfigResource" not in error


def test_configs_that_cannot_be_read_are_not_said_to_be_unset(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker(AUTHORIZER) as broker:
        configs = Command("configs", broker.bootstrap_servers, capsys)
        assert configs.text("describe", "--topic", "orders", code=ExitCode.FAILED) == ""


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
def test_a_config_that_is_not_set_is_not_said_to_be_deleted(option: str, configs: Command) -> None:
    done = "would be done" if option == "--dry-run" else "done"
    words = ["delete", "retention.ms", "retention.mss", "--topic", "orders", "--topic", "payments", option]
    orders, payments = configs.rows(*words)
    assert (orders["status"], orders["reason"].rpartition("; ")[2]) == (done, "retention.mss is not set there")
    assert (payments["status"], payments["reason"]) == ("unchanged", "retention.ms, retention.mss are not set there")
    [row] = configs.rows("delete", "segment.ms", "--topic", "orders", option)
    assert (row["status"], row["reason"]) == ("unchanged", "segment.ms is not set there")
    [row] = configs.rows("delete", "metrics", "--client-metrics", "none", option)
    assert (row["status"], row["reason"]) == ("unchanged", "metrics is not set there")
    [row] = configs.rows("delete", "retention.ms", "--topic", "nope", option, code=ExitCode.FAILED)
    assert row["error"] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_dry_run_shows_levels_of_loggers(configs: Command) -> None:
    [row] = configs.rows("set", "root=DEBUG", "--broker-logger", "1", "--dry-run")
    assert row["reason"] == "root WARN → DEBUG"
