"""The checks of B5, in their order; the comparison with Apache Kafka has more of them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import CreateTopicsRequest, CreateTopicsResponse

Topic = CreateTopicsRequest.CreatableTopic
Config = CreateTopicsRequest.CreatableTopicConfig
Assigned = CreateTopicsRequest.CreatableReplicaAssignment

BAD_CONFIG, NULL_CONFIG = (Config("no.such", "1"),), (Config("retention.ms", None),)
BAD_PLACE, PLACE = (Assigned(3, (9,)),), (Assigned(0, (1,)),)


@pytest.fixture
async def client() -> AsyncIterator[BrokerConnection]:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        await ask(client, Topic("the.re", 1, 1))
        yield client


async def ask(client: BrokerConnection, *topics: Topic) -> dict[str, tuple[int, str | None]]:
    answer = await client.ask(CreateTopicsRequest(topics), 7, CreateTopicsResponse)
    return {topic.name: (topic.error_code, topic.error_message) for topic in answer.topics}


@pytest.mark.parametrize(
    ("topic", "code", "message"),
    [
        (Topic("__cluster_metadata", 0, 0), 42, None),
        (Topic("the.re", 0, 0, BAD_PLACE, BAD_CONFIG), 36, "Topic 'the.re' already exists."),
        (Topic("the_re", 0, 0, BAD_PLACE, BAD_CONFIG), 17, "Topic 'the_re' collides with existing topic: the.re"),
        (Topic("", 0, 0), 17, "Topic name is invalid: the empty string is not allowed"),
        (Topic("..", 0, 0), 17, "Topic name is invalid: '..' is not allowed"),
        (
            Topic("n", 0, 0, BAD_PLACE, NULL_CONFIG + BAD_CONFIG),
            40,
            "Null value not supported for topic configs: retention.ms",
        ),
        (Topic("n", 0, 0, BAD_PLACE, BAD_CONFIG), 40, "Unknown topic config name: no.such"),
        (
            Topic("n", 0, 0, BAD_PLACE),
            42,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            Topic("n", 0, -1, PLACE),
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            Topic("n", -1, -1, BAD_PLACE),
            39,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            Topic("n", -1, -1, (Assigned(1, (1,)),)),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (Topic("n", -1, -1, PLACE * 2), 39, "Found multiple manual partition assignments for partition 0"),
        (
            Topic("n", -1, -1, (Assigned(0, (1, 1)),)),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (Topic("n", 0, 0), 38, "Replication factor must be larger than 0, or -1 to use the default value."),
        (Topic("n", 0, 2), 37, "Number of partitions was set to an invalid non-positive value."),
        (Topic("n", 1, 1), 0, None),
        (Topic("n", -1, -1, PLACE), 0, None),
    ],
    ids=lambda value: value.name if isinstance(value, Topic) else None,
)
async def test_the_first_failing_check_is_reported(
    client: BrokerConnection, topic: Topic, code: int, message: str | None
) -> None:
    """B5."""
    outcomes = await ask(client, topic, Topic("beside", 1, 1))
    assert outcomes["beside"] == (0, None)
    if topic.name == "__cluster_metadata":
        assert outcomes[topic.name][0] == code
    else:
        assert outcomes[topic.name] == (code, message)


async def test_a_name_that_occurs_twice_has_one_result(client: BrokerConnection) -> None:
    """B5."""
    outcomes = await ask(client, Topic("twice", 1, 1), Topic("once", 1, 1), Topic("twice", 0, 0), Topic("twice", 1, 1))
    assert outcomes == {"once": (0, None), "twice": (42, "Duplicate topic name.")}


async def test_topics_of_one_request_may_collide(client: BrokerConnection) -> None:
    """B5."""
    assert await ask(client, Topic("co.x", 1, 1), Topic("co_x", 1, 1)) == {"co.x": (0, None), "co_x": (0, None)}


async def test_the_limit_of_partitions_is_that_of_the_whole_request(client: BrokerConnection) -> None:
    """B5."""
    told = (44, "Excessively large number of partitions per request.")
    outcomes = await ask(client, Topic("half", 6_000, 1), Topic("other", 4_001, 1), Topic("a b", 0, 0))
    assert outcomes == dict.fromkeys(("half", "other", "a b"), told)
    told = (44, "Unable to perform excessively large batch operation.")
    assert await ask(client, Topic("exactly", 10_000, 1)) == {"exactly": told}
