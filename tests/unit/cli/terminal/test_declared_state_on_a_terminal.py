"""What a person at a terminal sees of ``apply`` and ``plan``: the question, progress, Ctrl-C, widths, and no secret."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.terminal import TerminalRun

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import AlterClientQuotasRequest, AlterUserScramCredentialsRequest, CreateTopicsRequest

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


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("y\n", ExitCode.DONE),
        ("n\n", ExitCode.FAILED),
        (CTRL_D, ExitCode.FAILED),
        (CTRL_C, ExitCode.INTERRUPTED),
    ],
    ids=["y", "n", "Ctrl-D", "Ctrl-C"],
)
def test_apply_asks_and_only_yes_changes_something(
    answer: str, code: ExitCode, broker: ThreadedBroker, client: BlockingAdminClient, document: str
) -> None:
    with TerminalRun("apply", document, "-b", broker.bootstrap_servers) as run:
        run.until(QUESTION)
        assert run.seen.index("+ create orders") < run.seen.index(QUESTION)
        run.type(answer)
        assert run.ended() == code
        assert "Traceback" not in run.seen
        if code is ExitCode.FAILED:
            assert run.seen.endswith("[y/N] \nnothing was changed\n" if answer == CTRL_D else "nothing was changed\n")
    assert ("orders" in client.list_topics()) == (code is ExitCode.DONE)


def test_ctrl_c_in_the_middle_says_what_was_done_and_the_next_plan_has_the_rest(
    broker: ThreadedBroker, client: BlockingAdminClient, document: str
) -> None:
    server = ("-b", broker.bootstrap_servers)
    with TerminalRun("apply", document, *server, "--only", "topics,quotas") as run:
        run.until(QUESTION)
        with broker.faults.delay(AlterClientQuotasRequest, seconds=60) as delay:
            run.type("y\n")
            while not delay.hits:
                client.list_topics()
            run.type(CTRL_C)
            assert run.ended() == ExitCode.INTERRUPTED
        assert "unknown" in run.seen
        assert "interrupted; run it again for the rest" in run.seen
    with TerminalRun("plan", document, *server, "--only", "topics,quotas") as run:
        assert run.ended() == ExitCode.DONE
        assert "1 to create" in run.seen
        assert "1 unchanged" in run.seen


def test_progress_is_shown_on_a_terminal_and_colours_too(broker: ThreadedBroker, document: str) -> None:
    with (
        broker.faults.delay(CreateTopicsRequest, seconds=0.5),
        TerminalRun("apply", document, "--yes", "-b", broker.bootstrap_servers) as run,
    ):
        assert run.ended() == ExitCode.DONE
        assert "carrying out" in run.seen
        assert BOLD in run.raw


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


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(
    "words",
    [["plan", "DOCUMENT"], ["topics", "describe"], ["acls", "list"], ["groups", "lag", "--all"]],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_line_is_longer_than_the_terminal(
    words: list[str], width: int, broker: ThreadedBroker, client: BlockingAdminClient, document: str
) -> None:
    client.create_acls([AclBinding.of_cluster("User:a-principal-of-the-far-north", AclOperation.DESCRIBE_CONFIGS)])
    given = [document if word == "DOCUMENT" else word for word in words]
    with TerminalRun(*given, "-b", broker.bootstrap_servers, width=width) as run:
        assert run.ended() == ExitCode.DONE
        assert max(map(len, run.drawn)) <= width
        assert run.seen.strip()


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
