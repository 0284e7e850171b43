"""``kafkawire quotas`` at an embedded broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import BlockingAdminClient, ClientQuotaEntity
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

BYTES = "producer_byte_rate"


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker({}) as running:
        yield running


@pytest.fixture
def client(broker: ThreadedBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.bootstrap_servers) as connected:
        yield connected


@pytest.fixture
def quotas(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("quotas", broker.bootstrap_servers, capsys)


@pytest.fixture
def filled(quotas: Command) -> Command:
    """A broker with quotas of several entities."""
    quotas.text("set", "--user", "alice", "--user", "bob", f"{BYTES}=1000", "consumer_byte_rate=2000.0")
    quotas.text("set", "--user", "alice", "--client-id", "app", "--client-id-default", "request_percentage=12.5")
    quotas.text("set", "--user-default", f"{BYTES}=500")
    quotas.text("set", "--ip-default", "connection_creation_rate=7")
    return quotas


def names(rows: list[dict[str, object]]) -> list[object]:
    return [row["name"] for row in rows]


def test_each_user_gets_the_quotas_of_the_arguments(filled: Command) -> None:
    rows = filled.rows("describe", "--user", "alice", "--user", "bob")
    assert rows == [
        {"name": f"user {user}", "entity": {"user": user}, "quotas": {"consumer_byte_rate": 2000.0, BYTES: 1000.0}}
        for user in ("alice", "bob")
    ]


def test_a_list_has_all_entities_with_a_part_and_a_description_just_the_named_ones(filled: Command) -> None:
    with_alice = ["user alice", "user alice, client-id app", "user alice, default client-id"]
    assert sorted(map(str, names(filled.rows("list", "--user", "alice")))) == with_alice
    assert names(filled.rows("describe", "--user", "alice")) == ["user alice"]
    assert len(filled.rows("list")) == 6
    assert names(filled.rows("list", "--user-default")) == ["default user"]
    assert names(filled.rows("list", "--ip-default")) == ["default ip"]


def test_an_entity_without_quotas_is_a_failure_of_describe(filled: Command) -> None:
    assert names(filled.rows("describe", "--user", "bob", "--user", "eve", code=ExitCode.SOME_FAILED)) == ["user bob"]
    assert "'user eve': it has no quotas" in filled.err


@pytest.mark.parametrize("form", ["json", "yaml", "jsonl"])
def test_what_describe_prints_is_what_set_reads(form: str, filled: Command, tmp_path: Path) -> None:
    file = tmp_path / "quotas"
    file.write_text(filled.text("describe", "-o", form), "utf-8")
    before = filled.rows("describe")
    assert set(filled.statuses("delete", "--from", str(file), "--yes").values()) == {"done"}
    assert filled.rows("describe") == []
    assert set(filled.statuses("set", "--from", str(file)).values()) == {"done"}
    assert filled.rows("describe") == before


def test_names_on_lines_are_users(quotas: Command, tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("".join(f"user-{number}\n" for number in range(1000)), "utf-8")
    statuses = quotas.statuses("set", "--from", str(file), f"{BYTES}=1000")
    assert len(statuses) == 1000
    assert set(statuses.values()) == {"done"}
    assert len(quotas.rows("list")) == 1000


def test_null_in_a_file_removes_a_quota(filled: Command, tmp_path: Path) -> None:
    file = tmp_path / "change.yaml"
    file.write_text(f"entity: {{user: bob}}\nquotas: {{{BYTES}: null, request_percentage: 50}}\n", "utf-8")
    filled.text("set", "--from", str(file))
    [row] = filled.rows("describe", "--user", "bob")
    assert row["quotas"] == {"consumer_byte_rate": 2000.0, "request_percentage": 50.0}


def test_a_dry_run_says_what_would_change_and_changes_nothing(filled: Command) -> None:
    [row] = filled.rows("set", "--user", "bob", f"{BYTES}=5", "consumer_byte_rate=2000", "--dry-run")
    assert (row["status"], row["reason"]) == ("would be done", f"{BYTES} 1000 → 5")
    [row] = filled.rows("delete", "--user", "bob", BYTES, "--dry-run")
    assert row["reason"] == f"{BYTES} 1000 → none"
    assert filled.rows("describe", "--user", "bob")[0]["quotas"][BYTES] == 1000.0


def test_a_bad_value_fails_for_its_entity_only(quotas: Command, tmp_path: Path) -> None:
    file = tmp_path / "quotas.yaml"
    file.write_text(f"- entity: {{user: a}}\n  quotas: {{{BYTES}: 0.5}}\n- b\n", "utf-8")
    statuses = quotas.statuses("set", "--from", str(file), f"{BYTES}=1", code=ExitCode.SOME_FAILED)
    assert statuses == {"user a": "failed", "user b": "done"}


def test_some_or_all_quotas_of_an_entity_are_deleted(filled: Command) -> None:
    assert filled.statuses("delete", "--user", "alice", "--user", "eve", BYTES, "--yes") == {
        "user alice": "done",
        "user eve": "unchanged",
    }
    assert filled.rows("describe", "--user", "alice")[0]["quotas"] == {"consumer_byte_rate": 2000.0}
    filled.text("delete", "--user", "alice", "--yes")
    assert "user alice" not in names(filled.rows("list"))


def test_effective_quotas_name_the_entity_and_the_bucket(filled: Command) -> None:
    rows = {row["key"]: row for row in filled.rows("effective", "--user", "alice", "--client-id", "app")}
    assert (rows["request_percentage"]["value"], rows["request_percentage"]["set_for"]) == (
        12.5,
        "user alice, client-id app",
    )
    assert rows["request_percentage"]["bucket"] == {"user": "alice", "client-id": "app"}
    assert (rows[BYTES]["set_for"], rows[BYTES]["level"]) == ("user alice", 3)
    assert rows[BYTES]["bucket"] == {"user": "alice", "client-id": ""}
    assert rows["controller_mutation_rate"]["value"] is None
    [row] = filled.rows("effective", "--user", "eve", "--key", BYTES)
    assert (row["value"], row["set_for"]) == (500.0, "default user")
    [row] = filled.rows("effective", "--ip", "10.0.0.7")
    assert (row["value"], row["set_for"]) == (7.0, "default ip")


def test_an_address_of_its_own_is_found_by_its_value(quotas: Command) -> None:
    quotas.text("set", "--ip", "10.0.0.7", "connection_creation_rate=3")
    [row] = quotas.rows("effective", "--ip", "10.0.0.7")
    assert (row["value"], row["set_for"]) == (3.0, "ip 10.0.0.7")
    quotas.text("set", "--ip", "::1", "connection_creation_rate=4")
    [row] = quotas.rows("effective", "--ip", "0:0::1")
    assert (row["value"], row["set_for"]) == (4.0, "ip ::1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["set", f"{BYTES}=1"], "no entity is named; give --user, --client-id, --ip, one of their defaults or --from"),
        (["set", "--user", "a"], "an entity has no quotas; give KEY=VALUE"),
        (["set", "--user", "a", BYTES], f"KEY=VALUE: '{BYTES}': write NAME=VALUE"),
        (["set", "--user", "a", f"{BYTES}=many"], f"{BYTES}: 'many' is no number; give one"),
        (["set", "--user", "", f"{BYTES}=1"], "an entity has an empty name"),
        (["list", "--user", "a", "--ip", "::1"], "Kafka does not combine addresses with users and client ids"),
        (["delete", "--client-id", "x"], ""),
        (["effective"], "no client is named; give --user, --client-id or --ip"),
        (["effective", "--ip", "x"], "--ip: 'x' does not appear to be an IPv4 or IPv6 address"),
    ],
)
def test_wrong_usage_is_said(words: list[str], message: str, quotas: Command) -> None:
    quotas.text(*words, code=ExitCode.USAGE if message else ExitCode.DONE)
    assert quotas.err.startswith(f"kafkawire: {message}" if message else "")


def test_a_deletion_asks(filled: Command, client: BlockingAdminClient) -> None:
    filled.text("delete", "--user", "alice", code=ExitCode.USAGE)
    assert "delete quotas of user alice: there is no terminal to ask on" in filled.err
    assert ClientQuotaEntity(user="alice") in client.describe_client_quotas().union()
