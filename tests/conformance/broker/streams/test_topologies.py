"""Topologies of streams groups: Kafka's own classes find the same tasks, internal topics, problems and errors."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

import msgspec
import pytest
from tests.conformance.broker.streams.kafkas_streams import configure, kafkas_streams

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.topology import InternalTopic, configured_topology
from kafkawire.protocol import StreamsGroupTopologyValue

pytestmark = pytest.mark.conformance

TOPOLOGIES = 3_000
OUTCOMES: Final = (
    b'"problem":null',
    b"Source topics ",
    b"Internal topics are missing: ",
    b" additional topics",
    b"has different number of partitions: expected ",
    b"Following topics do not have the same number of partitions: ",
    b"doesn't match number of partitions ",
    b"There may be loops in the topology",
    b"never used as a sink topic",
    b"No source topics found for subtopology ",
    b"Topic name is invalid: ",
    b'"error":-1,',
)
"""What is in the answers of the program, each several times."""

Shown: TypeAlias = Mapping[str, object]


class RandomTopology:
    """A topology of up to six subtopologies, and the topics that exist: most fit it, some have other counts."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        chance = self._chance
        self._is_careful = chance.random() < 0.7
        count = chance.choice((2, 2, 4, 6))
        self.topics = {
            name: count if chance.random() < 0.9 else chance.randint(1, 9)
            for name in (f"source-{each}" for each in range(chance.choice((8, 8, 8, 5))))
        }
        self._repartition = [f"topic-{chance.randint(0, 99)}-repartition" for _ in range(chance.randint(0, 5))]
        ids = [str(each) for each in chance.sample(range(2_000), chance.randint(1, 6))]
        if chance.random() < 0.02:
            ids.append(ids[0])
        self.value = StreamsGroupTopologyValue(1, [self._subtopology(each) for each in ids])
        self._create_internal(count)

    def _subtopology(self, name: str) -> StreamsGroupTopologyValue.Subtopology:
        chance = self._chance
        sources = [f"source-{each}" for each in chance.sample(range(8), chance.choice((0, 1, 1, 2, 3)))]
        repartition = [self._topic(each) for each in self._some(self._repartition)]
        if not sources and not repartition and self._is_careful:
            sources = ["source-0"]
        changelogs = [
            self._topic(f"topic-{name}-{each}-changelog", 0.02) for each in range(chance.choice((0, 0, 1, 1, 2, 4)))
        ]
        if sources and chance.random() < 0.1:
            changelogs.append(self._topic(sources[0], 0.02))
        sinks = [*self._some(self._repartition)]
        groups = [self._group(len(sources), len(repartition)) for _ in range(chance.choice((0, 0, 1, 2)))]
        return StreamsGroupTopologyValue.Subtopology(
            subtopology_id=name, source_topics=sources, state_changelog_topics=changelogs,
            repartition_sink_topics=sinks, repartition_source_topics=repartition, copartition_groups=groups,
        )  # fmt: skip

    def _some(self, names: Iterable[str]) -> Iterable[str]:
        """Some of the names, each once as a rule."""
        return [name for name in dict.fromkeys(names) for _ in range(self._chance.random() < 0.5 or self._rarely())]

    def _rarely(self) -> bool:
        return not self._is_careful and self._chance.random() < 0.06

    def _topic(self, name: str, is_fixed: float = 0.2) -> StreamsGroupTopologyValue.TopicInfo:
        chance = self._chance
        partitions = chance.choice((2, 2, 4, 6)) if chance.random() < is_fixed else 0
        configs = [
            StreamsGroupTopologyValue.TopicConfig(key, str(chance.randint(0, 9)))
            for key in chance.choices(("cleanup.policy", "retention.ms", "segment.bytes"), k=chance.randint(0, 2))
            if not self._is_careful or key != "segment.bytes"
        ]
        if self._is_careful:
            configs = [*{each.key: each for each in configs}.values()]
        if self._rarely():
            name, partitions = chance.choice((*[("no topic!", partitions)] * 4, (name, -1)))
        return StreamsGroupTopologyValue.TopicInfo(name, partitions, chance.choice((0, 0, 1, 3, -1)), configs)

    def _group(self, sources: int, repartition: int) -> StreamsGroupTopologyValue.CopartitionGroup:
        chance = self._chance
        extra = [chance.choice((-1, 7))] if self._rarely() else []
        return StreamsGroupTopologyValue.CopartitionGroup(
            source_topics=[each for each in range(sources) if chance.random() < 0.7] + extra,
            repartition_source_topics=[each for each in range(repartition) if chance.random() < 0.7],
        )

    def _create_internal(self, count: int) -> None:
        """Let internal topics exist: none, some or all of them, with the partition counts that they shall have."""
        share = self._chance.choice((0.0, 0.0, 0.5, 1.0, 1.0))
        try:
            configured = configured_topology(self.value, self.topics.get)
        except GroupError:
            return
        for name, topic in configured.internal_topics.items():
            if self._chance.random() < share:
                self.topics[name] = topic.partitions if self._chance.random() < 0.97 else count + 1


def test_topologies_mean_what_they_mean_for_kafka() -> None:
    topologies = [RandomTopology(seed) for seed in range(TOPOLOGIES)]
    with kafkas_streams() as kafka:
        answers = kafka.ask([configure(each.value, each.topics) for each in topologies])
    for each, line in zip(topologies, answers, strict=True):
        assert shown(each) == msgspec.json.decode(line), each.value
    found = {outcome: sum(outcome in line for line in answers) for outcome in OUTCOMES}
    assert min(found.values()) > TOPOLOGIES / 400, found


def shown(topology: RandomTopology) -> Shown:
    """What a topology means, as the program shows it."""
    try:
        found = configured_topology(topology.value, topology.topics.get)
    except GroupError as error:
        return {"error": error.code, "message": error.message}
    return {
        "subtopologies": [
            [
                name,
                each.tasks,
                sorted(each.source_topics),
                [_internal(topic) for topic in each.repartition_sources.values()],
                sorted(each.repartition_sinks),
                [_internal(topic) for topic in each.changelogs.values()],
            ]
            for name, each in found.subtopologies.items()
        ],
        "internal": [_created(each) for each in found.internal_topics.values()],
        "problem": found.problem and [found.problem.status, found.problem.detail],
    }


def _internal(topic: InternalTopic) -> list[object]:
    return [topic.name, topic.partitions, topic.replication_factor, [[*each] for each in topic.configs.items()]]


def _created(topic: InternalTopic) -> list[object]:
    return _internal(msgspec.structs.replace(topic, replication_factor=topic.replication_factor or -1))
