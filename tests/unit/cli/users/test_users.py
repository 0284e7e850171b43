"""``kafkawire users`` at an embedded broker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.embedded.filled_state import AUTHORIZER
from tests.made.operator_command import Command

from kafkawire.admin import BlockingAdminClient, ScramCredentials
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

PASSWORD = "correct horse battery staple"
LISTENERS = {
    "listeners": "PLAIN://127.0.0.1:0,LOGIN://127.0.0.1:0",
    "listener.security.protocol.map": "PLAIN:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
}


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker({}) as running:
        yield running


@pytest.fixture
def users(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("SECRET", PASSWORD)
    return Command("users", broker.bootstrap_servers, capsys)


def listed(users: Command) -> dict[str, Any]:
    return {row["user"]: row["iterations"] for row in users.rows("list")}


def test_a_password_is_set_for_several_mechanisms(users: Command) -> None:
    words = ["set", "alice", "--password-env", "SECRET"]
    assert users.statuses(*words) == {"alice SCRAM-SHA-512": "done"}
    words += ["--mechanism", "SCRAM-SHA-256", "--mechanism", "SCRAM-SHA-512", "--iterations", "8192"]
    assert len(users.statuses(*words)) == 2
    assert listed(users) == {"alice": {"SCRAM-SHA-256": 8192, "SCRAM-SHA-512": 8192}}


def test_a_list_without_the_right_to_it_says_which_right(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker(AUTHORIZER) as broker:
        users = Command("users", broker.bootstrap_servers, capsys)
        users.text("list", code=ExitCode.FAILED)
    assert users.err == "kafkawire: a list of users needs the right to DESCRIBE the cluster\n"


def test_a_user_logs_in_with_the_password(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n", "utf-8")
    with ThreadedBroker(LISTENERS) as broker:
        plain = broker.address("PLAIN")
        Command("users", plain, capsys).text("set", "alice", "--password-file", str(file))
        credentials = ScramCredentials("alice", PASSWORD, mechanism="SCRAM-SHA-512")
        with BlockingAdminClient(broker.address("LOGIN"), credentials=credentials) as client:
            assert client.describe_cluster().nodes


@pytest.mark.parametrize(
    "words",
    [
        ["--password-env", "SECRET"],
        ["--password-command", f"{sys.executable} -c \"import os; print(os.environ['SECRET'])\""],
    ],
)
def test_a_password_is_in_no_output(words: list[str], users: Command) -> None:
    out = users.text("set", "alice", *words, "-o", "yaml", "--verbose")
    assert PASSWORD not in out + users.err
    assert listed(users) == {"alice": {"SCRAM-SHA-512": 4096}}


def test_a_generated_password_is_printed_once_for_each_user(users: Command) -> None:
    rows = users.rows("set", "alice", "bob", "--generate")
    assert [(row["user"], row["status"]) for row in rows] == [("alice", "done"), ("bob", "done")]
    assert len({row["password"] for row in rows}) == 2
    assert all(len(row["password"]) == 32 for row in rows)
    assert "password" not in users.rows("set", "eve", "--generate", "--dry-run")[0]
    assert "eve" not in listed(users)


def test_many_users_come_from_a_file(users: Command, tmp_path: Path) -> None:
    (tmp_path / "bob.secret").write_text("xyzzy", "utf-8")
    file = tmp_path / "users.json"
    items = [
        {"user": "alice", "password": PASSWORD, "mechanisms": ["SCRAM-SHA-256"], "iterations": 5000},
        {"user": "bob", "password": {"file": "bob.secret"}},
        {"user": "carol", "generate": True},
        "dave",
    ]
    file.write_text(json.dumps(items), "utf-8")
    out = users.text("set", "--from", str(file), "--password-env", "SECRET", "-o", "jsonl")
    assert PASSWORD not in out
    passwords = {row["user"]: row["password"] for row in map(json.loads, out.splitlines())}
    assert [user for user, password in passwords.items() if password] == ["carol"]
    assert listed(users) == {
        "alice": {"SCRAM-SHA-256": 5000},
        "bob": {"SCRAM-SHA-512": 4096},
        "carol": {"SCRAM-SHA-512": 4096},
        "dave": {"SCRAM-SHA-512": 4096},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"user": "a", "password": {"env": "X", "file": "Y"}}]', "give exactly one of env, file and command"),
        ('[{"user": "a", "password": 5}]', "item 1: password: expected"),
        ('[{"user": "a", "mechanisms": ["PLAIN"]}]', "item 1: mechanisms[0]: invalid enum value"),
        (f'[{{"user": "a", "password": "{PASSWORD}"', "Input data was truncated"),
        ("alice\nalice\n", "alice is given twice; give each user once"),
    ],
)
def test_mistakes_in_a_file_do_not_quote_passwords(text: str, message: str, users: Command, tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text(text, "utf-8")
    users.text("set", "--from", str(file), "--password-env", "SECRET", code=ExitCode.USAGE)
    assert message in users.err
    assert PASSWORD not in users.err


def test_a_dry_run_is_simulated_with_the_rules_of_brokers(users: Command, tmp_path: Path) -> None:
    users.text("set", "alice", "--password-env", "SECRET")
    file = tmp_path / "users.yaml"
    file.write_text("- user: alice\n- user: bob\n- user: eve\n  iterations: 5\n", "utf-8")
    words = ["set", "--from", str(file), "--password-env", "SECRET", "--dry-run"]
    rows = {row["item"]: (row["status"], row["reason"]) for row in users.rows(*words, code=ExitCode.SOME_FAILED)}
    assert rows == {
        "alice SCRAM-SHA-512": ("would be done", "simulated: replaces the password"),
        "bob SCRAM-SHA-512": ("would be done", "simulated: a new credential"),
        "eve SCRAM-SHA-512": ("failed", "Too few iterations; 4096 are needed"),
    }
    assert list(listed(users)) == ["alice"]


def test_users_are_described_and_unknown_ones_have_a_suggestion(users: Command) -> None:
    users.text("set", "alice", "bob", "--password-env", "SECRET")
    [row] = users.rows("describe", "bob", "alise", code=ExitCode.SOME_FAILED)
    assert row == {"user": "bob", "iterations": {"SCRAM-SHA-512": 4096}}
    assert "there is no such user with SCRAM credentials; did you mean alice?" in users.err


def test_one_or_all_credentials_are_deleted_after_a_yes(users: Command) -> None:
    both = ["--mechanism", "SCRAM-SHA-256", "--mechanism", "SCRAM-SHA-512"]
    users.text("set", "alice", "bob", "--password-env", "SECRET", *both)
    users.text("delete", "alice", code=ExitCode.USAGE)
    assert "delete credentials of user alice: there is no terminal to ask on" in users.err
    assert users.statuses("delete", "alice", "--mechanism", "SCRAM-SHA-256", "--dry-run") == {
        "alice SCRAM-SHA-256": "would be done"
    }
    assert users.statuses("delete", "alice", "--mechanism", "SCRAM-SHA-256", "-y") == {"alice SCRAM-SHA-256": "done"}
    assert users.statuses("delete", "alice", "--mechanism", "SCRAM-SHA-256", "-y") == {"alice": "unchanged"}
    rows = users.statuses("delete", "alice", "bob", "eve", "-y", code=ExitCode.SOME_FAILED)
    assert list(rows.values()) == ["done", "done", "done", "failed"]
    assert listed(users) == {}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["set"], "no user is named; give names or --from FILE"),
        (["set", "alice"], "no password is given for alice, and there is no terminal to ask on; give --password-env,"),
        (["set", "alice", "--generate", "--password-env", "X"], "give one of --password-env, --password-file,"),
        (["set", "alice", "--mechanism", "PLAIN"], "--mechanism: "),
        (["set", "alice", "--iterations", "5"], "--iterations: '5' does not fit; give a number from 4096 to 16384"),
        (["delete"], "no user is named; give names or --from FILE"),
    ],
)
def test_wrong_usage_is_said(words: list[str], message: str, users: Command) -> None:
    users.text(*words, code=ExitCode.USAGE)
    assert users.err.startswith(f"kafkawire: {message}")


def test_a_secret_that_is_not_there_is_a_failure(users: Command) -> None:
    users.text("set", "alice", "--password-env", "NO_SUCH_VARIABLE", code=ExitCode.FAILED)
    assert "the environment variable NO_SUCH_VARIABLE is not set" in users.err
