"""DescribeConfigs, IncrementalAlterConfigs and AlterConfigs: what the comparison with Apache Kafka cannot show."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)

Resource = DescribeConfigsRequest.DescribeConfigsResource
Changed = IncrementalAlterConfigsRequest.AlterConfigsResource
Change = IncrementalAlterConfigsRequest.AlterableConfig
Replaced = AlterConfigsRequest.AlterConfigsResource
Value = AlterConfigsRequest.AlterableConfig
Described = DescribeConfigsResponse.DescribeConfigsResourceResult


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker({"own.secret": "x", "log.retention.hours": "1"}) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[BrokerConnection]:
    async with connected_to(broker) as client:
        await client.ask(CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("t", 1, 1),)), 7, CreateTopicsResponse)
        yield client


async def described(client: BrokerConnection, kind: int, name: str, *keys: str) -> dict[str, Described]:
    request = DescribeConfigsRequest((Resource(kind, name, keys or None),), True, True)
    answer = await client.ask(request, 4, DescribeConfigsResponse)
    assert answer.results[0].error_code == 0, answer.results[0].error_message
    return {config.name: config for config in answer.results[0].configs}


async def change(client: BrokerConnection, kind: int, name: str, *changes: Change) -> tuple[int, str | None]:
    request = IncrementalAlterConfigsRequest((Changed(kind, name, changes),))
    answer = await client.ask(request, 1, IncrementalAlterConfigsResponse)
    return answer.responses[0].error_code, answer.responses[0].error_message


async def test_config_documentation_is_none(client: BrokerConnection) -> None:
    for kind, name in ((TOPIC, "t"), (BROKER, "1"), (GROUP, "g"), (CLIENT_METRICS, "m")):
        assert {config.documentation for config in (await described(client, kind, name)).values()} == {None}


async def test_named_configs_come_in_the_order_of_the_request(client: BrokerConnection) -> None:
    names = ["num.partitions", "default.replication.factor", "unknown", "num.partitions"]
    for asked in (names, names[::-1]):
        found = await described(client, BROKER, "1", *asked)
        assert list(found) == [name for name in dict.fromkeys(asked) if name != "unknown"]


async def test_values_of_unknown_configs_are_sensitive(client: BrokerConnection) -> None:
    configs = await described(client, BROKER, "1", "own.secret")
    assert (configs["own.secret"].value, configs["own.secret"].is_sensitive) == (None, True)
    assert await change(client, BROKER, "", Change("another.secret", SET, "y")) == (0, None)
    assert (await described(client, BROKER, ""))["another.secret"].value is None


async def test_other_units_count_for_topics(client: BrokerConnection) -> None:
    assert (await described(client, TOPIC, "t", "retention.ms"))["retention.ms"].value == "3600000"


async def test_topics_inherit_what_brokers_have_at_the_moment(client: BrokerConnection) -> None:
    async def retention() -> tuple[str | None, int]:
        config = (await described(client, TOPIC, "t", "retention.ms"))["retention.ms"]
        return config.value, config.config_source

    assert await retention() == ("3600000", 5)  # of log.retention.hours
    await change(client, BROKER, "", Change("log.retention.ms", SET, "5"))
    assert await retention() == ("5", 3)
    await change(client, BROKER, "1", Change("log.retention.ms", SET, "6"))
    assert await retention() == ("6", 2)
    await change(client, TOPIC, "t", Change("retention.ms", SET, "7"))
    assert await retention() == ("7", 1)
    await change(client, TOPIC, "t", Change("retention.ms", DELETE, None))
    for name in ("1", ""):
        await change(client, BROKER, name, Change("log.retention.ms", DELETE, None))
    assert await retention() == ("3600000", 5)  # of log.retention.hours


async def test_thread_pools_change_in_steps(client: BrokerConnection) -> None:
    failed = "Dynamic thread count update validation failed for num.io.threads="
    for text, reason in (("3", "be at least half"), ("17", "not be greater than double")):
        outcome = await change(client, BROKER, "", Change("num.io.threads", SET, text))
        assert outcome == (ErrorCode.INVALID_REQUEST, f"{failed}{text}, value should {reason} the current value 8")
    assert await change(client, BROKER, "", Change("num.io.threads", SET, "16")) == (0, None)
    assert await change(client, BROKER, "", Change("num.io.threads", SET, "32")) == (0, None)


async def test_dynamic_listeners_are_refused(client: BrokerConnection) -> None:
    code, message = await change(client, BROKER, "1", Change("listeners", SET, "PLAINTEXT://:0"))
    assert code == ErrorCode.INVALID_REQUEST
    assert message is not None
    assert "keeps the listeners that it was started with" in message


async def test_java_classes_are_kept_and_do_nothing(client: BrokerConnection) -> None:
    assert await change(client, BROKER, "1", Change("metric.reporters", SET, "no.such.Class")) == (0, None)
    assert (await described(client, BROKER, "1", "metric.reporters"))["metric.reporters"].value == "no.such.Class"


async def test_alter_configs_twice_for_a_resource_is_answered(client: BrokerConnection) -> None:
    twice = Replaced(TOPIC, "t", (Value("retention.ms", "5"),))
    other = Replaced(GROUP, "g", (Value("share.isolation.level", "read_committed"),))
    answer = await client.ask(AlterConfigsRequest((twice, other, twice)), 2, AlterConfigsResponse)
    assert [result.error_code for result in answer.responses] == [42, 0, 42]
    assert (await described(client, TOPIC, "t", "retention.ms"))["retention.ms"].value == "3600000"


async def test_too_many_changes_are_refused_and_none_is_made(client: BrokerConnection) -> None:
    names = [f"k{number}" for number in range(6_000)]
    changes = tuple(Change(name, SET, "v") for name in names)
    request = IncrementalAlterConfigsRequest((Changed(BROKER, "1", changes), Changed(BROKER, "", changes)))
    answer = await client.ask(request, 1, IncrementalAlterConfigsResponse)
    assert [(result.error_code, result.error_message) for result in answer.responses] == [
        (ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
    ] * 2
    assert await described(client, BROKER, "", "k1") == {}


async def test_values_grow_as_long_as_they_fit(client: BrokerConnection) -> None:
    entries, others = (",".join(f"{number}:{broker}" for number in range(4_000)) for broker in (1, 2))
    name = "leader.replication.throttled.replicas"
    for operation in (APPEND, APPEND):
        assert await change(client, TOPIC, "t", Change(name, operation, entries)) == (0, None)
    code, message = await change(client, TOPIC, "t", Change(name, APPEND, others))
    assert code == ErrorCode.INVALID_CONFIG
    assert message == (
        "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."
    )
    assert await change(client, TOPIC, "t", Change(name, SUBTRACT, entries)) == (0, None)
    assert (await described(client, TOPIC, "t", name))[name].value == ""


@pytest.mark.parametrize("pattern", ["(" * 30_000, "a{99999999999999999999}", "["])
async def test_patterns_that_cannot_be_are_refused(client: BrokerConnection, pattern: str) -> None:
    code, _ = await change(client, CLIENT_METRICS, "m", Change("match", SET, f"client_id={pattern}"))
    assert code == ErrorCode.INVALID_CONFIG


async def test_resources_with_configurations_are_listed(client: BrokerConnection) -> None:
    await change(client, GROUP, "g", Change("share.isolation.level", SET, "read_committed"))
    await change(client, CLIENT_METRICS, "m", Change("interval.ms", SET, "1000"))
    answer = await client.ask(ListConfigResourcesRequest(), 1, ListConfigResourcesResponse)
    listed = {(resource.resource_type, resource.resource_name) for resource in answer.config_resources}
    assert listed == {(TOPIC, "t"), (BROKER, "1"), (BROKER_LOGGER, "1"), (CLIENT_METRICS, "m"), (GROUP, "g")}
    old = await client.ask(ListConfigResourcesRequest(), 0, ListConfigResourcesResponse)
    assert [resource.resource_name for resource in old.config_resources] == ["m"]


class TestLoggers:
    @pytest.fixture(autouse=True)
    def logger(self) -> Iterator[logging.Logger]:
        logger = logging.getLogger("kafkawire.broker")
        level = logger.level
        yield logger
        logger.setLevel(level)

    async def test_broker_loggers_are_those_of_this_process(
        self, client: BrokerConnection, logger: logging.Logger
    ) -> None:
        assert {"root", "kafkawire.broker"} <= (await described(client, BROKER_LOGGER, "1")).keys()
        assert await change(client, BROKER_LOGGER, "1", Change("kafkawire.broker", SET, "DEBUG")) == (0, None)
        assert logger.level == logging.DEBUG
        level = (await described(client, BROKER_LOGGER, "1", "kafkawire.broker"))["kafkawire.broker"]
        assert (level.value, level.config_source) == ("DEBUG", 6)
        assert await change(client, BROKER_LOGGER, "1", Change("kafkawire.broker", DELETE, None)) == (0, None)
        assert logger.level == logging.NOTSET

    async def test_levels_end_with_the_broker(self, logger: logging.Logger) -> None:
        level = logger.level
        async with EmbeddedBroker() as broker, connected_to(broker) as client:
            for word in ("DEBUG", "ERROR"):
                assert await change(client, BROKER_LOGGER, "1", Change("kafkawire.broker", SET, word)) == (0, None)
        assert logger.level == level

    async def test_nothing_changes_unless_all_can(self, client: BrokerConnection, logger: logging.Logger) -> None:
        good, bad = Change("kafkawire.broker", SET, "DEBUG"), Change("no.such", SET, "DEBUG")
        assert (await change(client, BROKER_LOGGER, "1", good, bad))[0] == ErrorCode.INVALID_CONFIG
        assert logger.level != logging.DEBUG
