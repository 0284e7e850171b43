"""Topics that are listed, described page by page, and waited for (KIP-966, KIP-516)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.admin.settings import AdminSettings
from kafkawire.layout import Uuid
from kafkawire.model.topics import TopicDescription
from kafkawire.protocol import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidTopicError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownServerError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import OperationTimeoutError

Answer = DescribeTopicPartitionsResponse
Handlers = dict[type[Message], NodeHandler]
ID = Uuid(bytes(range(16)))


def page(topics: Mapping[str, range | int], cursor: tuple[str, int] | None = None) -> Answer:
    """A page of topics: name to its partitions, or to an error code."""
    return Answer(
        topics=tuple(
            Answer.DescribeTopicPartitionsResponseTopic(error_code=about, name=name)
            if isinstance(about, int)
            else Answer.DescribeTopicPartitionsResponseTopic(
                name=name, topic_id=ID,
                partitions=tuple(
                    Answer.DescribeTopicPartitionsResponsePartition(
                        partition_index=number, leader_id=1 if number else -1, leader_epoch=-1, replica_nodes=(1, 2),
                        isr_nodes=(1,), offline_replicas=(2,), eligible_leader_replicas=(1,), last_known_elr=None,
                    )
                    for number in about
                ),
            )
            for name, about in topics.items()
        ),
        next_cursor=None if cursor is None else Answer.Cursor(*cursor),
    )  # fmt: skip


def paging(answer: Callable[[list[str], tuple[str, int] | None], Answer]) -> Handlers:
    def describe(_: int, request: Request) -> Message:
        body = request.body
        assert isinstance(body, DescribeTopicPartitionsRequest)
        at = None if body.cursor is None else (body.cursor.topic_name, body.cursor.partition_index)
        return answer([topic.name for topic in body.topics], at)

    return {DescribeTopicPartitionsRequest: describe}


async def test_a_topic_that_spans_pages_is_put_together() -> None:
    def answer(names: list[str], at: tuple[str, int] | None) -> Answer:
        if at is None:
            return page({"a": range(2), "b": range(3)}, ("b", 3))
        assert (names, at) == (["b", "c"], ("b", 3))
        return page({"b": range(3, 5), "c": range(1)})

    async with StandInCluster(1, paging(answer)) as cluster, cluster.client() as client:
        topics = (await client.describe_topics(["c", "b", "a"])).all()
    assert list(topics) == ["c", "b", "a"]
    assert {name: [p.partition for p in topic.partitions] for name, topic in topics.items()} == {
        "a": [0, 1], "b": [0, 1, 2, 3, 4], "c": [0]
    }  # fmt: skip
    first, second = topics["a"].partitions
    assert (first.leader, first.leader_epoch, second.leader) == (None, None, 1)
    assert (first.replicas, first.isr, first.offline) == ((1, 2), (1,), (2,))
    assert (first.eligible_leader_replicas, first.last_known_eligible_leader_replicas) == ((1,), None)
    assert topics["a"].topic_id == ID


@pytest.mark.parametrize(
    "cursors",
    [[("a", 1), ("a", 1)], [("b", 1), ("a", 1)], [("a", 2), ("a", 1), ("a", 2)], [("a", 5), ("elsewhere", 0)]],
    ids=["stands", "goes back", "swings", "leaves"],
)
async def test_a_cursor_that_leads_nowhere_is_an_error_and_no_endless_loop(cursors: list[tuple[str, int]]) -> None:
    left = list(cursors)
    handlers = paging(lambda *_: page({"a": range(1), "b": range(1)}, left.pop(0)))
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        errors = (await client.describe_topics(["a", "b"])).errors()
    assert "b" in errors
    assert all(isinstance(error, UnknownServerError) and "invalid next page" in str(error) for error in errors.values())


async def test_descriptions_before_a_failed_page_are_kept() -> None:
    def answer(_: list[str], at: tuple[str, int] | None) -> Answer:
        return page({"a": range(1), "b": range(1)}, ("b", 1)) if at is None else page({"b": 29, "c": 29})

    async with StandInCluster(1, paging(answer)) as cluster, cluster.client() as client:
        results = await client.describe_topics(["a", "b", "c"])
        assert list(results.values()) == ["a"]
        assert {type(error) for error in results.errors().values()} == {TopicAuthorizationFailedError}


async def test_each_topic_has_its_own_error_and_progress_is_reported() -> None:
    reported: list[tuple[int, int]] = []
    handlers = paging(lambda names, _: page({name: 3 if name == "no" else range(1) for name in names}))
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        results = await client.describe_topics(["no", "", "yes"], progress=lambda *at: reported.append(at))
    assert list(results.values()) == ["yes"]
    assert [type(error) for error in results.errors().values()] == [UnknownTopicOrPartitionError, InvalidTopicError]
    assert reported == [(1, 3), (2, 3), (3, 3)]


async def test_many_topics_are_described_in_several_chains() -> None:
    handlers = paging(lambda names, _: page(dict.fromkeys(names, range(1))))
    names = [f"topic-{number:04}" for number in range(600)]
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        assert list((await client.describe_topics(names)).all()) == names
        assert len(cluster.asked) == 3


async def test_brokers_without_pages_describe_by_metadata() -> None:
    async with StandInCluster(2) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {1: 2, 0: -1}}
        results = await client.describe_topics(["t", "nope"])
        topic = results["t"]
        assert [(p.partition, p.leader) for p in topic.partitions] == [(0, None), (1, 2)]
        assert topic.partitions[0].eligible_leader_replicas is None
        assert isinstance(results.errors()["nope"], UnknownTopicOrPartitionError)


async def test_very_old_brokers_are_queried_for_all_topics_lest_they_create_one() -> None:
    versions: dict[int, range] = {ApiKey.METADATA: range(4)}
    async with StandInCluster(1, versions=versions) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}, "u": {0: 1}}
        results = await client.describe_topics(["t", "nope"])
        assert isinstance(results["t"], TopicDescription)
        assert isinstance(results.errors()["nope"], UnknownTopicOrPartitionError)
        asked = [request.body for request in cluster.brokers[1].requests]
        assert [body.topics for body in asked if isinstance(body, MetadataRequest)][-1] is None


def by_id(request: Request) -> MetadataResponse:
    assert isinstance(request.body, MetadataRequest)
    found = MetadataResponse.MetadataResponseTopic
    return MetadataResponse(
        topics=tuple(
            found(name="t", topic_id=ID) if topic.topic_id == ID
            else found(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=topic.topic_id)
            for topic in request.body.topics or ()
        ),
        brokers=(MetadataResponse.MetadataResponseBroker(1, "127.0.0.1", 1),),
    )  # fmt: skip


async def test_topics_are_described_by_id() -> None:
    other = Uuid(bytes(range(1, 17)))
    async with StandInCluster(1) as cluster, cluster.client() as client:
        await client.list_topics()
        cluster.brokers[1]._handlers[ApiKey.METADATA] = by_id
        results = await client.describe_topics([ID, other, Uuid()])
        assert results[ID].name == "t"
        assert isinstance(results.errors()[other], UnknownTopicIdError)
        assert isinstance(results.errors()[Uuid()], UnknownTopicIdError)


async def test_ids_need_a_broker_that_takes_them_and_names_do_not_suffer() -> None:
    versions: dict[int, range] = {ApiKey.METADATA: range(12)}
    async with StandInCluster(1, versions=versions) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        results = await client.describe_topics(["t", ID])
        assert list(results.values()) == ["t"]
        assert isinstance(results.errors()[ID], UnsupportedVersionError)


def listing(_: Request) -> MetadataResponse:
    found = MetadataResponse.MetadataResponseTopic
    topics = (
        found(name="t", topic_id=ID), found(name="__offsets", is_internal=True),
        found(name=None, topic_id=ID), found(error_code=ErrorCode.LEADER_NOT_AVAILABLE, name="young"),
    )  # fmt: skip
    return MetadataResponse(topics=topics, brokers=(MetadataResponse.MetadataResponseBroker(1, "127.0.0.1", 1),))


@pytest.mark.parametrize("internal", [False, True])
async def test_topics_with_errors_are_listed_and_topics_without_a_name_are_left_out(internal: bool) -> None:
    async with StandInCluster(1) as cluster, cluster.client() as client:
        await client.list_topics()
        cluster.brokers[1]._handlers[ApiKey.METADATA] = listing
        topics = await client.list_topics(include_internal=internal)
        assert list(topics) == ["t", *(["__offsets"] if internal else []), "young"]
        assert (topics["t"].topic_id, topics["young"].topic_id) == (ID, None)


async def test_an_error_of_the_whole_answer_is_that_of_the_listing() -> None:
    async with StandInCluster(1) as cluster, cluster.client() as client:
        await client.list_topics()
        refused = MetadataResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        cluster.brokers[1]._handlers[ApiKey.METADATA] = lambda _: refused
        with pytest.raises(ClusterAuthorizationFailedError):
            await client.list_topics()


async def test_a_topic_is_waited_for_until_all_brokers_know_it() -> None:
    asked: dict[int, int] = {1: 0, 2: 0}

    def slowly(node: int) -> Callable[[Request], Message]:
        def answer(request: Request) -> Message:
            assert isinstance(request.body, MetadataRequest)
            asked[node] += bool(request.body.topics)
            cluster.leaders = {"t": {0: 1}} if asked[node] > node else {}
            return cluster._metadata(request)

        return answer

    async with StandInCluster(2) as cluster, cluster.client() as client:
        for node, broker in cluster.brokers.items():
            broker._handlers[ApiKey.METADATA] = slowly(node)
        assert (await client.wait_for_topics(["t"])).all() == {"t": None}
        assert asked == {1: 2, 2: 3}


async def test_a_topic_that_stays_incomplete_is_reported_with_what_is_missing() -> None:
    async with StandInCluster(2) as cluster, cluster.client(AdminSettings(retry_backoff=0.01)) as client:
        cluster.leaders = {"whole": {0: 1}, "leaderless": {0: 1, 1: -1}}
        results = await client.wait_for_topics(["whole", "leaderless", "nope", ""], timeout=1.0)
        assert list(results.values()) == ["whole"]
        assert isinstance(results.errors()["leaderless"], OperationTimeoutError)
        assert isinstance(results.errors()["leaderless"].__cause__, LeaderNotAvailableError)
        assert isinstance(results.errors()["nope"].__cause__, UnknownTopicOrPartitionError)
        assert isinstance(results.errors()[""], InvalidTopicError)
