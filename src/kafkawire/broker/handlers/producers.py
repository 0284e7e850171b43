"""DescribeProducers (KIP-664)."""

from __future__ import annotations

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.partitions.producers import ProducerState
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import DescribeProducersRequest, DescribeProducersResponse
from kafkawire.protocol.error_codes import ErrorCode

Result = DescribeProducersResponse.PartitionResponse
_UNKNOWN = "This server does not host this topic-partition."


class ProducerHandlers:
    """Describe the producers that have written to partitions."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._access = context.access
        self.apis = (ServedApi(DescribeProducersRequest, self._describe, 0, 0),)

    async def _describe(self, request: DescribeProducersRequest, call: Call) -> DescribeProducersResponse:
        described = [
            DescribeProducersResponse.TopicResponse(
                asked.name,
                tuple([self._described(asked.name, index, call) async for index in in_slices(asked.partition_indexes)]),
            )
            for asked in request.topics
        ]
        return DescribeProducersResponse(topics=tuple(described))

    def _described(self, name: str, index: int, call: Call) -> Result:
        try:
            topic = self._topic(name, call)
        except ItemError as error:
            return Result(index, error.code, error.message)
        if index not in topic.partitions:
            return Result(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        producers = self._store.log(topic.topic_id, index).producers
        return Result(index, active_producers=tuple(map(_active, producers.states())))

    def _topic(self, name: str, call: Call) -> Topic:
        check_topic_name(name)
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.TOPIC, name):
            raise ItemError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.")
        topic = self._topics.by_name.get(name)
        if topic is None:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)
        return topic


def _active(state: ProducerState) -> DescribeProducersResponse.ProducerState:
    start = state.transaction_start
    return DescribeProducersResponse.ProducerState(
        state.producer_id,
        state.epoch,
        state.last_sequence,
        state.last_timestamp,
        state.coordinator_epoch,
        -1 if start is None else start,
    )
