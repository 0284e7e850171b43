"""The offsets of share groups."""

from __future__ import annotations

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.layout import Uuid
from kafkawire.model.groups.offsets import SharePartitionOffset
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    GroupIdNotFoundError,
    NonEmptyGroupError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def tells(_: int, request: Request) -> Message:
    response = DescribeShareGroupOffsetsResponse
    partition = response.DescribeShareGroupOffsetsResponsePartition
    assert isinstance(request.body, DescribeShareGroupOffsetsRequest)
    partitions = (
        partition(0, 5, 2, 9),
        partition(1, -1, -1),
        partition(2, -1, -1, -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "gone"),
    )
    topics = (response.DescribeShareGroupOffsetsResponseTopic("t", Uuid(), partitions),)
    group = response.DescribeShareGroupOffsetsResponseGroup
    return response(
        groups=tuple(
            group(each.group_id, topics)
            if each.group_id == "g"
            else group(each.group_id, (), ErrorCode.GROUP_ID_NOT_FOUND, "not a share group")
            for each in request.body.groups
        )
    )


@pytest.mark.parametrize("newest", [0, 1])
async def test_offsets_are_listed_with_what_went_wrong_for_groups_and_partitions(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: range(newest + 1)}
    handlers: dict[type[Message], NodeHandler] = {DescribeShareGroupOffsetsRequest: tells, **coordinators({})}
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        groups = await client.list_share_group_offsets({"g": None, "other": [T0, U0]})
        (request,) = [body for _, body in cluster.asked if isinstance(body, DescribeShareGroupOffsetsRequest)]
    every, some = request.groups
    assert every.topics is None
    assert [(topic.topic_name, tuple(topic.partitions)) for topic in some.topics or ()] == [("t", (0,)), ("u", (0,))]
    assert groups["g"].values() == {T0: SharePartitionOffset(5, 2, 9 if newest else None), T1: None}
    assert isinstance(groups["g"].errors()[TopicPartition("t", 2)], UnknownTopicOrPartitionError)
    assert isinstance(groups.errors()["other"], GroupIdNotFoundError)


def alters(code: int) -> dict[type[Message], NodeHandler]:
    def answer(_: int, request: Request) -> Message:
        response = AlterShareGroupOffsetsResponse
        assert isinstance(request.body, AlterShareGroupOffsetsRequest)
        if code:
            return response(error_code=code, error_message="has members")
        result = response.AlterShareGroupOffsetsResponsePartition
        return response(
            responses=tuple(
                response.AlterShareGroupOffsetsResponseTopic(
                    topic.topic_name,
                    Uuid(),
                    tuple(
                        result(each.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "gone")
                        if topic.topic_name == "u"
                        else result(each.partition_index)
                        for each in topic.partitions
                    ),
                )
                for topic in request.body.topics
            )
        )

    return {AlterShareGroupOffsetsRequest: answer, **coordinators({})}


async def test_offsets_are_altered_each_with_its_outcome() -> None:
    async with StandInCluster(1, alters(0)) as cluster, cluster.client() as client:
        results = await client.alter_share_group_offsets("g", {T0: 5, U0: 0, T1: 6})
        (request,) = [body for _, body in cluster.asked if isinstance(body, AlterShareGroupOffsetsRequest)]
    assert [[p.start_offset for p in topic.partitions] for topic in request.topics] == [[5, 6], [0]]
    assert list(results.values()) == [T0, T1]
    assert results.errors()[U0].message == "gone"


async def test_an_error_of_the_group_is_that_of_each_partition() -> None:
    async with StandInCluster(1, alters(ErrorCode.NON_EMPTY_GROUP)) as cluster, cluster.client() as client:
        errors = (await client.alter_share_group_offsets("g", {T0: 5, U0: 0})).errors()
    assert [(type(error), error.message) for error in errors.values()] == [(NonEmptyGroupError, "has members")] * 2


@pytest.mark.parametrize("code", [0, int(ErrorCode.GROUP_ID_NOT_FOUND)])
async def test_offsets_are_deleted_by_topic_each_with_its_outcome(code: int) -> None:
    def answer(_: int, request: Request) -> Message:
        response = DeleteShareGroupOffsetsResponse
        assert isinstance(request.body, DeleteShareGroupOffsetsRequest)
        codes = {"u": int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)}
        topic = response.DeleteShareGroupOffsetsResponseTopic
        topics = (topic(each.topic_name, Uuid(), codes.get(each.topic_name, 0)) for each in request.body.topics)
        return response(error_code=code, responses=() if code else tuple(topics))

    handlers: dict[type[Message], NodeHandler] = {DeleteShareGroupOffsetsRequest: answer, **coordinators({})}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        results = await client.delete_share_group_offsets("g", ["t", "u"])
    assert list(results.values()) == ([] if code else ["t"])
    assert [type(error) for error in results.errors().values()] == (
        [GroupIdNotFoundError] * 2 if code else [UnknownTopicOrPartitionError]
    )


async def test_brokers_without_share_groups_say_so() -> None:
    async with StandInCluster(1, coordinators({})) as cluster, cluster.client() as client:
        errors = (await client.list_share_group_offsets(["g"])).errors()
    assert isinstance(errors["g"], UnsupportedVersionError)
