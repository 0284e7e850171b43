"""A secret is in no output, trace, error or list of processes, and in no saved plan; a pipe has no colours either."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.eventually import eventually
from tests.made.terminal import TerminalRun

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.description import CommandDescription, Parameter, stored_description
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import AlterUserScramCredentialsRequest
from kafkawire.protocol.errors import UnacceptableCredentialError

PROGRAM = Path(sys.executable).with_name("kafkawire")
SECRETS = ("tulip-of-env", "tulip-of-file", "tulip-of-command")
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"

pytestmark = pytest.mark.usefixtures("ctrl_c")
has_processes = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux's list of processes")


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    properties = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f'{PLAIN} required user_admin="another";',
        "connection.failed.authentication.delay.ms": "0",
    }
    with ThreadedBroker(properties) as running:
        yield running


@pytest.fixture
def client(broker: ThreadedBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.bootstrap_servers) as connected:
        yield connected


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Where each kind of place has its secret."""
    monkeypatch.setenv("KAFKAWIRE_TEST_PASSWORD", SECRETS[0])
    (tmp_path / "secret").write_text(SECRETS[1])
    (tmp_path / "program").write_text(f"#!/bin/sh\necho {SECRETS[2]}\n")
    (tmp_path / "program").chmod(0o700)
    return {"env": "KAFKAWIRE_TEST_PASSWORD", "file": f"{tmp_path}/secret", "command": f"{tmp_path}/program"}


@pytest.fixture
def document(tmp_path: Path, places: Mapping[str, str]) -> str:
    """A topic, and credentials whose secrets are in three places."""
    path = tmp_path / "cluster.yaml"
    path.write_text(
        f"""
topics: {{orders: {{partitions: 3}}}}
users:
  alice: {{SCRAM-SHA-256: {{password: {{env: {places["env"]}}}}}}}
  bob: {{SCRAM-SHA-256: {{password: {{file: {places["file"]}}}}}}}
  carol: {{SCRAM-SHA-256: {{password: {{command: [{places["command"]}]}}}}}}
"""
    )
    return str(path)


@pytest.mark.parametrize("words", [["plan"], ["apply", "--yes"]], ids=" ".join)
def test_a_pipe_has_neither_progress_nor_colours(words: list[str], broker: ThreadedBroker, document: str) -> None:
    run = subprocess.run(
        [PROGRAM, *words, document, "-b", broker.bootstrap_servers, "--verbose"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in run.stdout + run.stderr
    assert "carrying out" not in run.stderr
    assert not secrets_in(run.stdout + run.stderr)


@has_processes
def test_an_apply(broker: ThreadedBroker, document: str) -> None:
    with broker.faults.delay(AlterUserScramCredentialsRequest, seconds=0.5) as slow:
        words = ("apply", document, "--yes", "--verbose", "--set-secrets", "-b", broker.bootstrap_servers)
        with TerminalRun(*words) as run:
            eventually(lambda: slow.hits, bool)
            processes = command_lines()
            assert run.ended() == ExitCode.DONE
    assert "kafkawire" in processes
    assert not secrets_in(run.raw + processes)


def test_a_saved_plan(
    broker: ThreadedBroker, document: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, server = tmp_path / "saved.plan", ("-b", broker.bootstrap_servers, "--verbose")
    assert main(["plan", document, "--set-secrets", "--out", str(saved), *server]) == ExitCode.DONE
    assert main(["apply", str(saved), "--yes", *server]) == ExitCode.DONE
    assert not secrets_in(saved.read_text() + "".join(capsys.readouterr()))


@has_processes
@pytest.mark.parametrize("place", ["env", "file", "command"])
def test_users_set(place: str, broker: ThreadedBroker, places: Mapping[str, str]) -> None:
    words = ("users", "set", "dora", f"--password-{place}", places[place], "--verbose", "-b", broker.bootstrap_servers)
    with (
        broker.faults.delay(AlterUserScramCredentialsRequest, seconds=0.3) as slow,
        subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run,
    ):
        eventually(lambda: slow.hits, bool)
        processes = command_lines()
        shown = "".join(run.communicate(timeout=30))
    assert run.returncode == ExitCode.DONE
    assert "AlterUserScramCredentials" in shown
    assert not secrets_in(shown + processes)


def test_users_set_that_a_broker_refuses(
    broker: ThreadedBroker, places: Mapping[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["users", "set", "dora", "--password-file", places["file"], "--verbose", "-b", broker.bootstrap_servers]
    with broker.faults.refuse(AlterUserScramCredentialsRequest, error=UnacceptableCredentialError):
        assert main(words) == ExitCode.FAILED
    shown = "".join(capsys.readouterr())
    assert "UNACCEPTABLE_CREDENTIAL" in shown
    assert not secrets_in(shown)


@pytest.mark.parametrize(
    "login",
    [
        'mechanism = "PLAIN"\nusername = "admin"\npassword = {env = "%s"}',
        'mechanism = "OAUTHBEARER"\ntoken = {env = "%s"}',
    ],
    ids=["password", "token"],
)
def test_a_login_that_fails(
    login: str,
    broker: ThreadedBroker,
    places: Mapping[str, str],
    config_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config_file.parent.mkdir(parents=True)
    server = broker.address("SASL_PLAINTEXT")
    config_file.write_text(
        f'[contexts.it]\nbootstrap_servers = "{server}"\n[contexts.it.properties]\n'
        f'"security.protocol" = "SASL_PLAINTEXT"\n[contexts.it.login]\n{login % places["env"]}\n'
    )
    for words in (["topics", "list"], ["doctor"]):
        assert main([*words, "--context", "it", "--verbose"]) == ExitCode.FAILED
        shown = "".join(capsys.readouterr())
        assert re.search("sasl|login", shown, re.IGNORECASE)
        assert not secrets_in(shown)


def test_no_option_has_a_secret_as_its_value() -> None:
    """The history of a shell and the list of processes would have it."""
    named = {name: each.metavar for each in options_of(stored_description().root) for name in each.names}
    secret = re.compile(r"--.*(password|secret|token|hmac)")
    assert {name for name in named if secret.match(name)} >= {"--password-env", "--password-file"}
    allowed = {"NAME", "FILE", "WORDS", "NAME=WHERE", ""}  # a variable, a file, a program, any of these, a switch
    assert {name: value for name, value in named.items() if secret.match(name) and value not in allowed} == {}


def options_of(command: CommandDescription) -> Iterator[Parameter]:
    yield from command.parameters
    for each in command.commands.values():
        yield from options_of(each)


def secrets_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


def command_lines() -> str:
    """The words of all processes except for this one."""
    found = []
    for each in Path("/proc").iterdir():
        path = each / "cmdline"
        if each.name.isdigit() and int(each.name) != os.getpid() and os.access(path, os.R_OK):
            found.append(path.read_bytes().decode(errors="replace"))
    return "\n".join(found)
