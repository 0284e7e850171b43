"""Waiting until topics are there for everybody: brokers learn of new topics one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Request
from kafkawire.admin.engine.route import OnNode, Route
from kafkawire.admin.first_versions import metadata_request
from kafkawire.admin.operations.every_node import EveryNodeFamily, ItemOnNode
from kafkawire.admin.results import Results
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import InvalidTopicError, LeaderNotAvailableError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class SeeTopics(Operation[ItemOnNode[str], None, "protocol.MetadataResponse"]):
    """Fails, and so is tried again, while a topic is unknown or one of its partitions has no leader."""

    name = "wait_for_topics"
    api = ApiKey.METADATA
    needs = ("allow_auto_topic_creation",)
    retried_codes = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE})

    def validate(self, item: ItemOnNode[str]) -> KafkaError | None:
        return None if item.item else InvalidTopicError("the name of a topic must not be empty")

    def route_of(self, item: ItemOnNode[str]) -> Route:
        return OnNode(item.node)

    def build(self, request: Request[ItemOnNode[str]]) -> Message:
        return metadata_request(request.version, (item.item for item in request.items))

    def read(
        self, request: Request[ItemOnNode[str]], response: protocol.MetadataResponse
    ) -> Outcomes[ItemOnNode[str], None]:
        node = request.items[0].node
        return {ItemOnNode(topic.name, node): _missing(topic) for topic in response.topics if topic.name is not None}


def _missing(topic: protocol.MetadataResponse.MetadataResponseTopic) -> KafkaError | None:
    if topic.error_code:
        return error_of(topic.error_code)
    leaderless = sum(partition.leader_id < 0 for partition in topic.partitions)
    return LeaderNotAvailableError(f"{leaderless} partitions have no leader") if leaderless else None


class TopicVisibilityOperations(EveryNodeFamily):
    """Whether topics are there for everybody."""

    async def wait_for_topics(self, topics: Iterable[str], *, timeout: float | None = None) -> Results[str, None]:
        """Wait until all live brokers know topics and each of their partitions has a leader.

        A topic that was just created is not known to every broker at once, so that a producer may still be told that
        there is none.

        Args:
            topics: names.
            timeout: seconds to wait at most; ``call_timeout`` of the settings by default.

        Returns:
            Topic name to None, or to what one of the brokers still said at the end: `OperationTimeoutError`, caused by
            `UnknownTopicOrPartitionError` or `LeaderNotAvailableError`; `TopicAuthorizationFailedError` at once ...

        Raises:
            KafkaError: if no broker tells which there are.
        """
        return await self._wait_on_every_node(SeeTopics(), list(topics), timeout)
