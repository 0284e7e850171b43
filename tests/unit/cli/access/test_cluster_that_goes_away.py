"""A cluster that goes away while a command runs: the command ends within the time of a call, and says why."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import (
    DescribeClientQuotasRequest,
    ListGroupsRequest,
    MetadataRequest,
    OffsetFetchRequest,
)
from kafkawire.wire import Message

PROGRAM = Path(sys.executable).with_name("kafkawire")
SECONDS = 0.5


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(topics=["orders"]) as running:
        with BlockingAdminClient(running.bootstrap_servers) as client:
            client.alter_consumer_group_offsets("readers", {TopicPartition("orders", 0): 0}).all()
        yield running


@pytest.mark.parametrize(
    ("words", "api"),
    [
        ("export", DescribeClientQuotasRequest),
        ("plan DOCUMENT", DescribeClientQuotasRequest),
        ("reassign watch", MetadataRequest),
        ("groups list --watch 1", ListGroupsRequest),
        ("groups lag readers --watch 1", OffsetFetchRequest),
        ("groups lag readers --watch 1 --total", OffsetFetchRequest),
    ],
)
def test_a_network_that_swallows_packets(
    words: str, api: type[Message], broker: ThreadedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "cluster.yaml"
    document.write_text("quotas: [{user: alice, producer_byte_rate: 7}]")
    given = [str(document) if word == "DOCUMENT" else word for word in words.split()]
    begun = time.monotonic()
    with broker.faults.delay(api, seconds=600):
        assert main([*given, "-b", broker.bootstrap_servers, "--timeout", str(SECONDS)]) == ExitCode.FAILED
    assert time.monotonic() - begun < 10 * SECONDS
    printed = capsys.readouterr()
    assert "timed out after 0." in printed.err
    assert "answer" in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_a_watched_table_ends_with_a_broker_that_ends() -> None:
    with ExitStack() as until_now:
        broker = until_now.enter_context(ThreadedBroker(topics=["orders"]))
        with BlockingAdminClient(broker.bootstrap_servers) as client:
            client.alter_consumer_group_offsets("readers", {TopicPartition("orders", 0): 0}).all()
        words = ["groups", "lag", "readers", "--watch", "0.1", "-o", "jsonl", "-b", broker.bootstrap_servers]
        run = subprocess.Popen(
            [PROGRAM, *words, "--timeout", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        with run:
            assert run.stdout is not None
            assert "rows" in json.loads(run.stdout.readline())
            until_now.close()
            _, said = run.communicate(timeout=20)
    assert run.returncode == ExitCode.FAILED
    assert "group_lag timed out after" in said
    assert "connection refused" in said


def test_a_group_that_cannot_be_read_does_not_end_the_watch_of_others(broker: ThreadedBroker) -> None:
    words = ["groups", "lag", "readers", "writers", "--watch", "0.1", "-o", "jsonl", "-b", broker.bootstrap_servers]
    run = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with run:
        assert run.stdout is not None
        assert run.stderr is not None
        for _ in range(2):
            [row] = json.loads(run.stdout.readline())["rows"]
            assert row["group"] == "readers"
            assert "writers" in run.stderr.readline()
        run.kill()
