"""kafka-streams-groups and Java's Admin see the same of the embedded broker and of Apache Kafka, of 4.3 and of 4.4."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.kafka_tool import KafkaTool, Printed, running_kafka_tool
from tests.apache_kafka.releases import is_at_least, releases
from tests.interop.broker.same_answers.streams_members import (
    Endpoint,
    KeyValue,
    Streamer,
    Subtopology,
    TopicInfo,
    Topology,
    create,
    ready,
)
from tests.interop.broker.same_answers.talk import Side, Talk

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.protocol import ProduceRequest, ProduceResponse
from kafkawire.wire.batches.batch import Record
from kafkawire.wire.batches.writer import encode_batch

pytestmark = [pytest.mark.interop, pytest.mark.extended]

TOOL: Final = "org.apache.kafka.tools.streams.StreamsGroupCommand"
NOW: Final = int(time.time() * 1000)
WORDS: Final = Topology(
    0,
    (
        Subtopology("0", ("tool-lines",), repartition_sink_topics=("tool-live-words-repartition",)),
        Subtopology(
            "1",
            ("tool-names",),
            state_changelog_topics=(
                TopicInfo("tool-live-counts-changelog", 0, 0, (KeyValue("cleanup.policy", "compact"),)),
            ),
            repartition_source_topics=(TopicInfo("tool-live-words-repartition", 2),),
        ),
    ),
)
LINES: Final = Topology(
    0,
    (Subtopology("0", ("tool-lines",), state_changelog_topics=(TopicInfo("tool-left-lines-changelog"),)),),
)
TOPICS: Final = {
    "tool-lines": 2,
    "tool-names": 2,  # as many as tasks: the tool asks for the offset of a partition for each
    "tool-live-counts-changelog": 2,
    "tool-live-words-repartition": 2,
    "tool-left-lines-changelog": 2,
}
RECORDS: Final = {("tool-lines", 0): 5, ("tool-lines", 1): 2, ("tool-names", 0): 3}
COMMITTED: Final = {
    "tool-live": {TopicPartition("tool-lines", 0): 3, TopicPartition("tool-names", 0): 3},
    "tool-left": {TopicPartition("tool-lines", 0): 4, TopicPartition("tool-lines", 1): 1},
}
LIVE: Final = ("--group", "tool-live")
LEFT: Final = ("--group", "tool-left")
RESET: Final = ("--reset-offsets", *LEFT, "--all-input-topics")

COMMAND_LINES: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "list": (
        ("--list",),
        ("--list", "--state"),
        ("--list", "--state", "Empty"),
        ("--list", "--state", "Stable,Assigning"),
    ),
    "describe": (
        *(
            ("--describe", *group, *view, *verbose)
            for group in (LIVE, LEFT, ("--group", "tool-none"), (*LIVE, *LEFT))
            for view in ((), ("--state",), ("--members",), ("--offsets",))
            for verbose in ((), ("--verbose",))
        ),
        ("--describe", *LIVE, "--topology"),
        ("--describe", *LIVE, "--members", "--state"),
    ),
    "reset-offsets": (
        (*RESET, "--to-earliest"),
        (*RESET, "--to-earliest", "--dry-run"),
        (*RESET, "--to-latest", "--execute"),
        ("--describe", *LEFT, "--offsets", "--verbose"),
        (*RESET, "--shift-by", "-2", "--execute"),
        (*RESET, "--to-current", "--dry-run", "--export"),
        (*RESET, "--to-offset", "3", "--execute"),
        (*RESET, "--to-datetime", "2020-01-01T00:00:00.000", "--execute"),
        (*RESET, "--by-duration", "PT0S", "--dry-run"),
        ("--reset-offsets", *LEFT, "--input-topic", "tool-lines:1", "--to-earliest", "--execute"),
        ("--reset-offsets", *LEFT, "--input-topic", "tool-lines", "--to-latest", "--dry-run"),
        ("--reset-offsets", *LEFT, "--input-topic", "tool-none", "--to-latest", "--dry-run"),
        ("--describe", *LEFT, "--offsets"),
        ("--reset-offsets", *LIVE, "--all-input-topics", "--to-earliest", "--dry-run"),
        ("--reset-offsets", *LIVE, "--all-input-topics", "--to-earliest", "--execute"),
        ("--reset-offsets", "--group", "tool-none", "--all-input-topics", "--to-earliest", "--execute"),
        (*RESET, "--to-earliest", "--delete-all-internal-topics", "--execute"),
    ),
    "delete-offsets": (
        ("--delete-offsets", *LEFT, "--input-topic", "tool-lines:1"),
        ("--describe", *LEFT, "--offsets"),
        ("--delete-offsets", *LEFT, "--input-topic", "tool-none"),
        ("--delete-offsets", *LIVE, "--input-topic", "tool-lines"),
        ("--delete-offsets", "--group", "tool-none", "--input-topic", "tool-lines"),
        ("--delete-offsets", *LEFT, "--all-input-topics"),
        ("--describe", *LEFT, "--offsets"),
    ),
    "delete": (
        ("--delete", *LIVE),
        ("--delete", "--group", "tool-none"),
        ("--delete", *LEFT),
        ("--list",),
        ("--describe", *LEFT),
        ("--delete", *LIVE, *LEFT),
    ),
}
"""What is compared, in this order: what the last ones change, the first ones do not see."""


def produced(side: Side) -> None:
    """Records at known offsets."""
    with BlockingAdminClient(f"{side.host}:{side.port}") as admin:
        ids = {name: each.topic_id for name, each in admin.describe_topics(["tool-lines", "tool-names"]).all().items()}
    with connected_to(side.host, side.port) as connection:
        for (name, at), count in RECORDS.items():
            topic_id = ids[name]
            assert topic_id is not None
            records = encode_batch([Record(timestamp=NOW, value=b"line") for _ in range(count)])
            partition = ProduceRequest.PartitionProduceData(at, records)
            topic = ProduceRequest.TopicProduceData(topic_id=topic_id, partition_data=(partition,))
            answer = connection.ask(ProduceRequest(None, -1, 30_000, (topic,)), 13, ProduceResponse)
            assert not answer.responses[0].partition_responses[0].error_code


@contextmanager
def groups(side: Side) -> Iterator[None]:
    """A group with two members and one without, until the context ends."""
    talk = Talk(side)
    for name, partitions in TOPICS.items():
        create(talk, name, partitions)
    produced(side)
    ready(talk, "tool-live", streams_num_standby_replicas="1")
    ready(talk, "tool-left")
    with BlockingAdminClient(f"{side.host}:{side.port}") as admin:
        for group, offsets in COMMITTED.items():
            admin.alter_consumer_group_offsets(group, offsets).all()
    members = [
        Streamer(talk, "tool-live", f"member-{name}", WORDS, f"process-{name}", Endpoint(f"host-{name}", 80))
        for name in ("a", "b")
    ]
    for member in members:
        member.join()
    for _ in range(4):
        for member in members:
            member.beat(reports=True)
    left = Streamer(talk, "tool-left", "member-c", LINES)
    left.join()
    left.join()
    left.leave()
    yield
    for member in members:
        member.leave()
    talk.close()


class Seen(NamedTuple):
    """What is seen of a broker's groups.

    Attributes:
        printed: what the tool prints for each command line, by kind.
        described: by Java's Admin: the groups in the list, their descriptions, and what one has committed.
    """

    printed: Mapping[str, Sequence[tuple[str, Printed]]]
    described: tuple[object, ...]


def seen(tool: KafkaTool, java: JavaAdmin, side: Side) -> Seen:
    """What is seen of the groups of a broker, before and after the tool changes them."""
    address = f"{side.host}:{side.port}"
    admin = java.client(address)
    found: dict[str, Sequence[tuple[str, Printed]]] = {}
    with groups(side):
        listed = [each for each in admin.list_groups() if each.group_id.startswith("tool-")]
        described = admin.describe_groups(["tool-live", "tool-left"], "streams")
        offsets = admin.list_group_offsets("tool-left")
        for kind, command_lines in COMMAND_LINES.items():
            answers = tool.run(TOOL, [("--bootstrap-server", address, *words) for words in command_lines])
            found[kind] = [(" ".join(words), answer) for words, answer in zip(command_lines, answers, strict=True)]
    return Seen(found, (listed, described, offsets))


@pytest.fixture(scope="module", params=["4.3", "4.4"])
def both(
    request: pytest.FixtureRequest,
    kafka_brokers: Brokers,
    java_admin: JavaAdmin,
    tmp_path_factory: pytest.TempPathFactory,
) -> Sequence[Seen]:
    """What is seen of Apache Kafka, and of an embedded broker that answers as it."""
    release = next(each for each in releases() if is_at_least(each, request.param))
    kafka = kafka_brokers(release)
    data: Path = tmp_path_factory.mktemp("data")
    with running_kafka_tool(release) as tool, ThreadedBroker(release=request.param, data_dir=data) as broker:
        sides = (Side("Apache Kafka", kafka.host, kafka.port), Side("the embedded broker", broker.host, broker.port))
        return [seen(tool, java_admin, side) for side in sides]


def normalised(words: str, answer: Printed) -> Sequence[str]:
    """The lines without what must differ: ports, spaces to their width, Java's frames, and groups of other tests."""
    lines = [f"$ {words}", f"exit {answer.exit}", *answer.stdout.splitlines(), "stderr:", *answer.stderr.splitlines()]
    if words.startswith("--list"):
        lines = [line for line in lines if line.startswith(("$", "exit", "GROUP", "tool-"))]
    shown = (line for line in lines if not line.startswith(("\tat ", "\t... ")))
    return [re.sub(r" +", " ", re.sub(r"127\.0\.0\.1:\d+", "HOST", line)) for line in shown]


@pytest.mark.parametrize("kind", COMMAND_LINES)
def test_the_tool_prints_the_same(both: Sequence[Seen], kind: str) -> None:
    kafkas, ours = ([line for each in side.printed[kind] for line in normalised(*each)] for side in both)
    different = [*difflib.unified_diff(kafkas, ours, "Apache Kafka", "embedded broker", n=2, lineterm="")]
    if different:
        pytest.fail("\n".join(different), pytrace=False)
    assert any(line.startswith("tool-") or "tool-" in line for line in kafkas if not line.startswith("$")), kafkas


def test_javas_admin_sees_the_same(both: Sequence[Seen]) -> None:
    kafkas, ours = (side.described for side in both)
    assert ours == kafkas
    assert all(kafkas)
