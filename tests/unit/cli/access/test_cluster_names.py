"""Completion with names of contexts and of a cluster: bounded in time, cached, and safe on a command line."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.admin import BlockingAdminClient, NewTopic, ScramMechanism, ScramUpsertion
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.access import cluster_names
from kafkawire.cli.access.cluster_names import names_of_cluster, names_of_contexts
from kafkawire.cli.completion import VARIABLE, print_replies, replies
from kafkawire.cli.description import CommandDescription, Description, Parameter, stored_description

TOPIC = Parameter(metavar="TOPIC...", repeatable=True, value_list="cluster/topics")
PRINCIPAL = Parameter(names=("--principal",), metavar="PRINCIPAL", value_list="cluster/principals")
CLUSTER = tuple(
    Parameter(names=(name,), metavar="TEXT") for name in ("--bootstrap-server", "--context", "--command-config")
)
COMMAND = CommandDescription(("Describe.",), (TOPIC, PRINCIPAL, *CLUSTER))
DESCRIPTION = Description(CommandDescription(("All.",), commands={"describe": COMMAND}), {})
HEAVY = {"asyncio", "msgspec", "rich", "typer", "kafkawire.admin", "subprocess"}


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with ThreadedBroker() as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as client:
            client.create_topics([NewTopic(name, num_partitions=1) for name in ("orders", "orders-eu", "users")]).all()
            password = ScramUpsertion("alice", ScramMechanism.SCRAM_SHA_256, "secret")
            client.alter_user_scram_credentials([password]).all()
        yield broker.bootstrap_servers


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer than a second to start a process."""
    monkeypatch.setattr(cluster_names, "SECONDS_TO_WAIT", 30.0)


@pytest.mark.usefixtures("config_file", "patient")
def test_names_come_from_the_cluster_that_the_line_names(
    servers: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["describe", "--bootstrap-server", servers, "ord"]
    assert [each.word for each in replies(DESCRIPTION, words)] == ["orders", "orders-eu"]
    monkeypatch.setattr(cluster_names, "_fetch", None)  # from now on only the cache answers
    assert [each.word for each in replies(DESCRIPTION, [*words[:-1], ""])] == ["orders", "orders-eu", "users"]
    host, _, port = servers.partition(":")
    print_replies(DESCRIPTION, "bash", ["describe", "--bootstrap-server", host, ":", port, "us"])
    assert capsys.readouterr().out == "users\n"


@pytest.mark.usefixtures("config_file", "patient")
def test_principals_are_completed_after_the_colon_at_which_bash_breaks_words(
    servers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    host, _, port = servers.partition(":")
    begun = ["describe", "--bootstrap-server", host, ":", port, "--principal"]
    for words, printed in ((["Us"], "User:alice\n"), (["User", ":"], "alice\n"), (["User", ":", "al"], "alice\n")):
        print_replies(DESCRIPTION, "bash", [*begun, *words])
        assert capsys.readouterr().out == printed
    print_replies(DESCRIPTION, "fish", ["describe", "--bootstrap-server", servers, "--principal", "User:a"])
    assert capsys.readouterr().out == "User:alice\n"


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("kind", ["brokers", "groups", "users"])
def test_other_kinds_too(kind: str, servers: str, config_file: Path) -> None:
    config_file.parent.mkdir(parents=True)
    config_file.write_text(f"current = 'a'\n[contexts.a]\nbootstrap_servers = '{servers}'\n")
    assert names_of_cluster(kind, {}) == {"brokers": ["1"], "groups": [], "users": ["alice"]}[kind]


@pytest.mark.usefixtures("config_file", "patient")
def test_the_cache_is_the_users_alone(servers: str, tmp_path: Path) -> None:
    names_of_cluster("topics", {"--bootstrap-server": servers})
    [file] = tmp_path.glob("cache/kafkawire/names/*/topics.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.usefixtures("config_file")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the process goes on by itself
def test_a_cluster_that_does_not_answer_costs_a_second_once(tmp_path: Path) -> None:
    begun = time.monotonic()
    options = {"--bootstrap-server": "192.0.2.1:9092"}  # an address of documentation
    assert names_of_cluster("topics", options) == ()
    assert time.monotonic() - begun < 3
    begun = time.monotonic()
    assert names_of_cluster("topics", options) == ()
    assert time.monotonic() - begun < 0.5
    assert not [*tmp_path.glob("cache/**/*.json")]


@pytest.mark.usefixtures("patient")
def test_old_names_are_better_than_none(servers: str, config_file: Path, tmp_path: Path) -> None:
    config_file.parent.mkdir(parents=True)
    config_file.write_text(f"[contexts.a]\nbootstrap_servers = '{servers}'\n")
    options = {"--context": "a"}
    assert "users" in names_of_cluster("topics", options)
    [file] = tmp_path.glob("cache/**/topics.json")
    file.write_text('["old"]')
    assert names_of_cluster("topics", options) == ["old"]
    os.utime(file, (0, 0))
    assert names_of_cluster("topics", options) == ["old"]  # the last attempt is a moment ago
    os.utime(file.with_suffix(".attempt"), (0, 0))
    assert "users" in names_of_cluster("topics", options)


@pytest.mark.parametrize("content", ["[", "{}", '[1, "a"]', "null"])
@pytest.mark.usefixtures("config_file", "patient")
def test_a_damaged_cache_is_no_error(content: str, servers: str, tmp_path: Path) -> None:
    options = {"--bootstrap-server": servers}
    names_of_cluster("topics", options)
    [file] = tmp_path.glob("cache/**/topics.json")
    file.write_text(content)
    assert [*names_of_cluster("topics", options)] in ([], ["a"])


@pytest.mark.usefixtures("config_file")
def test_without_a_cluster_there_are_no_names() -> None:
    assert names_of_cluster("topics", {}) == ()
    assert names_of_cluster("topics", {"--context": "nothing"}) == ()


def test_contexts_come_from_the_file(config_file: Path) -> None:
    assert names_of_contexts() == []
    config_file.parent.mkdir(parents=True)
    config_file.write_text("[contexts.prod]\n[contexts.test]\n")
    words = ["topics", "list", "--context", "pr"]
    assert [each.word for each in replies(stored_description(), words)] == ["prod"]
    assert [each.word for each in replies(stored_description(), ["context", "use", ""])] == ["prod", "test"]
    config_file.write_text("[")
    assert names_of_contexts() == ()


def test_names_that_a_shell_would_run_are_not_offered() -> None:
    from kafkawire.cli.access.fetched_names import _SAFE  # noqa: PLC0415 heavy, and only for this

    assert _SAFE.fullmatch("User:alice@EXAMPLE.COM")
    for name in ("$(reboot)", "a;b", "a b", "*", "`x`", "a\nb", "~", "-rf", "'", ""):
        assert not _SAFE.fullmatch(name), name


@pytest.mark.usefixtures("patient")
def test_a_cached_completion_imports_little(servers: str, config_file: Path) -> None:
    config_file.parent.mkdir(parents=True)
    config_file.write_text(f"current = 'a'\n[contexts.a]\nbootstrap_servers = '{servers}'\n")
    names_of_cluster("topics", {})
    program = (
        "import sys, json; from kafkawire.cli.access.cluster_names import names_of_cluster, names_of_contexts; "
        "print(json.dumps([names_of_cluster('topics', {}), names_of_contexts(), [*sys.modules]]))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    topics, contexts, modules = json.loads(run.stdout)
    assert (topics, contexts) == (["orders", "orders-eu", "users"], ["a"])
    assert HEAVY.isdisjoint(modules)
    assert VARIABLE not in os.environ
