"""Automatic creation of topics, and the topics that brokers create for themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.topic_names import unknown_topic_error
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError

_LEFT_TO_BROKER: Final = -1

_Topic = CreateTopicsRequest.CreatableTopic
_Config = CreateTopicsRequest.CreatableTopicConfig


class AutomaticCreation:
    """Creates topics that clients request (``auto.create.topics.enable``).

    Args:
        creation: creates topics.
        configuration: the broker's.
    """

    def __init__(self, creation: TopicCreation, configuration: Values) -> None:
        self._creation = creation
        self._configuration = configuration

    @property
    def is_enabled(self) -> bool:
        """Whether topics are created automatically."""
        return self._configuration.boolean("auto.create.topics.enable")

    async def create(self, names: Iterable[str], take: Callable[[int], None]) -> None:
        """Create topics; errors are ignored, and the topics are missing afterwards.

        Args:
            names: illegal ones are skipped.
            take: takes a number of partitions from a quota; raises ThrottlingQuotaExceededError.
        """
        topics = [
            internal_topic(name, self._configuration) or _Topic(name, _LEFT_TO_BROKER, _LEFT_TO_BROKER)
            async for name in in_slices(names)
            if unknown_topic_error(name) is not ErrorCode.INVALID_TOPIC_EXCEPTION
        ]
        try:
            await self._creation.create(topics, take)
        except PolicyViolationError:
            return


def internal_topic(name: str, configuration: Values) -> _Topic | None:
    """The topic as a broker with this configuration makes it; None for any other topic.

    Args:
        name: of the topic.
        configuration: the broker's.
    """
    number = configuration.integer
    match name:
        case "__consumer_offsets":
            partitions, replicas = number("offsets.topic.num.partitions"), number("offsets.topic.replication.factor")
            return _compacted(name, partitions, replicas, "producer", number("offsets.topic.segment.bytes"))
        case "__transaction_state":
            partitions = number("transaction.state.log.num.partitions")
            replicas = number("transaction.state.log.replication.factor")
            segment_bytes = number("transaction.state.log.segment.bytes")
            return _compacted(name, partitions, replicas, "uncompressed", segment_bytes)
        case "__share_group_state":
            partitions = number("share.coordinator.state.topic.num.partitions")
            replicas = number("share.coordinator.state.topic.replication.factor")
            configs = (
                _Config("cleanup.policy", "delete"),
                _Config("compression.type", "producer"),
                _Config("segment.bytes", str(number("share.coordinator.state.topic.segment.bytes"))),
                _Config("min.insync.replicas", str(number("share.coordinator.state.topic.min.isr"))),
                _Config("retention.ms", "-1"),
            )
            return _Topic(name, partitions, replicas, (), configs)
    return None


def _compacted(name: str, partitions: int, replication_factor: int, compression: str, segment_bytes: int) -> _Topic:
    configs = (
        _Config("cleanup.policy", "compact"),
        _Config("compression.type", compression),
        _Config("segment.bytes", str(segment_bytes)),
    )
    return _Topic(name, partitions, replication_factor, (), configs)
