"""An application of Kafka Streams at the embedded broker, whose instances come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import is_at_least, newest_broker_release, releases

from kafkawire.admin import BlockingAdminClient, NewTopic, OffsetSpec
from kafkawire.broker import ThreadedBroker
from kafkawire.model.partitions import TopicPartition

pytestmark = [pytest.mark.interop, pytest.mark.extended]

SOURCES = Path(__file__).parents[2] / "java" / "streams"
NO_DELAY = {"group.initial.rebalance.delay.ms": "0"}
PROMPT = {
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.heartbeat.interval.ms": "300",
    "group.streams.min.heartbeat.interval.ms": "300",
    "group.streams.num.standby.replicas": "1",
}
PARTITIONS = 3
ROUNDS, LINES, WORDS = 4, 200, 17
PROPERTIES = {
    "application.id": "words",
    "num.stream.threads": "2",
    "commit.interval.ms": "100",
    "repartition.purge.interval.ms": "100",
    "consumer.auto.offset.reset": "earliest",
}
CLASSIC = {"num.standby.replicas": "1", "consumer.session.timeout.ms": "6000"}
STREAMS = {"group.protocol": "streams"}


@pytest.mark.parametrize(
    ("of_broker", "own", "release", "offered"),
    [
        pytest.param(NO_DELAY, CLASSIC, newest_broker_release(), None, id="classic-group"),
        *(
            pytest.param(PROMPT, STREAMS, each, None, id=f"streams-group-{each}")
            for each in releases()
            if is_at_least(each, "4.2")
        ),
        *(
            pytest.param(PROMPT, STREAMS, each, "4.4", id=f"streams-group-{each}-at-4.4")
            for each in releases()
            if is_at_least(each, "4.3")
        ),
    ],
)
def test_words_are_counted_exactly_once_while_instances_come_and_go(
    of_broker: Mapping[str, str], own: Mapping[str, str], release: str, offered: str | None, tmp_path: Path
) -> None:
    first, second = ([f"w{number // divisor % WORDS}" for number in range(ROUNDS * LINES)] for divisor in (1, 3))
    expected = Counter(first + second)
    with (
        ThreadedBroker(of_broker, data_dir=tmp_path / "broker", release=offered) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):
        admin.create_topics([NewTopic(name, PARTITIONS) for name in ("lines", "counts")]).all()
        *counts, written = run_word_count(broker, tmp_path, own, release)
        assert dict(line.split() for line in counts) == {word: str(count) for word, count in expected.items()}
        assert int(written) == expected.total(), "each word is counted once"
        internal = {"words-counts-changelog", "words-words-repartition"}
        assert set(admin.list_topics(include_internal=False)) == {"lines", "counts", *internal}
        repartitioned = [TopicPartition("words-words-repartition", number) for number in range(PARTITIONS)]
        beginnings = admin.list_offsets(dict.fromkeys(repartitioned, OffsetSpec.EARLIEST)).all()
        assert any(listed.offset for listed in beginnings.values()), "what was read is deleted"


def run_word_count(broker: ThreadedBroker, folder: Path, own: Mapping[str, str], release: str) -> list[str]:
    """What the program prints: each word with its count, and how many counts it wrote."""
    properties = {
        **PROPERTIES,
        **own,
        "bootstrap.servers": broker.bootstrap_servers,
        "processing.guarantee": "exactly_once_v2",
        "state.dir": str(folder / "state"),
    }
    file = folder / "application.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), "utf-8")
    return run_tool(release, "WordCount", str(file), plugins=[compiled(release, SOURCES)]).splitlines()
