"""Coordinators of groups and leaders of partitions: operations that the engine itself uses."""

from __future__ import annotations

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Request, failure
from kafkawire.admin.engine.route import CoordinatorType
from kafkawire.admin.first_versions import metadata_request
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    LeaderNotAvailableError,
    UnknownTopicOrPartitionError,
    error_of,
)
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class FindCoordinators(Operation[str, int, "protocol.FindCoordinatorResponse"]):
    """The ids of the coordinators of group ids, transactional ids or share groups."""

    name = "find_coordinator"
    api = ApiKey.FIND_COORDINATOR
    needs = ("coordinator_keys",)
    retried_codes = frozenset({CoordinatorNotAvailableError.code, CoordinatorLoadInProgressError.code})

    def __init__(self, type_: CoordinatorType) -> None:
        self._type = type_
        self.minimum_version = 6 if type_ is CoordinatorType.SHARE else 0  # KIP-932

    def build(self, request: Request[str]) -> Message:
        return protocol.FindCoordinatorRequest(key_type=self._type, coordinator_keys=tuple(request.items))

    def read(self, request: Request[str], response: protocol.FindCoordinatorResponse) -> Outcomes[str, int]:
        return {
            found.key: failure(found.error_code, found.error_message) or found.node_id
            for found in response.coordinators
        }

    def fallback(self) -> Operation[str, int, protocol.FindCoordinatorResponse] | None:
        return None if self._type is CoordinatorType.SHARE else FindCoordinator(self._type)


class FindCoordinator(Operation[str, int, "protocol.FindCoordinatorResponse"]):
    """The same for brokers that look up one key in a request."""

    name = "find_coordinator"
    api = ApiKey.FIND_COORDINATOR
    retried_codes = FindCoordinators.retried_codes
    lacks = "coordinator_keys"
    batch = 1

    def __init__(self, type_: CoordinatorType) -> None:
        self._type = type_
        self.needs = ("key_type",) if type_ is CoordinatorType.TRANSACTION else ()

    def build(self, request: Request[str]) -> Message:
        return protocol.FindCoordinatorRequest(key=request.items[0], key_type=self._type)

    def read(self, request: Request[str], response: protocol.FindCoordinatorResponse) -> Outcomes[str, int]:
        return {request.items[0]: response.node_id}


class FindLeaders(Operation[str, dict[int, int | KafkaError], "protocol.MetadataResponse"]):
    """The leader of each partition of topics, or why it has none."""

    name = "find_leaders"
    api = ApiKey.METADATA

    def build(self, request: Request[str]) -> Message:
        return metadata_request(request.version, request.items)

    def read(
        self, request: Request[str], response: protocol.MetadataResponse
    ) -> Outcomes[str, dict[int, int | KafkaError]]:
        return {
            topic.name: failure(topic.error_code)
            or {partition.partition_index: _leader(partition) for partition in topic.partitions}
            for topic in response.topics
            if topic.name is not None
        }


def _leader(partition: protocol.MetadataResponse.MetadataResponsePartition) -> int | KafkaError:
    if partition.leader_id >= 0:
        return partition.leader_id
    return error_of(partition.error_code or LeaderNotAvailableError.code, "the partition has no leader")


def leader_of(partition: TopicPartition, topics: Outcomes[str, dict[int, int | KafkaError]]) -> int | KafkaError:
    """The leader of a partition, from the outcome of `FindLeaders`."""
    leaders = topics[partition.topic]
    if isinstance(leaders, KafkaError):
        return leaders
    unknown = error_of(UnknownTopicOrPartitionError.code, f"the topic has {len(leaders)} partitions")
    return leaders.get(partition.partition, unknown)
