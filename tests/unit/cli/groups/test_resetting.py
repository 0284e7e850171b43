"""Resets at an embedded broker: the topics and partitions that are named must exist, before the question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    topics = [NewTopic("orders", num_partitions=2), NewTopic("payments", num_partitions=1)]
    with ThreadedBroker({}, topics=topics) as running:
        with BlockingAdminClient(running.bootstrap_servers) as client:
            client.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 0}).all()
        yield running


@pytest.fixture
def groups(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("groups", broker.bootstrap_servers, capsys)


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("nope", "--topic nope: there is no such topic; kafkawire topics list shows those that exist"),
        ("order", "--topic order: there is no such topic; did you mean orders?"),
        ("nope:0", "--topic nope: there is no such topic; kafkawire topics list shows those that exist"),
        ("orders:2", "--topic orders:2: there is no such partition; the last one is 1"),
    ],
)
@pytest.mark.parametrize("execute", [[], ["--execute"]])
def test_a_topic_that_does_not_exist_is_named(topic: str, message: str, execute: list[str], groups: Command) -> None:
    groups.text("reset", "billing", "--to-latest", "--topic", topic, *execute, code=ExitCode.FAILED)
    assert groups.err == f"kafkawire: {message}\n"


def test_partitions_and_whole_topics_are_reset_together(groups: Command) -> None:
    words = ["reset", "billing", "new", "--to-latest", "--topic", "orders:1", "--topic", "payments"]
    rows = groups.rows(*words)
    assert [(row["group"], row["topic"], row["partition"]) for row in rows] == [
        (group, topic, partition)
        for group in ("billing", "new")
        for topic, partition in [("orders", 1), ("payments", 0)]
    ]
    assert groups.err == "nothing was changed; --execute does it\n"
    groups.text(*words, "--execute", code=ExitCode.USAGE)
    assert (
        "reset the offsets of billing, new: there is no terminal to ask on; give --yes, or no --execute to look"
        in groups.err
    )


def test_a_group_that_is_named_twice_is_reset_once(groups: Command, tmp_path: Path) -> None:
    assert len(groups.rows("reset", "billing", "billing", "--to-latest")) == 1
    file = tmp_path / "offsets.csv"
    file.write_text("orders,0,0\n")
    assert len(groups.rows("reset", "billing", "billing", "--from-file", str(file))) == 1
