"""How brokers make the topics that they keep for themselves."""

from __future__ import annotations

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.protocol import CreateTopicsRequest

__all__ = ["internal_topic"]

_Topic = CreateTopicsRequest.CreatableTopic
_Config = CreateTopicsRequest.CreatableTopicConfig


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
    return None


def _compacted(name: str, partitions: int, replication_factor: int, compression: str, segment_bytes: int) -> _Topic:
    configs = (
        _Config("cleanup.policy", "compact"),
        _Config("compression.type", compression),
        _Config("segment.bytes", str(segment_bytes)),
    )
    return _Topic(name, partitions, replication_factor, (), configs)
