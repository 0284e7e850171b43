"""The screen of a person who applies a document: question, progress, Ctrl-C, a cluster that goes away."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.made.tmux import PROGRAM, TmuxRun, needs_tmux

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import AlterClientQuotasRequest, AlterUserScramCredentialsRequest

pytestmark = [needs_tmux, pytest.mark.usefixtures("ctrl_c")]

QUOTAS, USERS, ACLS = 1_100, 12, 2
ITEMS = QUOTAS + USERS + ACLS
QUESTION = "[y/N]"
BAR = "━"
ENVIRONMENT = {"PASSWORD": "tulip"}
AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
DYING_BROKER = """
import time
from kafkawire.broker import ThreadedBroker
from kafkawire.protocol import AlterUserScramCredentialsRequest

with ThreadedBroker(%r) as broker, broker.faults.delay(AlterUserScramCredentialsRequest, seconds=600) as slow:
    print(broker.bootstrap_servers, flush=True)
    while not slow.hits:
        time.sleep(0.01)
    print("received", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def servers() -> Iterator[ThreadedBroker]:
    """A broker of a test's own."""
    with ThreadedBroker(AUTHORIZED) as running:
        yield running


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """Quotas, then users, then ACLs: `apply` carries them out in this order."""
    path = tmp_path / "cluster.yaml"
    lines = ["quotas:", *(f"- {{user: user-{number}, producer_byte_rate: 7}}" for number in range(QUOTAS)), "users:"]
    lines += [f"  user-{number}: {{SCRAM-SHA-256: {{password: {{env: PASSWORD}}}}}}" for number in range(USERS)]
    lines += ["acls:"]
    lines += [f"- {{principal: User:{name}, topic: orders, operation: READ}}" for name in ("alice", "bob")]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text("topics: {orders: {partitions: 3}}")
    return path


@pytest.mark.parametrize(
    ("keys", "code", "end"),
    [
        (("n", "Enter"), ExitCode.FAILED, f"{QUESTION} n\nnothing was changed"),
        (("Enter",), ExitCode.FAILED, f"{QUESTION}\nnothing was changed"),
        (("C-d",), ExitCode.FAILED, f"{QUESTION}\nnothing was changed"),
        (("C-c",), ExitCode.INTERRUPTED, f"{QUESTION} ^C"),
        (("y", "Enter"), ExitCode.DONE, f"{QUESTION} y\n1 done"),
    ],
    ids=["no", "empty", "Ctrl-D", "Ctrl-C", "yes"],
)
def test_a_question_and_its_answers(
    keys: tuple[str, ...], code: ExitCode, end: str, servers: ThreadedBroker, small: Path
) -> None:
    with TmuxRun(PROGRAM, "apply", small, "-b", servers.bootstrap_servers) as run:
        run.until("carry this out: 1 to create? [y/N]")
        run.press(*keys)
        assert run.ended() == code
        assert run.screen.endswith(end)
        assert run.shows_cursor()
    with BlockingAdminClient(servers.bootstrap_servers) as client:
        assert ("orders" in client.list_topics()) == (code is ExitCode.DONE)


def test_a_progress_bar_is_drawn_in_place_and_leaves_nothing(servers: ThreadedBroker, document: Path) -> None:
    words = ("apply", document, "--yes", "-b", servers.bootstrap_servers)
    with (
        servers.faults.delay(AlterClientQuotasRequest, seconds=0.3, times=4),
        TmuxRun(PROGRAM, *words, environment=ENVIRONMENT) as run,
    ):
        run.until(f"1000/{ITEMS}")
        [bar] = [line for line in run.lines if BAR in line and "carrying out" in line]
        assert len(bar) <= 80
        assert not run.shows_cursor()
        assert run.ended() == ExitCode.DONE
        assert run.shows_cursor()
        assert run.screen.endswith(f"\n{ITEMS} done")
        assert "carrying out" not in "\n".join(run.lines)


def test_ctrl_c_in_the_middle_says_what_was_done_and_the_next_plan_has_the_rest(
    servers: ThreadedBroker, document: Path
) -> None:
    server = ("-b", servers.bootstrap_servers)
    with (
        servers.faults.delay(AlterUserScramCredentialsRequest, seconds=600),
        TmuxRun(PROGRAM, "apply", document, "--yes", *server, environment=ENVIRONMENT) as run,
    ):
        run.until(f"{QUOTAS}/{ITEMS}")
        run.press("C-c")
        assert run.ended() == ExitCode.INTERRUPTED
        assert run.screen.endswith(
            f"{QUOTAS} done, {USERS} unknown, {ACLS} not tried\nkafkawire: interrupted; run it again for the rest"
        )
        assert "and 2 more" in run.screen
        assert "Traceback" not in "\n".join(run.lines)
        assert run.shows_cursor()
    with TmuxRun(PROGRAM, "plan", document, *server, environment=ENVIRONMENT) as run:
        assert run.ended() == ExitCode.DONE
        assert f"{USERS + ACLS} to create, 0 to change, 0 to delete, 0 impossible, {QUOTAS} unchanged" in run.screen
        created = [line for line in run.lines if line.startswith("  + create ")]
        assert len(created) == USERS + ACLS


def test_a_cluster_that_goes_away_in_the_middle_ends_the_apply_with_what_was_done(document: Path) -> None:
    with broker_of_another_process() as (process, servers):
        words = ("apply", document, "--yes", "-b", servers, "--timeout", "1")
        with TmuxRun(PROGRAM, *words, environment=ENVIRONMENT) as run:
            assert process.stdout is not None
            assert process.stdout.readline() == "received\n"
            process.kill()
            assert run.ended() == ExitCode.SOME_FAILED
            assert run.screen.endswith(
                f"{QUOTAS} done, {USERS} unknown, {ACLS} not tried\n"
                "kafkawire: the cluster did not answer; run it again for the rest"
            )
            assert "not tried" in run.screen
            assert "Traceback" not in "\n".join(run.lines)


@contextmanager
def broker_of_another_process() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A broker that answers no request that sets passwords, and can be killed."""
    program = [sys.executable, "-c", DYING_BROKER % AUTHORIZED]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()
