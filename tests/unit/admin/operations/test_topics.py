"""Topics that are created, deleted and grown (B7 to B10)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.layout import Uuid
from kafkawire.model.configs.resources import ConfigSource
from kafkawire.model.topics import BROKER_DEFAULT, NewPartitions, NewTopic
from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    InvalidPartitionsError,
    InvalidTopicError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
    UnknownServerError,
    UnknownTopicIdError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

Handlers = dict[type[Message], NodeHandler]
ID, OTHER_ID = Uuid(bytes(range(16))), Uuid(bytes(range(1, 17)))
Result = CreateTopicsResponse.CreatableTopicResult
Config = CreateTopicsResponse.CreatableTopicConfigs


def creating(result: Callable[[str], Result]) -> Handlers:
    def create(_: int, request: Request) -> Message:
        assert isinstance(request.body, CreateTopicsRequest)
        return CreateTopicsResponse(topics=tuple(result(topic.name) for topic in reversed(request.body.topics)))

    return {CreateTopicsRequest: create}


def described(name: str) -> Result:
    configs = (Config("retention.ms", "1", False, 1, False), Config("secret", None, True, 5, True))
    return Result(name=name, topic_id=ID, num_partitions=3, replication_factor=2, configs=configs)


async def test_a_created_topic_is_described_in_the_result() -> None:
    async with StandInCluster(1, creating(described)) as cluster, cluster.client() as client:
        topic = (await client.create_topics([NewTopic("t", 3, 2)]))["t"]
    assert (topic.name, topic.topic_id, topic.num_partitions, topic.replication_factor) == ("t", ID, 3, 2)
    assert topic.configs is not None
    assert [(c.name, c.value, c.is_read_only, c.is_sensitive, c.source) for c in topic.configs] == [
        ("retention.ms", "1", False, False, ConfigSource.DYNAMIC_TOPIC_CONFIG),
        ("secret", None, True, True, ConfigSource.DEFAULT_CONFIG),
    ]
    assert repr(topic) == (
        f"CreatedTopic(name='t', topic_id={ID!r}, num_partitions=3, replication_factor=2, "
        "configs=<{'retention.ms': '1'} and 1 defaults>)"
    )


@pytest.mark.parametrize(("number", "name"), [(99, "UNKNOWN_99"), (-1, "UNKNOWN")])
async def test_the_source_of_a_config_may_be_one_of_newer_brokers(number: int, name: str) -> None:
    def newer(topic: str) -> Result:
        return Result(name=topic, configs=(Config("retention.ms", "1", False, number, False),))

    async with StandInCluster(1, creating(newer)) as cluster, cluster.client() as client:
        topic = (await client.create_topics([NewTopic("t", 3, 2)]))["t"]
    assert topic.configs is not None
    assert topic.configs[0].source.name == name


async def test_a_topic_that_was_only_validated_has_no_topic_id() -> None:
    """B8."""
    async with StandInCluster(1, creating(described)) as cluster, cluster.client() as client:
        topic = (await client.create_topics([NewTopic("t", 3, 2)], validate_only=True))["t"]
        assert topic.topic_id is None
        assert topic.num_partitions == 3
        assert [getattr(request, "validate_only", None) for _, request in cluster.asked] == [True]


async def test_validate_only_is_not_sent_to_a_broker_that_would_create_the_topic() -> None:
    """B7."""
    versions: dict[int, range] = {ApiKey.CREATE_TOPICS: range(1)}
    async with StandInCluster(1, creating(described), versions=versions) as cluster, cluster.client() as client:
        results = await client.create_topics([NewTopic("t", 3, 2)], validate_only=True)
        assert isinstance(results.errors()["t"], UnsupportedVersionError)
        assert cluster.asked == []


async def test_results_are_matched_by_name_and_returned_in_the_order_of_the_call() -> None:
    """B9."""

    def result(name: str) -> Result:
        return Result(
            name=name, error_code=ErrorCode.POLICY_VIOLATION if name == "b" else 0, error_message=f"no {name}"
        )

    async with StandInCluster(1, creating(result)) as cluster, cluster.client() as client:
        results = await client.create_topics([NewTopic(name, 1, 1) for name in "abc"])
        assert list(results) == ["a", "b", "c"]
        assert list(results.values()) == ["a", "c"]
        error = results.errors()["b"]
        assert isinstance(error, PolicyViolationError)
        assert error.message == "no b"


async def test_without_the_right_to_see_configs_a_topic_is_created_all_the_same() -> None:
    def hidden(name: str) -> Result:
        return Result(
            name=name, topic_id=ID, topic_config_error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            num_partitions=-1, replication_factor=-1, configs=(),
        )  # fmt: skip

    async with StandInCluster(1, creating(hidden)) as cluster, cluster.client() as client:
        topic = (await client.create_topics([NewTopic("t")]))["t"]
        assert (topic.topic_id, topic.num_partitions, topic.replication_factor, topic.configs) == (ID, None, None, None)


async def test_defaults_of_the_broker_need_a_newer_broker_only_for_their_topics() -> None:
    versions: dict[int, range] = {ApiKey.CREATE_TOPICS: range(4)}
    topics = [NewTopic("default"), NewTopic("assigned", replica_assignments={0: [1]}), NewTopic("told", 1, 1)]
    async with StandInCluster(1, creating(described), versions=versions) as cluster, cluster.client() as client:
        results = await client.create_topics(topics)
        assert isinstance(results.errors()["default"], UnsupportedVersionError)
        assert list(results.values()) == ["assigned", "told"]


async def test_assignments_and_configs_are_sent_as_they_are() -> None:
    async with StandInCluster(1, creating(described)) as cluster, cluster.client() as client:
        new = NewTopic("t", replica_assignments={0: [1, 2], 1: [2, 1]}, configs={"retention.ms": "5"})
        (await client.create_topics([new])).all()
        ((_, request),) = cluster.asked
    assert isinstance(request, CreateTopicsRequest)
    (sent,) = request.topics
    assert (sent.num_partitions, sent.replication_factor) == (BROKER_DEFAULT, BROKER_DEFAULT)
    assert [(a.partition_index, tuple(a.broker_ids)) for a in sent.assignments] == [(0, (1, 2)), (1, (2, 1))]
    assert [(c.name, c.value) for c in sent.configs] == [("retention.ms", "5")]


async def test_configs_count_towards_the_record_limit() -> None:
    configs = {f"config-{number}": "1" for number in range(5_000)}
    async with StandInCluster(1, creating(described)) as cluster, cluster.client() as client:
        (await client.create_topics([NewTopic(name, 1, 1, configs=configs) for name in "ab"])).all()
        assert len(cluster.asked) == 2


def deleting(code: Callable[[str | Uuid], int]) -> Handlers:
    def delete(_: int, request: Request) -> Message:
        assert isinstance(request.body, DeleteTopicsRequest)
        result = DeleteTopicsResponse.DeletableTopicResult
        if request.header.request_api_version < 6:
            named = request.body.topic_names
            return DeleteTopicsResponse(responses=tuple(result(name=n, error_code=code(n)) for n in reversed(named)))
        return DeleteTopicsResponse(
            responses=tuple(
                result(name=topic.name, topic_id=topic.topic_id, error_code=code(topic.name or topic.topic_id))
                for topic in reversed(request.body.topics)
            )
        )

    return {DeleteTopicsRequest: delete}


async def test_topics_are_deleted_by_name_and_by_id_in_one_call() -> None:
    codes: dict[str | Uuid, int] = {"b": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, OTHER_ID: ErrorCode.UNKNOWN_TOPIC_ID}
    async with StandInCluster(1, deleting(lambda topic: codes.get(topic, 0))) as cluster, cluster.client() as client:
        results = await client.delete_topics(["a", ID, "b", OTHER_ID])
        assert list(results) == ["a", ID, "b", OTHER_ID]
        assert list(results.values()) == ["a", ID]
        assert isinstance(results.errors()[OTHER_ID], UnknownTopicIdError)
        assert len(cluster.asked) == 1


async def test_an_id_that_one_may_not_see_is_an_error_of_that_id() -> None:
    denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    async with StandInCluster(1, deleting(lambda _: denied)) as cluster, cluster.client() as client:
        assert isinstance((await client.delete_topics([ID])).errors()[ID], TopicAuthorizationFailedError)


async def test_ids_fail_alone_at_brokers_that_know_names_only() -> None:
    versions: dict[int, range] = {ApiKey.DELETE_TOPICS: range(6)}
    async with StandInCluster(1, deleting(lambda _: 0), versions=versions) as cluster, cluster.client() as client:
        results = await client.delete_topics([ID, "a"])
        assert isinstance(results.errors()[ID], UnsupportedVersionError)
        assert list(results.values()) == ["a"]


async def test_topics_that_no_cluster_has_are_not_sent() -> None:
    async with StandInCluster(1, deleting(lambda _: 0)) as cluster, cluster.client() as client:
        errors = (await client.delete_topics(["", Uuid()])).errors()
        assert [type(error) for error in errors.values()] == [InvalidTopicError, UnknownTopicIdError]
        assert cluster.asked == []


def growing(code: Callable[[str], int]) -> Handlers:
    def grow(_: int, request: Request) -> Message:
        assert isinstance(request.body, CreatePartitionsRequest)
        result = CreatePartitionsResponse.CreatePartitionsTopicResult
        names = [topic.name for topic in reversed(request.body.topics)]
        return CreatePartitionsResponse(results=tuple(result(name, code(name), "because") for name in names))

    return {CreatePartitionsRequest: grow}


async def test_partitions_are_given_as_a_total_or_with_their_places() -> None:
    async with StandInCluster(1, growing(lambda _: 0)) as cluster, cluster.client() as client:
        (await client.create_partitions({"a": 3, "b": NewPartitions(2, [[1, 2]])}, validate_only=True)).all()
        ((_, request),) = cluster.asked
    assert isinstance(request, CreatePartitionsRequest)
    assert request.validate_only
    first, second = request.topics
    assert (first.count, first.assignments) == (3, None)
    assert second.assignments is not None
    assert [tuple(assignment.broker_ids) for assignment in second.assignments] == [(1, 2)]


@pytest.mark.parametrize("refused", ["a", "b"])
async def test_one_topic_that_cannot_grow_leaves_the_others_alone(refused: str) -> None:
    code = ErrorCode.INVALID_PARTITIONS
    async with StandInCluster(1, growing(lambda n: code if n == refused else 0)) as cluster, cluster.client() as client:
        results = await client.create_partitions({"a": 1, "b": 2})
        assert list(results.errors()) == [refused]
        assert isinstance(results.errors()[refused], InvalidPartitionsError)


async def test_an_answer_without_a_topic_is_an_error_of_that_topic() -> None:
    handlers: Handlers = {CreatePartitionsRequest: lambda *_: CreatePartitionsResponse()}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        assert isinstance((await client.create_partitions({"a": 1})).errors()["a"], UnknownServerError)


async def test_more_new_partitions_than_a_request_may_make_are_refused_without_asking() -> None:
    async with StandInCluster(1, growing(lambda _: 0)) as cluster, cluster.client() as client:
        cluster.leaders = {"small": {0: 1}, "large": dict.fromkeys(range(9_999), 1)}
        results = await client.create_partitions({"small": 10_002, "large": 10_002, "b": 2})
        assert isinstance(results.errors()["small"], PolicyViolationError)
        assert list(results.values()) == ["large", "b"]
