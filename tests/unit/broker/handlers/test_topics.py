"""CreateTopics, DeleteTopics, CreatePartitions and Metadata: what the comparison with Apache Kafka cannot show."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import CreateTopicPolicy, EmbeddedBroker, ManualClock, RequestMetadata
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import NotControllerError, PolicyViolationError

Topic = CreateTopicsRequest.CreatableTopic
SECONDS = 30_000
POLICY = "create.topic.policy.class.name"


class Recorded(CreateTopicPolicy):
    """Records its calls for the tests."""

    told: list[object]

    def configure(self, configs: Mapping[str, str]) -> None:
        type(self).told = [configs["own.property"]]

    def validate(self, request: RequestMetadata) -> None:
        self.told.append(request)
        match request.topic:
            case "no":
                raise PolicyViolationError("no means no")
            case "wordless":
                raise PolicyViolationError
            case "elsewhere":
                raise NotControllerError("ask somebody else")

    def close(self) -> None:
        self.told.append("closed")


def recorded() -> dict[str, str]:
    return {POLICY: f"{__name__}:{Recorded.__name__}", "own.property": "x"}


async def create(
    client: BrokerConnection, *topics: Topic, version: int = 7, validate_only: bool = False
) -> dict[str, tuple[int, str | None]]:
    answer = await client.ask(CreateTopicsRequest(topics, SECONDS, validate_only), version, CreateTopicsResponse)
    assert [topic.name for topic in answer.topics] == list(dict.fromkeys(topic.name for topic in answer.topics))
    return {topic.name: (topic.error_code, topic.error_message) for topic in answer.topics}


async def names(client: BrokerConnection) -> list[str]:
    answer = await client.ask(MetadataRequest(None), 12, MetadataResponse)
    return [topic.name or "" for topic in answer.topics]


@pytest.fixture
async def client() -> AsyncIterator[BrokerConnection]:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        yield client


async def test_one_node_holds_one_replica(client: BrokerConnection) -> None:
    outcomes = await create(client, Topic("one", 2, 1), Topic("two", 1, 2))
    assert outcomes["one"] == (0, None)
    assert outcomes["two"][0] == ErrorCode.INVALID_REPLICATION_FACTOR
    answer = await client.ask(MetadataRequest(None), 12, MetadataResponse)
    assert [(p.leader_id, p.replica_nodes, p.isr_nodes) for p in answer.topics[0].partitions] == [(1, (1,), (1,))] * 2


async def test_the_answer_has_the_order_of_the_request(client: BrokerConnection) -> None:
    """B9."""
    topics = [Topic(name, 1, 1) for name in ("z", "a b", "a", "m", ".")]
    assert list(await create(client, *topics)) == ["z", "a b", "a", "m", "."]


async def test_topics_that_are_gone_can_come_again_with_another_id(client: BrokerConnection) -> None:
    request = CreateTopicsRequest(
        (Topic("again", 1, 1, (), (CreateTopicsRequest.CreatableTopicConfig("flush.ms", "5"),)),)
    )
    first = await client.ask(request, 7, CreateTopicsResponse)
    await client.ask(DeleteTopicsRequest((), ("again",), SECONDS), 5, DeleteTopicsResponse)
    assert await names(client) == []
    second = await client.ask(CreateTopicsRequest((Topic("again", 1, 1),)), 7, CreateTopicsResponse)
    assert first.topics[0].topic_id != second.topics[0].topic_id
    configs = {config.name: config.value for config in second.topics[0].configs or ()}
    assert configs["flush.ms"] == str(2**63 - 1)


async def test_partitions_over_limit_are_refused_and_none_is_added(client: BrokerConnection) -> None:
    await create(client, Topic("small", 1, 1), Topic("other", 1, 1))
    grown = CreatePartitionsRequest.CreatePartitionsTopic
    for topics in (
        (grown("small", 20_000, None), grown("other", 2, None)),
        (grown("small", 6_000, None), grown("other", 6_000, None)),
    ):
        answer = await client.ask(CreatePartitionsRequest(topics, SECONDS), 3, CreatePartitionsResponse)
        assert {result.error_code for result in answer.results} == {ErrorCode.POLICY_VIOLATION}
    metadata = await client.ask(MetadataRequest(None), 12, MetadataResponse)
    assert [len(topic.partitions) for topic in metadata.topics] == [1, 1]


async def test_impossible_numbers_are_refused_cheaply(client: BrokerConnection) -> None:
    assert (await create(client, Topic("huge", 2**31 - 1, 1)))["huge"][0] == ErrorCode.POLICY_VIOLATION
    await create(client, Topic("small", 1, 1))
    grown = CreatePartitionsRequest.CreatePartitionsTopic("small", 2**31 - 1, None)
    answer = await client.ask(CreatePartitionsRequest((grown,), SECONDS), 3, CreatePartitionsResponse)
    assert answer.results[0].error_code == ErrorCode.POLICY_VIOLATION


async def test_metadata_creates_nothing_where_that_is_switched_off() -> None:
    async with EmbeddedBroker({"auto.create.topics.enable": "false"}) as broker, connected_to(broker) as client:
        request = MetadataRequest((MetadataRequest.MetadataRequestTopic(name="asked"),))
        answer = await client.ask(request, 12, MetadataResponse)
        assert answer.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await names(client) == []


async def test_topics_stay_where_deletion_is_switched_off() -> None:
    async with EmbeddedBroker({"delete.topic.enable": "false"}) as broker, connected_to(broker) as client:
        await create(client, Topic("stays", 1, 1))
        for version, code in ((2, ErrorCode.INVALID_REQUEST), (5, ErrorCode.TOPIC_DELETION_DISABLED)):
            answer = await client.ask(DeleteTopicsRequest((), ("stays",), SECONDS), version, DeleteTopicsResponse)
            assert [result.error_code for result in answer.responses] == [code]
        assert await names(client) == ["stays"]


class TestPolicies:
    async def test_a_policy_is_configured_called_for_each_topic_and_closed(self) -> None:
        """B1."""
        async with EmbeddedBroker(recorded()) as broker, connected_to(broker) as client:
            outcomes = await create(client, Topic("yes", 1, 1), Topic("no", -1, -1), Topic("wordless", 1, 1))
            assert outcomes["no"] == (ErrorCode.POLICY_VIOLATION, "no means no")
            assert outcomes["wordless"] == (ErrorCode.POLICY_VIOLATION, None)
            assert await names(client) == ["yes"]
        asked = [RequestMetadata(name, 1, 1) for name in ("yes", "no", "wordless")]
        assert Recorded.told == ["x", *asked, "closed"]

    async def test_policy_not_controller_is_the_error_of_its_topic(self) -> None:
        async with EmbeddedBroker(recorded()) as broker, connected_to(broker) as client:
            outcomes = await create(client, Topic("elsewhere", 1, 1), Topic("here", 1, 1))
            assert outcomes["elsewhere"] == (ErrorCode.NOT_CONTROLLER, "ask somebody else")
            assert await names(client) == ["here"]


class TestQuotas:
    """D15: a rate of 1 has a burst of 11."""

    @pytest.fixture
    async def limited(self) -> AsyncIterator[BrokerConnection]:
        async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
            entity = AlterClientQuotasRequest.EntityData("client-id", "kafkawire")
            rate = AlterClientQuotasRequest.OpData("controller_mutation_rate", 1.0, False)
            entry = AlterClientQuotasRequest.EntryData((entity,), (rate,))
            await client.ask(AlterClientQuotasRequest((entry,)), 1, AlterClientQuotasResponse)
            yield client

    async def test_new_request_versions_refuse_each_topic_beyond_the_mutation_quota(
        self, limited: BrokerConnection
    ) -> None:
        """B10."""
        topics = tuple(Topic(name, partitions, 1) for name, partitions in (("a", 5), ("b", 10), ("c", 1)))
        answer = await limited.ask(CreateTopicsRequest(topics, SECONDS), 7, CreateTopicsResponse)
        assert [topic.error_code for topic in answer.topics] == [0, 0, ErrorCode.THROTTLING_QUOTA_EXCEEDED]
        assert answer.topics[2].error_message is None
        assert answer.throttle_time_ms == 4000

    async def test_validate_only_uses_up_the_mutation_quota(self, limited: BrokerConnection) -> None:
        """B7."""
        assert await create(limited, Topic("a", 15, 1), validate_only=True) == {"a": (0, None)}
        assert (await create(limited, Topic("a", 1, 1), validate_only=True))["a"][0] == 89


@pytest.mark.usefixtures("one_engine")
async def test_many_topics_at_once(client: BrokerConnection) -> None:
    topics = [Topic(f"t{number}", 1, 1) for number in range(2_000)]
    outcomes = await create(client, *topics)
    assert set(outcomes.values()) == {(0, None)}
    assert len(await names(client)) == 2_000
