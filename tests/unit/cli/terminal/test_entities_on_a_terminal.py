"""What a person at a terminal sees of the commands for topics, quotas and users: questions, passwords, ``--watch``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.made.terminal import TerminalRun

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

PASSWORD = "correct horse"
CTRL_C = "\x03"


pytestmark = pytest.mark.usefixtures("ctrl_c")


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with ThreadedBroker({}, topics=["orders"]) as running:
        yield running.bootstrap_servers


@pytest.fixture
def client(servers: str) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(servers) as connected:
        yield connected


def test_a_password_is_asked_for_twice_and_not_shown(servers: str, client: BlockingAdminClient) -> None:
    with TerminalRun("users", "set", "alice", "-b", servers) as run:
        run.until("Password of alice: ")
        run.type(f"{PASSWORD}\n")
        run.until("The same again: ")
        run.type(f"{PASSWORD}\n")
        assert run.ended() == ExitCode.DONE
        assert PASSWORD not in run.raw
    assert "alice" in client.describe_user_scram_credentials().values()


@pytest.mark.parametrize(
    ("second", "message"), [("another\n", "the two passwords differ"), (f"{CTRL_C}", "")], ids=["differs", "Ctrl-C"]
)
def test_a_password_that_is_not_confirmed_changes_nothing(
    second: str, message: str, servers: str, client: BlockingAdminClient
) -> None:
    with TerminalRun("users", "set", "bob", "-b", servers) as run:
        run.until("Password of bob: ")
        run.type(f"{PASSWORD}\n")
        run.until("The same again: ")
        run.type(second)
        assert run.ended() == (ExitCode.FAILED if message else ExitCode.INTERRUPTED)
        assert message in run.seen
        assert "Traceback" not in run.seen
    assert "bob" not in client.describe_user_scram_credentials().values()


@pytest.mark.parametrize("answer", ["n\n", CTRL_C, "y\n"])
def test_a_deletion_is_done_after_a_yes_only(answer: str, servers: str, client: BlockingAdminClient) -> None:
    client.create_topics([NewTopic("doomed")])
    with TerminalRun("topics", "delete", "doomed", "-b", servers) as run:
        run.until("delete the topic doomed with all records? [y/N] ")
        run.type(answer)
        expected = {"y\n": ExitCode.DONE, CTRL_C: ExitCode.INTERRUPTED}.get(answer, ExitCode.FAILED)
        assert run.ended() == expected
    assert ("doomed" in client.list_topics()) == (answer != "y\n")


def test_no_color_leaves_headings_plain(servers: str) -> None:
    with TerminalRun("topics", "list", "orders", "-b", servers, environment={"NO_COLOR": "1"}) as run:
        assert run.ended() == ExitCode.DONE
        assert "\x1b" not in run.raw


@pytest.mark.parametrize("words", [["groups", "list"], ["groups", "lag", "--all", "--total"]], ids=" ".join)
def test_groups_can_be_watched_too(words: list[str], servers: str, client: BlockingAdminClient) -> None:
    client.alter_consumer_group_offsets("readers", {TopicPartition("orders", 0): 0}).all()
    with TerminalRun(*words, "--watch", "0.1", "-b", servers) as run:
        run.until("readers", times=2)
        run.type(CTRL_C)
        assert run.ended() == ExitCode.INTERRUPTED
