"""The topology of a streams group as administrators see it."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology, InternalTopic
from kafkawire.model.java_order import in_java_order
from kafkawire.protocol import StreamsGroupDescribeResponse, StreamsGroupTopologyValue

Topology = StreamsGroupDescribeResponse.Topology
Subtopology = StreamsGroupDescribeResponse.Subtopology
Topic = StreamsGroupDescribeResponse.TopicInfo


def described_topology(group: StreamsGroup) -> Topology | None:
    """The topology with partition counts if it is ready, else as members sent it; None if it is not known."""
    topology, configured = group.state.topology, group.configured
    if topology is None:
        return None
    if configured is not None and configured.is_ready:
        subtopologies = (_configured(*each) for each in sorted(configured.subtopologies.items()))
        return Topology(topology.epoch, tuple(subtopologies))
    in_order = sorted(topology.subtopologies, key=lambda each: each.subtopology_id)
    return Topology(topology.epoch, tuple(map(_recorded, in_order)))


def _configured(subtopology_id: str, subtopology: ConfiguredSubtopology) -> Subtopology:
    return Subtopology(
        subtopology_id,
        tuple(sorted(subtopology.source_topics)),
        tuple(sorted(subtopology.repartition_sinks)),
        _in_order(map(_topic, subtopology.changelogs.values())),
        _in_order(map(_topic, subtopology.repartition_sources.values())),
    )


def _recorded(subtopology: StreamsGroupTopologyValue.Subtopology) -> Subtopology:
    return Subtopology(
        subtopology.subtopology_id,
        tuple(sorted(subtopology.source_topics)),
        tuple(sorted(subtopology.repartition_sink_topics)),
        _in_order(map(_recorded_topic, subtopology.state_changelog_topics)),
        _in_order(map(_recorded_topic, subtopology.repartition_source_topics)),
    )


def _topic(topic: InternalTopic) -> Topic:
    config = StreamsGroupDescribeResponse.KeyValue
    configs = tuple(config(name, topic.configs[name]) for name in in_java_order(topic.configs))
    return Topic(topic.name, topic.partitions, topic.replication_factor, configs)


def _recorded_topic(topic: StreamsGroupTopologyValue.TopicInfo) -> Topic:
    config = StreamsGroupDescribeResponse.KeyValue
    configs = tuple(config(each.key, each.value) for each in topic.topic_configs)
    return Topic(topic.name, topic.partitions, topic.replication_factor, configs)


def _in_order(topics: Iterable[Topic]) -> tuple[Topic, ...]:
    return tuple(sorted(topics, key=lambda each: each.name))
