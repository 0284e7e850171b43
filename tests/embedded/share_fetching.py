"""Members of share groups that ask an embedded broker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tests.embedded.connection import BrokerConnection

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    ProduceRequest,
    ProduceResponse,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from kafkawire.wire.batches import Record, encode_batch

GROUP_RESOURCE = 32
GROUP = "g"
ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4

Acquired: TypeAlias = list[tuple[int, int, int]]
"""First offset, last offset and delivery count."""


async def create(client: BrokerConnection, name: str = "t", partitions: int = 1) -> Uuid:
    """Make a topic, and the state of the group for it, from the first record on."""
    made = await client.ask(
        CreateTopicsRequest((CreateTopicsRequest.CreatableTopic(name, partitions, 1),)), 7, CreateTopicsResponse
    )
    assert not made.topics[0].error_code
    topic_id = made.topics[0].topic_id
    await begin_group(client, topic_id, partitions)
    return topic_id


async def begin_group(
    client: BrokerConnection, topic_id: Uuid, partitions: int = 1, *, state_epoch: int = 0, offset: int = 0
) -> None:
    """Initialize the state of the group."""
    asked = InitializeShareGroupStateRequest
    data = tuple(asked.PartitionData(each, state_epoch, offset) for each in range(partitions))
    request = asked(GROUP, (asked.InitializeStateData(topic_id, data),))
    answer = await client.ask(request, 0, InitializeShareGroupStateResponse)
    assert not any(each.error_code for each in answer.results[0].partitions)


async def produce(
    client: BrokerConnection, *batches: int, name: str = "t", number: int = 0, timestamp: int = -1
) -> None:
    """Produce batches with numbers of records to a partition."""
    for count in batches:
        records = encode_batch([Record(value=b"v", timestamp=timestamp)] * count)
        partition = ProduceRequest.PartitionProduceData(number, records)
        data = (ProduceRequest.TopicProduceData(name, partition_data=(partition,)),)
        answer = await client.ask(ProduceRequest(acks=-1, topic_data=data), 9, ProduceResponse)
        assert not answer.responses[0].partition_responses[0].error_code


async def configure(client: BrokerConnection, **configs: str) -> None:
    """Set configurations of the group, with ``_`` for ``.``."""
    changes = tuple(
        IncrementalAlterConfigsRequest.AlterableConfig(name.replace("_", "."), 0, value)
        for name, value in configs.items()
    )
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource(GROUP_RESOURCE, GROUP, changes)
    answer = await client.ask(IncrementalAlterConfigsRequest((resource,)), 1, IncrementalAlterConfigsResponse)
    assert not answer.responses[0].error_code, answer


@dataclass(slots=True)
class Member:
    """A member with a session of one partition.

    Attributes:
        client: its connection.
        topic_id: of the topic.
        member_id: its id.
        epoch: of its next request.
    """

    client: BrokerConnection
    topic_id: Uuid
    member_id: str = "m"
    epoch: int = 0

    def fetch_request(
        self,
        *acknowledged: tuple[int, int, Sequence[int]],
        batch_size: int = 100,
        wait_ms: int = 0,
        least: int = 0,
        renews: bool = False,
    ) -> ShareFetchRequest:
        """The next request to fetch."""
        batches = tuple(ShareFetchRequest.AcknowledgementBatch(*each) for each in acknowledged)
        topic = ShareFetchRequest.FetchTopic(
            self.topic_id, (ShareFetchRequest.FetchPartition(0, acknowledgement_batches=batches),)
        )
        request = ShareFetchRequest(
            GROUP,
            self.member_id,
            self.epoch,
            wait_ms,
            least,
            0 if renews else 1_000_000,
            max_records=0 if renews else 100,
            batch_size=batch_size,
            is_renew_ack=renews,
            topics=(topic,),
        )
        self.epoch += 1
        return request

    async def ask(self, request: ShareFetchRequest) -> ShareFetchResponse:
        """The answer to a request."""
        return await self.client.ask(request, 2, ShareFetchResponse)

    async def fetch(
        self,
        *acknowledged: tuple[int, int, Sequence[int]],
        batch_size: int = 100,
        wait_ms: int = 0,
        least: int = 0,
        renews: bool = False,
    ) -> Acquired:
        """What is acquired; acknowledgements must be accepted."""
        request = self.fetch_request(*acknowledged, batch_size=batch_size, wait_ms=wait_ms, least=least, renews=renews)
        answer = await self.ask(request)
        assert not answer.error_code, answer
        data = [each for topic in answer.responses for each in topic.partitions]
        assert not any(each.error_code or each.acknowledge_error_code for each in data), answer
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for part in data
            for each in part.acquired_records
        ]

    async def acknowledge(
        self, *acknowledged: tuple[int, int, Sequence[int]], final: bool = False, renews: bool = False
    ) -> int:
        """The error of acknowledgements."""
        batches = tuple(ShareAcknowledgeRequest.AcknowledgementBatch(*each) for each in acknowledged)
        partition = ShareAcknowledgeRequest.AcknowledgePartition(0, batches)
        topics = (ShareAcknowledgeRequest.AcknowledgeTopic(self.topic_id, (partition,)),) if batches else ()
        request = ShareAcknowledgeRequest(GROUP, self.member_id, -1 if final else self.epoch, renews, topics)
        self.epoch += 1
        answer = await self.client.ask(request, 2, ShareAcknowledgeResponse)
        found = [each.error_code for topic in answer.responses for each in topic.partitions]
        return answer.error_code or (found[0] if found else 0)

    async def leave(self) -> None:
        """End the session."""
        assert not await self.acknowledge(final=True)
