"""DescribeTopicPartitions: topics page by page (KIP-966)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import NO_LEADER, Topic, TopicsImage
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topic_names import unknown_topic_error
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import InvalidRequestError

_Described = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
_Partition = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition
_Cursor = DescribeTopicPartitionsResponse.Cursor


class TopicPartitionHandlers:
    """Describe topics in the order of their names, a limited number of partitions in each response."""

    def __init__(self, context: HandlerContext) -> None:
        self._nodes = context.nodes
        self._topics = context.controller.image.topics
        self._access = context.access
        self._configuration = context.configuration
        self.apis = (ServedApi(DescribeTopicPartitionsRequest, self._describe, 0, 0),)

    async def _describe(self, request: DescribeTopicPartitionsRequest, call: Call) -> DescribeTopicPartitionsResponse:
        of_all = not request.topics
        cursor = request.cursor
        first = "" if cursor is None else cursor.topic_name
        asked = self._topics.by_name if of_all else {topic.name for topic in request.topics}
        names = {name for name in asked if name >= first}
        if cursor is not None and not of_all and first not in names:
            raise InvalidRequestError(
                f"DescribeTopicPartitionsRequest topic list should contain the cursor topic: {first}"
            )
        if cursor is not None and cursor.partition_index < 0:
            raise InvalidRequestError(f"DescribeTopicPartitionsRequest cursor partition must be valid: {cursor}")
        allowed = sorted([name async for name in in_slices(names) if self._may_describe(name, call)])
        refused = () if of_all else sorted(names.difference(allowed))
        begun = cursor.partition_index if cursor is not None and first in allowed else 0
        most = min(
            self._configuration.integer("max.request.partition.size.limit"), max(request.response_partition_limit, 1)
        )
        page = _Page(self._topics, self._nodes, {first: begun}, most, of_all=of_all)
        described = [self._with_operations(topic, call) async for topic in in_slices(page.topics(allowed))]
        others = [_Described(ErrorCode.TOPIC_AUTHORIZATION_FAILED, name) async for name in in_slices(refused)]
        return DescribeTopicPartitionsResponse(0, (*described, *others), page.next)

    def _may_describe(self, name: str, call: Call) -> bool:
        return self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, name)

    def _with_operations(self, topic: _Described, call: Call) -> _Described:
        operations = self._access.operations(call.session, ResourceType.TOPIC, topic.name or "")
        return _Described(topic.error_code, topic.name, topic.topic_id, topic.is_internal, topic.partitions, operations)


class _Page:
    """The topics of one response.

    Args:
        image: all topics.
        nodes: the brokers.
        begun: topic to its first partition on this page.
        most: the most partitions.
        of_all: whether the request is for all topics, so that a topic deleted meanwhile is left out without an error.

    Attributes:
        next: where the next page begins; None after the last one.
    """

    def __init__(self, image: TopicsImage, nodes: Nodes, begun: dict[str, int], most: int, *, of_all: bool) -> None:
        self._image = image
        self._nodes = nodes
        self._begun = begun
        self._left = most
        self._of_all = of_all
        self.next: _Cursor | None = None

    def topics(self, names: list[str]) -> Iterator[_Described]:
        """The topics of the page."""
        for name in names:
            if self._left == 0:
                self.next = _Cursor(name, 0)
            if self._left <= 0:
                return
            topic = self._image.by_name.get(name)
            if topic is not None:
                yield self._described(topic)
            elif not self._of_all:
                yield _Described(unknown_topic_error(name), name, is_internal=name in INTERNAL_TOPICS)
            if self.next is not None:
                return

    def _described(self, topic: Topic) -> _Described:
        first = self._begun.get(topic.name, 0)
        behind = min(len(topic.partitions), first + self._left)
        if behind < len(topic.partitions):
            self.next = _Cursor(topic.name, behind)
        partitions = tuple(map(self._partition, islice(topic.partitions.values(), first, max(first, behind))))
        self._left -= len(partitions)
        return _Described(ErrorCode.NONE, topic.name, topic.topic_id, topic.name in INTERNAL_TOPICS, partitions)

    def _partition(self, partition: PartitionRecord) -> _Partition:
        has_leader = self._nodes.is_live(partition.leader)
        return _Partition(
            ErrorCode.NONE if has_leader else ErrorCode.LEADER_NOT_AVAILABLE,
            partition.partition_id,
            partition.leader if has_leader else NO_LEADER,
            partition.leader_epoch,
            partition.replicas,
            partition.isr,
            partition.eligible_leader_replicas or (),
            partition.last_known_elr or (),
            self._nodes.offline(partition.replicas),
        )
