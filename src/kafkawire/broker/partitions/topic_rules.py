"""The rules of topics for their records, from the configurations of the topics and of the broker."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration, SetConfigs
from kafkawire.broker.partitions.checked_batch import AppendRules
from kafkawire.broker.partitions.segment import SegmentRules
from kafkawire.broker.resource_configs.descriptions import topic_defaults
from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.definitions import definitions
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.protocol import ConfigRecord, RemoveTopicRecord
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

_UNLIMITED: Final = -1
_UNBOUNDED: Final = (1 << 63) - 1


class CleaningRules(Struct, frozen=True, gc=False):
    """What happens to old records.

    Attributes:
        deletes: whether they are deleted (``cleanup.policy`` has ``delete``).
        compacts: whether they are compacted by key (it has ``compact``).
        retention_ms: how long records are kept (``retention.ms``); -1 for ever.
        retention_bytes: the most bytes of a partition (``retention.bytes``); -1 for any number.
        dirty_ratio: which part must be uncompacted before compaction begins (``min.cleanable.dirty.ratio``).
        tombstones_ms: how long tombstones are kept after compaction has seen them (``delete.retention.ms``).
        least_lag_ms: how long records stay uncompacted at least (``min.compaction.lag.ms``).
        most_lag_ms: how long they stay uncompacted at most (``max.compaction.lag.ms``).
    """

    deletes: bool
    compacts: bool
    retention_ms: int
    retention_bytes: int
    dirty_ratio: float
    tombstones_ms: int
    least_lag_ms: int
    most_lag_ms: int = _UNBOUNDED


class TopicRules(Struct, frozen=True, gc=False):
    """The rules of a topic.

    Attributes:
        records: the requirements on records.
        segments: when a segment ends.
        cleaning: what happens to old records.
        unclean_elections: whether a replica may lead that misses records (``unclean.leader.election.enable``).
    """

    records: AppendRules
    segments: SegmentRules
    cleaning: CleaningRules
    unclean_elections: bool = False


class RulesOfTopics:
    """The rules of each topic, until a configuration changes.

    Args:
        dynamic: the broker's configuration.
        configs: the configurations set for topics.
    """

    def __init__(self, dynamic: DynamicConfiguration, configs: SetConfigs) -> None:
        self._dynamic = dynamic
        self._configs = configs
        self._by_topic: dict[str, TopicRules] = {}

    def of(self, topic: str) -> TopicRules:
        """The rules of a topic, by its name."""
        rules = self._by_topic.get(topic)
        if rules is None:
            rules = self._by_topic[topic] = self._made(topic)
        return rules

    def forget(self, record: Message) -> None:
        """Read the configurations again after a metadata record that changes some; ignore other records."""
        if isinstance(record, ConfigRecord | RemoveTopicRecord):
            self._by_topic.clear()

    def _made(self, topic: str) -> TopicRules:
        values = _Values(self._dynamic, self._configs, topic)
        cleanup = values.strings("cleanup.policy")
        segment_ms, most_lag_ms = values.integer("segment.ms"), values.integer("max.compaction.lag.ms")
        if "compact" in cleanup:  # the last segment is never compacted
            segment_ms = min(segment_ms, most_lag_ms)
        segment_bytes = values.integer("internal.segment.bytes")  # for tests: it has no lower limit
        if segment_bytes == _UNLIMITED:
            segment_bytes = values.integer("segment.bytes")
        return TopicRules(
            AppendRules(
                max_message_bytes=values.integer("max.message.bytes"),
                log_append_time=values.text("message.timestamp.type") == "LogAppendTime",
                needs_keys="compact" in cleanup,
            ),
            SegmentRules(segment_bytes, segment_ms),
            CleaningRules(
                deletes="delete" in cleanup,
                compacts="compact" in cleanup,
                retention_ms=values.integer("retention.ms"),
                retention_bytes=values.integer("retention.bytes"),
                dirty_ratio=values.number("min.cleanable.dirty.ratio"),
                tombstones_ms=values.integer("delete.retention.ms"),
                least_lag_ms=values.integer("min.compaction.lag.ms"),
                most_lag_ms=most_lag_ms,
            ),
            unclean_elections=values.boolean("unclean.leader.election.enable"),
        )


class _Values:
    """The typed values of a topic; a value that Kafka would not accept, from another broker's log, is skipped."""

    def __init__(self, dynamic: DynamicConfiguration, configs: SetConfigs, topic: str) -> None:
        self._own = configs.of(ConfigResourceType.TOPIC, topic)
        self._defaults = topic_defaults(dynamic)

    def strings(self, name: str) -> tuple[str, ...]:
        value = self._value(name)
        return value if isinstance(value, tuple) else ()

    def text(self, name: str) -> str:
        value = self._value(name)
        return value if isinstance(value, str) else ""

    def integer(self, name: str) -> int:
        value = self._value(name)
        return value if isinstance(value, int) else _UNLIMITED

    def boolean(self, name: str) -> bool:
        return self._value(name) is True

    def number(self, name: str) -> float:
        value = self._value(name)
        return float(value) if isinstance(value, int | float) else 0.0

    def _value(self, name: str) -> Value:
        definition = definitions().topic[name]
        for text in (self._own.get(name), self._defaults[name]):
            if text is not None:
                try:
                    return definition.value(name, text)
                except InvalidValueError:
                    continue
        return None
