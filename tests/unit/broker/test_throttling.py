"""Throttling end to end: what clients of a broker with quotas see, on a clock that the test moves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.stand_ins.cluster import FAST

from kafkawire.admin.client import AdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy, RequestMetadata
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    FetchRequest,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import ThrottlingQuotaExceededError
from kafkawire.rpc import encode_request
from kafkawire.wire.batches.batch import Record
from kafkawire.wire.batches.writer import encode_batch

EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
CREATE, DELETE, GROW = 7, 6, 3
"""The first versions that are refused are 6, 5 and 3 (B10)."""

CLOCK = ManualClock()


class TakesHalfASecond(CreateTopicPolicy):
    """A policy that keeps the broker busy."""

    def validate(self, request: RequestMetadata) -> None:
        CLOCK.advance(0.5)


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    properties = {
        "connections.max.idle.ms": "-1",  # nothing but throttled clients waits for the clock
        "create.topic.policy.class.name": f"{__name__}:{TakesHalfASecond.__name__}",
    }
    async with EmbeddedBroker(properties, clock=CLOCK) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[BrokerConnection]:
    async with connected_to(broker) as client:
        yield client


async def limit(client: BrokerConnection, key: str, value: float | None, client_id: str = "kafkawire") -> None:
    entry = AlterClientQuotasRequest.EntryData(
        (AlterClientQuotasRequest.EntityData("client-id", client_id),),
        (AlterClientQuotasRequest.OpData(key, value or 0.0, remove=value is None),),
    )
    answer = await client.ask(AlterClientQuotasRequest((entry,)), 1, AlterClientQuotasResponse)
    assert [entry.error_code for entry in answer.entries] == [0]


async def create(
    client: BrokerConnection, *names: str, partitions: int = 1, version: int = CREATE
) -> CreateTopicsResponse:
    topics = tuple(CreateTopicsRequest.CreatableTopic(name, partitions, 1) for name in names)
    return await client.ask(CreateTopicsRequest(topics), version, CreateTopicsResponse)


def produce(topic: CreateTopicsResponse, size: int, acks: int = -1) -> ProduceRequest:
    partition = ProduceRequest.PartitionProduceData(0, encode_batch([Record(value=bytes(size))]))
    data = ProduceRequest.TopicProduceData(topic_id=topic.topics[0].topic_id, partition_data=(partition,))
    return ProduceRequest(None, acks, 1000, (data,))


def fetch(topic: CreateTopicsResponse) -> FetchRequest:
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    data = FetchRequest.FetchTopic(topic_id=topic.topics[0].topic_id, partitions=(partition,))
    return FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=(data,))


def size_of(request: ProduceRequest) -> int:
    return len(encode_request(request, 13, correlation_id=1, client_id="kafkawire")) - 4


async def is_answered(client: BrokerConnection, seconds: float = 5.0) -> bool:
    """Whether a request is answered within some seconds of real time."""
    client.send(ApiVersionsRequest(), 0)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await client.frame()
            return True
    return False


async def test_produce_is_answered_at_once_and_then_the_connection_is_muted(
    broker: EmbeddedBroker, client: BrokerConnection
) -> None:
    """D12, D16."""
    topic = await create(client, "t")
    await limit(client, "producer_byte_rate", 1000)
    request = produce(topic, 12_000)
    answer = await client.ask(request, 13, ProduceResponse)
    # These bytes count over at least 10 s, all windows except one; at 1000 a second the rest is the throttle time.
    assert answer.throttle_time_ms == size_of(request) - 10_000
    assert answer.responses[0].partition_responses[0].error_code == 0
    CLOCK.advance((answer.throttle_time_ms - 1) / 1000)
    assert not await is_answered(client, 0.05)
    async with connected_to(broker) as other:
        assert await is_answered(other)  # the same client id, but a connection of its own
    CLOCK.advance(0.002)
    await client.frame()


async def test_produce_without_a_response_mutes_the_connection_too(client: BrokerConnection) -> None:
    """D16."""
    topic = await create(client, "t")
    await limit(client, "producer_byte_rate", 1000)
    client.send(produce(topic, 12_000, acks=0), 13)
    assert not await is_answered(client, 0.05)
    CLOCK.advance(3)
    await client.frame()


async def test_number_and_size_of_windows_are_configured() -> None:
    """D12, D15."""
    windows = {"quota.window.num": "3", "quota.window.size.seconds": "2"}
    mutations = {"controller.quota.window.num": "3", "controller.quota.window.size.seconds": "2"}
    async with EmbeddedBroker(windows | mutations, clock=CLOCK) as broker, connected_to(broker) as client:
        topic = await create(client, "t")
        await limit(client, "producer_byte_rate", 1000)
        request = produce(topic, 5000)
        answer = await client.ask(request, 13, ProduceResponse)
        assert answer.throttle_time_ms == size_of(request) - 4000  # two windows of 2 s and what is over
        CLOCK.advance(answer.throttle_time_ms / 1000)
        await limit(client, "controller_mutation_rate", 1)
        answers = [await create(client, f"t{number}", partitions=2) for number in range(5)]
        assert [answer.topics[0].error_code for answer in answers] == [
            0,
            0,
            0,
            0,
            EXCEEDED,
        ]  # 6 at once, and what is over
        assert answers[-1].throttle_time_ms == 2000
        CLOCK.advance(2)


async def test_a_fetch_returns_no_more_than_the_windows_allow(client: BrokerConnection) -> None:
    """D14."""
    topic = await create(client, "t")
    for _ in range(2):
        await client.ask(produce(topic, 6000), 13, ProduceResponse)
    await limit(client, "consumer_byte_rate", 1000)
    first = await client.ask(fetch(topic), 17, FetchResponse)
    assert 0 < first.throttle_time_ms < 100  # for what surrounds the records
    CLOCK.advance(first.throttle_time_ms / 1000)
    second = await client.ask(fetch(topic), 17, FetchResponse)
    assert len(second.responses[0].partitions[0].records or b"") == 10_000


async def test_a_throttled_fetch_returns_no_records_and_is_not_counted(client: BrokerConnection) -> None:
    """D14."""
    topic = await create(client, "t")
    await client.ask(produce(topic, 12_000), 13, ProduceResponse)
    await limit(client, "consumer_byte_rate", 1000)
    first = await client.ask(fetch(topic), 17, FetchResponse)
    assert first.throttle_time_ms > 2000
    assert first.responses == ()
    CLOCK.advance(first.throttle_time_ms / 1000)
    await limit(client, "consumer_byte_rate", 2000)
    second = await client.ask(fetch(topic), 17, FetchResponse)
    assert second.throttle_time_ms == 0
    assert len(second.responses[0].partitions[0].records or b"") > 12_000


async def test_the_time_of_requests_is_limited_to_a_share_of_a_thread(client: BrokerConnection) -> None:
    """D13."""
    await limit(client, "request_percentage", 4)
    answer = await create(client, "half-a-second")
    # 50 per cent of a second over 10.5 s, one window at most.
    assert answer.topics[0].error_code == 0
    assert answer.throttle_time_ms == 1000
    assert CLOCK.sleepers == 3  # the client, and the searches for unused transactional ids and offsets
    CLOCK.advance(1)
    assert await is_answered(client)


async def test_a_fetch_beyond_the_quota_on_request_time_returns_no_records(client: BrokerConnection) -> None:
    """D13."""
    topic = await create(client, "t")
    await client.ask(produce(topic, 10), 13, ProduceResponse)
    await limit(client, "request_percentage", 4)
    throttled = await create(client, "u")
    CLOCK.advance(throttled.throttle_time_ms / 1000)
    answer = await client.ask(fetch(topic), 17, FetchResponse)
    assert answer.throttle_time_ms > 0
    assert answer.responses == ()


async def test_create_topics_since_6_refuses_what_exceeds_the_mutation_quota(
    client: BrokerConnection,
) -> None:
    """B10, D15."""
    await limit(client, "controller_mutation_rate", 1)
    first = await create(client, "a", partitions=15)
    assert first.topics[0].error_code == 0
    assert first.throttle_time_ms == 0  # a burst is let through, whatever its size
    second = await create(client, "b")
    assert second.topics[0].error_code == EXCEEDED
    assert second.topics[0].error_message is None
    assert second.throttle_time_ms == 3500  # 4 tokens too many, and the policy took half a second
    assert CLOCK.sleepers == 3  # the client, and the searches for unused transactional ids and offsets
    CLOCK.advance(3.5)
    assert await is_answered(client)
    third = await create(client, "b", "c", "d")  # each waits half a second for the policy
    assert [topic.error_code for topic in third.topics] == [0, 0, EXCEEDED]


async def test_older_versions_are_carried_out_and_throttled_afterwards(client: BrokerConnection) -> None:
    """B10."""
    await limit(client, "controller_mutation_rate", 1)
    answer = await create(client, "a", partitions=15, version=5)
    assert answer.topics[0].error_code == 0
    assert answer.throttle_time_ms == 4000
    CLOCK.advance(4)
    grown = CreatePartitionsRequest((CreatePartitionsRequest.CreatePartitionsTopic("a", 17, None),), 1000)
    more = await client.ask(grown, 2, CreatePartitionsResponse)
    assert (more.results[0].error_code, more.throttle_time_ms) == (0, 2000)
    CLOCK.advance(2)
    gone = await client.ask(DeleteTopicsRequest(topic_names=("a",), timeout_ms=1000), 4, DeleteTopicsResponse)
    assert (gone.responses[0].error_code, gone.throttle_time_ms) == (0, 17_000)


async def test_delete_topics_since_5_and_create_partitions_since_3_are_refused_too(client: BrokerConnection) -> None:
    """B10."""
    await create(client, "a", partitions=15)
    await limit(client, "controller_mutation_rate", 1)
    grown = CreatePartitionsRequest((CreatePartitionsRequest.CreatePartitionsTopic("a", 30, None),), 1000)
    assert (await client.ask(grown, GROW, CreatePartitionsResponse)).results[0].error_code == 0
    more = CreatePartitionsRequest((CreatePartitionsRequest.CreatePartitionsTopic("a", 31, None),), 1000)
    refused = await client.ask(more, GROW, CreatePartitionsResponse)
    assert (refused.results[0].error_code, refused.throttle_time_ms) == (EXCEEDED, 4000)
    CLOCK.advance(4)
    by_name = DeleteTopicsRequest((DeleteTopicsRequest.DeleteTopicState("a"),), (), 1000)
    assert (await client.ask(by_name, DELETE, DeleteTopicsResponse)).responses[0].error_code == 0
    await create_other(client)


async def create_other(client: BrokerConnection) -> None:
    answer = await create(client, "b")
    assert answer.topics[0].error_code == EXCEEDED
    CLOCK.advance(20)


async def test_a_changed_quota_applies_to_buckets_in_use(broker: EmbeddedBroker, client: BrokerConnection) -> None:
    """D5."""
    topic = await create(client, "t")
    await limit(client, "producer_byte_rate", 1_000_000)
    assert (await client.ask(produce(topic, 12_000), 13, ProduceResponse)).throttle_time_ms == 0
    await limit(client, "producer_byte_rate", 1000)
    assert (await client.ask(produce(topic, 1), 13, ProduceResponse)).throttle_time_ms > 2000
    async with connected_to(broker, "another") as other:
        await limit(other, "producer_byte_rate", None)
    CLOCK.advance(10)
    assert (await client.ask(produce(topic, 12_000), 13, ProduceResponse)).throttle_time_ms == 0


async def test_versions_without_a_throttle_time_are_muted_all_the_same(client: BrokerConnection) -> None:
    await limit(client, "request_percentage", 4)
    await create(client, "t")
    CLOCK.advance(1)
    answer = await client.ask(ApiVersionsRequest(), 0, ApiVersionsResponse)
    assert answer.throttle_time_ms == 0
    assert CLOCK.sleepers == 3  # the client, and the searches for unused transactional ids and offsets
    CLOCK.advance(1)
    assert await is_answered(client)


async def test_users_have_quotas_of_their_own() -> None:
    jaas = 'PlainLoginModule required user_alice="a" user_bob="b";'
    properties = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"org.apache.kafka.common.security.plain.{jaas}",
    }
    async with EmbeddedBroker(properties, clock=ManualClock()) as broker:
        servers = broker.bootstrap_servers
        async with (
            AdminClient(servers, credentials=PlainCredentials("alice", "a"), settings=FAST) as alice,
            AdminClient(servers, credentials=PlainCredentials("bob", "b"), settings=FAST) as bob,
        ):
            quota = ClientQuotaAlteration(ClientQuotaEntity.of_user("alice"), {"controller_mutation_rate": 1.0})
            (await bob.alter_client_quotas([quota])).all()
            for client in (alice, bob):
                (await client.create_topics([NewTopic(f"of-{client is bob}", 100)])).all()
            (await bob.create_topics([NewTopic("another", 1)])).all()
            refused = await alice.create_topics([NewTopic("more", 1)], timeout=0.2)
            assert [type(error) for error in refused.errors().values()] == [ThrottlingQuotaExceededError]
