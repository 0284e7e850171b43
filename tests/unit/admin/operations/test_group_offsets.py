"""Offsets of groups: many groups in a request or one, partitions that fail, and older brokers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.model.groups.offsets import CommittedOffset
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    TopicAuthorizationFailedError,
    UnknownServerError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)

GROUP_CODES: Mapping[str, int] = {"secret": ErrorCode.GROUP_AUTHORIZATION_FAILED}
OFFSETS = {0: (7, 3, "note", 0), 1: (-1, -1, "", 0), 2: (-1, -1, "", int(ErrorCode.UNSTABLE_OFFSET_COMMIT))}
"""Partition of every topic to its offset, leader epoch, metadata and error code."""


def fetches(codes: Callable[[int, str], int] | None = None) -> dict[type[Message], NodeHandler]:
    """Every group has the same offsets in the topic t; some groups have error codes."""

    def code(node: int, group: str) -> int:
        return GROUP_CODES.get(group, 0) if codes is None else codes(node, group)

    def answer(node: int, request: Request) -> Message:
        body, response = request.body, OffsetFetchResponse
        assert isinstance(body, OffsetFetchRequest)
        if request.header.request_api_version < 8:
            wanted = {"t": OFFSETS} if body.topics is None else {t.name: t.partition_indexes for t in body.topics}
            return response(
                topics=tuple(
                    response.OffsetFetchResponseTopic(
                        name, tuple(response.OffsetFetchResponsePartition(n, *OFFSETS[n]) for n in numbers)
                    )
                    for name, numbers in wanted.items()
                ),
                error_code=code(node, body.group_id),
            )
        groups = []
        for group in body.groups:
            of_group = {"t": OFFSETS} if group.topics is None else {t.name: t.partition_indexes for t in group.topics}
            topics = tuple(
                response.OffsetFetchResponseTopics(
                    name=name, partitions=tuple(response.OffsetFetchResponsePartitions(n, *OFFSETS[n]) for n in numbers)
                )
                for name, numbers in of_group.items()
            )
            groups.append(response.OffsetFetchResponseGroup(group.group_id, topics, code(node, group.group_id)))
        return response(groups=tuple(groups))

    return {OffsetFetchRequest: answer, **coordinators({})}


def commits(code: Callable[[int, TopicPartition], int]) -> dict[type[Message], NodeHandler]:
    def answer(node: int, request: Request) -> Message:
        response = OffsetCommitResponse
        assert isinstance(request.body, OffsetCommitRequest)
        return response(
            topics=tuple(
                response.OffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=tuple(
                        response.OffsetCommitResponsePartition(
                            each.partition_index, code(node, TopicPartition(topic.name, each.partition_index))
                        )
                        for each in topic.partitions
                    ),
                )
                for topic in request.body.topics
            )
        )

    return {OffsetCommitRequest: answer, **coordinators({})}


def fetched(cluster: StandInCluster) -> list[OffsetFetchRequest]:
    return [body for _, body in cluster.asked if isinstance(body, OffsetFetchRequest)]


def committed(cluster: StandInCluster) -> list[OffsetCommitRequest]:
    return [body for _, body in cluster.asked if isinstance(body, OffsetCommitRequest)]


@pytest.mark.parametrize("newest", range(1, 11))
async def test_brokers_of_every_version_tell_the_offsets_of_many_groups(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.OFFSET_FETCH: range(newest + 1)}
    wanted = {"a": [T0, T1, U0], "b": [T0], "secret": [T0]}
    async with StandInCluster(1, fetches(), versions=versions) as cluster, cluster.client() as client:
        groups = await client.list_consumer_group_offsets(wanted)
        assert len(fetched(cluster)) == (1 if newest >= 8 else 3)
    there = CommittedOffset(7, 3 if newest >= 5 else None, "note")
    assert groups["a"].all() == {T0: there, T1: None, U0: there}
    assert groups["b"].all() == {T0: there}
    if newest >= 2:
        assert isinstance(groups.errors()["secret"], GroupAuthorizationFailedError)


async def test_topics_go_by_name_also_where_ids_could_be_used() -> None:
    async with StandInCluster(1, fetches()) as cluster, cluster.client() as client:
        assert set((await client.list_consumer_group_offsets(["a"]))["a"]) == {T0, T1, TopicPartition("t", 2)}
        (request,) = cluster.brokers[1].requests[-1:]
    assert request.header.request_api_version == 9


@pytest.mark.parametrize("newest", [7, 9])
async def test_an_error_of_a_partition_is_not_lost(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.OFFSET_FETCH: range(newest + 1)}
    async with StandInCluster(1, fetches(), versions=versions) as cluster, cluster.client() as client:
        offsets = (await client.list_consumer_group_offsets(["a"], require_stable=True))["a"]
        assert all(request.require_stable for request in fetched(cluster))
    assert offsets.values() == {T0: CommittedOffset(7, 3, "note"), T1: None}
    error = offsets.errors()[TopicPartition("t", 2)]
    assert isinstance(error, UnstableOffsetCommitError)
    assert error.retriable


async def test_a_partition_that_the_answer_lacks_has_an_error_too() -> None:
    def forgetful(_: int, __: Request) -> Message:
        return OffsetFetchResponse(groups=(OffsetFetchResponse.OffsetFetchResponseGroup("g", ()),))

    handlers: dict[type[Message], NodeHandler] = {OffsetFetchRequest: forgetful, **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        offsets = (await client.list_consumer_group_offsets({"g": [T1, T0]}))["g"]
    assert [(type(error), error.node) for error in offsets.errors().values()] == [(UnknownServerError, 1)] * 2
    assert list(offsets) == [T1, T0]


@pytest.mark.parametrize("newest", [1, 6])
async def test_unsupported_options_of_an_old_broker_are_errors(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.OFFSET_FETCH: range(newest + 1)}
    async with StandInCluster(1, fetches(), versions=versions) as cluster, cluster.client() as client:
        stable = await client.list_streams_group_offsets({"a": [T0]}, require_stable=True)
        assert isinstance(stable.errors()["a"], UnsupportedVersionError)
        everything = await client.list_streams_group_offsets({"a": None, "b": [T0]})
    assert list(everything.values()) == (["b"] if newest == 1 else ["a", "b"])
    assert [type(error) for error in everything.errors().values()] == ([UnsupportedVersionError] if newest == 1 else [])


async def test_only_groups_whose_coordinator_has_moved_are_asked_for_again() -> None:
    homes = {"a": 1, "b": 1}

    def code(node: int, group: str) -> int:
        if group == "b" and node == 1:
            homes["b"] = 2
            return ErrorCode.NOT_COORDINATOR
        return 0

    handlers = fetches(code) | coordinators(homes)
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        (await client.list_consumer_group_offsets({"a": [T0], "b": [T0]})).all()
        asked = [
            (node, [g.group_id for g in b.groups]) for node, b in cluster.asked if isinstance(b, OffsetFetchRequest)
        ]
    assert asked == [(1, ["a", "b"]), (2, ["b"])]


@pytest.mark.parametrize("newest", range(2, 11))
async def test_brokers_of_every_version_take_offsets(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.OFFSET_COMMIT: range(newest + 1)}
    async with StandInCluster(1, commits(lambda *_: 0), versions=versions) as cluster, cluster.client() as client:
        (await client.alter_consumer_group_offsets("g", {T0: 5, T1: CommittedOffset(6, 2, "note"), U0: 0})).all()
        (request,) = committed(cluster)
    (t, u) = request.topics
    epoch = 2 if newest >= 6 else -1
    assert [(p.partition_index, p.committed_offset, p.committed_leader_epoch) for p in t.partitions] == [
        (0, 5, -1),
        (1, 6, epoch),
    ]
    assert [p.committed_metadata for p in t.partitions] == ["", "note"]
    assert (t.name, u.name, len(u.partitions)) == ("t", "u", 1)
    assert (request.group_id, request.member_id, request.generation_id_or_member_epoch) == ("g", "", -1)


@pytest.mark.parametrize(
    "code",
    [ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR],
)
async def test_only_partitions_that_failed_for_a_passing_reason_are_committed_again(code: ErrorCode) -> None:
    left = {T1: int(code)}

    def answer(_: int, partition: TopicPartition) -> int:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if partition == U0 else left.pop(partition, 0)

    async with StandInCluster(1, commits(answer)) as cluster, cluster.client() as client:
        results = await client.alter_streams_group_offsets("g", {T0: 1, T1: 2, U0: 3})
        requests = [[t.name for t in request.topics for _ in t.partitions] for request in committed(cluster)]
    assert requests == [["t", "t", "u"], ["t"]]
    assert list(results.values()) == [T0, T1]
    assert isinstance(results.errors()[U0], UnknownTopicOrPartitionError)


async def test_requests_stay_below_the_size_of_a_batch_of_the_log() -> None:
    offsets = {TopicPartition("t", number): CommittedOffset(1, metadata="x" * 4096) for number in range(300)}
    async with StandInCluster(1, commits(lambda *_: 0)) as cluster, cluster.client() as client:
        assert len((await client.alter_consumer_group_offsets("g", offsets)).all()) == 300
        sizes = [
            sum(len(each.committed_metadata or "") for topic in request.topics for each in topic.partitions)
            for request in committed(cluster)
        ]
    assert len(sizes) > 1
    assert max(sizes) < 1 << 19


def deletes(code: int, codes: Mapping[TopicPartition, int]) -> dict[type[Message], NodeHandler]:
    def answer(_: int, request: Request) -> Message:
        response = OffsetDeleteResponse
        assert isinstance(request.body, OffsetDeleteRequest)
        topics = tuple(
            response.OffsetDeleteResponseTopic(
                topic.name,
                tuple(
                    response.OffsetDeleteResponsePartition(
                        each.partition_index, codes.get(TopicPartition(topic.name, each.partition_index), 0)
                    )
                    for each in topic.partitions
                ),
            )
            for topic in request.body.topics
        )
        return response(error_code=code, topics=() if code else topics)

    return {OffsetDeleteRequest: answer, **coordinators({})}


async def test_offsets_are_deleted_each_with_its_outcome() -> None:
    codes = {T1: int(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC), U0: int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)}
    async with StandInCluster(1, deletes(0, codes)) as cluster, cluster.client() as client:
        results = await client.delete_consumer_group_offsets("g", [T0, T1, U0])
    assert list(results.values()) == [T0]
    assert [type(error) for error in results.errors().values()] == [
        GroupSubscribedToTopicError,
        TopicAuthorizationFailedError,
    ]


async def test_an_error_of_the_group_is_that_of_each_partition() -> None:
    async with StandInCluster(1, deletes(ErrorCode.GROUP_ID_NOT_FOUND, {})) as cluster, cluster.client() as client:
        errors = (await client.delete_streams_group_offsets("g", [T0, T1])).errors()
    assert [type(error) for error in errors.values()] == [GroupIdNotFoundError] * 2
