"""What ``apply`` and ``plan`` print in a pipe, and that no secret can be seen anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.terminal import TerminalRun

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import AlterUserScramCredentialsRequest

PROGRAM = Path(sys.executable).with_name("kafkawire")
SECRETS = ("tulip-of-env", "tulip-of-file", "tulip-of-command")
QUESTION = "[y/N] "
CTRL_C, CTRL_D = "\x03", "\x04"
BOLD = "\x1b["

pytestmark = pytest.mark.usefixtures("ctrl_c")


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with ThreadedBroker(properties, topics=["payments-of-the-north"]) as running:
        yield running


@pytest.fixture
def client(broker: ThreadedBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.bootstrap_servers) as connected:
        yield connected


@pytest.fixture
def document(tmp_path: Path) -> str:
    """Topics, a quota, and credentials whose secrets are in three places."""
    (tmp_path / "secret").write_text(SECRETS[1])
    (tmp_path / "program").write_text(f"#!/bin/sh\necho {SECRETS[2]}\n")
    (tmp_path / "program").chmod(0o700)
    path = tmp_path / "cluster.yaml"
    path.write_text(
        f"""
topics: {{orders: {{partitions: 3, configs: {{retention.ms: 604800000}}}}}}
quotas: [{{user: alice, producer_byte_rate: 7}}]
users:
  alice: {{SCRAM-SHA-256: {{password: {{env: PASSWORD_OF_ALICE}}}}}}
  bob: {{SCRAM-SHA-256: {{password: {{file: {tmp_path}/secret}}}}}}
  carol: {{SCRAM-SHA-256: {{password: {{command: [{tmp_path}/program]}}}}}}
"""
    )
    return str(path)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD_OF_ALICE", SECRETS[0])


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
    assert not any(secret in run.stdout + run.stderr for secret in SECRETS)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux's list of processes")
def test_secrets_are_in_no_output_trace_error_or_process_list(
    broker: ThreadedBroker, client: BlockingAdminClient, document: str
) -> None:
    words = ("apply", document, "--yes", "--verbose", "-b", broker.bootstrap_servers)
    with broker.faults.delay(AlterUserScramCredentialsRequest, seconds=1) as slow, TerminalRun(*words) as run:
        while not slow.hits:
            client.list_topics()
        processes = b"".join(path.read_bytes() for path in _command_lines())
        assert run.ended() == ExitCode.DONE
        shown = run.raw + processes.decode(errors="replace")
    assert not any(secret in shown for secret in SECRETS)


def _command_lines() -> Iterator[Path]:
    for each in Path("/proc").iterdir():
        path = each / "cmdline"
        if each.name.isdigit() and int(each.name) != os.getpid() and os.access(path, os.R_OK):
            yield path
