"""The limit of bytes a second at which replicas move (KIP-73): set on brokers and topics, and removed after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, ConfigSource, TopicPartition

LEADER_RATE: Final = "leader.replication.throttled.rate"
FOLLOWER_RATE: Final = "follower.replication.throttled.rate"
LEADER_REPLICAS: Final = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS: Final = "follower.replication.throttled.replicas"

_RATES: Final = (LEADER_RATE, FOLLOWER_RATE)
_SET_THERE: Final = frozenset({ConfigSource.DYNAMIC_TOPIC_CONFIG, ConfigSource.DYNAMIC_BROKER_CONFIG})
_REPLICAS: Final = (LEADER_REPLICAS, FOLLOWER_REPLICAS)


def set_throttle(
    client: BlockingAdminClient,
    before: Mapping[TopicPartition, Sequence[int]],
    after: Mapping[TopicPartition, Sequence[int]],
    bytes_per_second: int,
    timeout: float,
) -> None:
    """Limit the copies of a reassignment; other replication goes on as it does.

    Args:
        client: of the cluster.
        before, after: brokers of the partitions that move.
        bytes_per_second: of each broker, sent and received.
        timeout: seconds of a call.

    Raises:
        ExceptionGroup: a limit was refused.
    """
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    brokers: set[int] = set()
    for partition, replicas in after.items():
        adding = [broker for broker in replicas if broker not in before[partition]]
        if not adding:
            continue
        brokers |= {*before[partition], *adding}
        number = partition.partition
        leaders.setdefault(partition.topic, []).extend(f"{number}:{broker}" for broker in before[partition])
        followers.setdefault(partition.topic, []).extend(f"{number}:{broker}" for broker in adding)
    changes: dict[ConfigResource, list[ConfigChange]] = {
        ConfigResource.topic(topic): [
            ConfigChange.append(LEADER_REPLICAS, *leaders[topic]),
            ConfigChange.append(FOLLOWER_REPLICAS, *followers[topic]),
        ]
        for topic in leaders
    }
    for broker in sorted(brokers):
        changes[ConfigResource.broker(broker)] = [ConfigChange.set(rate, str(bytes_per_second)) for rate in _RATES]
    client.incremental_alter_configs(changes, timeout=timeout).all()


def remove_throttle(
    client: BlockingAdminClient, topics: Iterable[str], brokers: Iterable[int], timeout: float
) -> list[ConfigResource]:
    """Remove the limits of brokers and topics; those that have none stay as they are.

    Returns:
        The topics and brokers that had one.

    Raises:
        ExceptionGroup: a limit could not be read or removed.
    """
    names = {ConfigResource.topic(topic): _REPLICAS for topic in topics}
    names |= {ConfigResource.broker(broker): _RATES for broker in brokers}
    described = client.describe_configs(names, keys=(*_RATES, *_REPLICAS), timeout=timeout).all()
    changes = {
        resource: [
            ConfigChange.delete(name)
            for name in names[resource]
            if name in entries and entries[name].source in _SET_THERE
        ]
        for resource, entries in described.items()
    }
    limited = {resource: deletions for resource, deletions in changes.items() if deletions}
    client.incremental_alter_configs(limited, timeout=timeout).all()
    return list(limited)
