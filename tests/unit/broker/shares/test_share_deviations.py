"""Where share partitions differ from those of Apache Kafka on purpose."""

from __future__ import annotations

from msgspec.structs import replace
from tests.embedded.connection import connected_to
from tests.embedded.share_fetching import GROUP, RELEASE, Member, create, produce

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import ShareFetchRequest, ShareFetchResponse
from kafkawire.protocol.error_codes import ErrorCode


async def test_share_release_in_fetch() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 2)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 1, 1)]
        await produce(client, 1)
        assert await member.fetch((0, 1, [RELEASE])) == [(0, 1, 2), (2, 2, 1)]


async def test_share_first_fetch() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client, partitions=2)
        for number in (0, 1):
            await produce(client, 1, number=number)
        topic = ShareFetchRequest.FetchTopic(topic_id, tuple(map(ShareFetchRequest.FetchPartition, (0, 1))))
        request = replace(Member(client, topic_id).fetch_request(), topics=(topic,))
        answer = await client.ask(request, 2, ShareFetchResponse)
        assert [each.partition_index for each in answer.responses[0].partitions if each.records] == [0, 1]


async def test_share_errors_at_once() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        request = replace(Member(client, topic_id).fetch_request(wait_ms=60_000, least=1), group_id=f"not {GROUP}")
        answer = await client.ask(request, 2, ShareFetchResponse)
        assert answer.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR


async def test_share_bytes() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client, partitions=2)
        await produce(client, 1, 1, 1)
        size = 69  # of a batch
        topic = ShareFetchRequest.FetchTopic(topic_id, tuple(map(ShareFetchRequest.FetchPartition, (0, 1))))
        request = replace(Member(client, topic_id).fetch_request(), topics=(topic,), max_bytes=4 * size - 1)
        answer = await client.ask(request, 2, ShareFetchResponse)
        assert len(answer.responses[0].partitions[0].records or b"") == 2 * size
