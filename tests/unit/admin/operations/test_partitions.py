"""Elections, moves, and records of partitions (admin-partitions)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stand_ins.cluster import NodeHandler, StandInCluster

from kafkawire.model.partitions import ElectionType, IsolationLevel, OffsetSpec, PartitionReassignment, TopicPartition
from kafkawire.protocol import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidTimestampError,
    NoReassignmentInProgressError,
    OffsetOutOfRangeError,
    PreferredLeaderNotAvailableError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

Handlers = dict[type[Message], NodeHandler]
P0, P1, P2 = (TopicPartition("t", number) for number in range(3))


def electing(codes: dict[int, int], top: Callable[[int], int] = lambda _: 0) -> Handlers:
    def elect(node: int, request: Request) -> Message:
        assert isinstance(request.body, ElectLeadersRequest)
        asked = request.body.topic_partitions
        numbers = list(codes) if asked is None else [n for topic in asked for n in topic.partitions]
        result = ElectLeadersResponse.ReplicaElectionResult
        partitions = tuple(ElectLeadersResponse.PartitionResult(n, codes.get(n, 0), None) for n in numbers)
        return ElectLeadersResponse(error_code=top(node), replica_election_results=(result("t", partitions),))

    return {ElectLeadersRequest: elect}


async def test_an_election_that_is_not_needed_is_no_failure() -> None:
    codes: dict[int, int] = {1: ErrorCode.ELECTION_NOT_NEEDED, 2: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    async with StandInCluster(1, electing(codes)) as cluster, cluster.client() as client:
        results = await client.elect_leaders([P0, P1, P2])
        assert results.values() == {P0: True, P1: False}
        assert isinstance(results.errors()[P2], PreferredLeaderNotAvailableError)


@pytest.mark.parametrize("partitions", [[P0], None], ids=["some", "all"])
async def test_an_election_is_asked_again_of_the_new_controller(partitions: list[TopicPartition] | None) -> None:
    def top(node: int) -> int:
        cluster.controller = 2
        return ErrorCode.NOT_CONTROLLER if node == 1 else 0

    async with StandInCluster(2, electing({0: 0}, top)) as cluster, cluster.client() as client:
        assert (await client.elect_leaders(partitions)).all() == {P0: True}
        assert [node for node, _ in cluster.asked] == [1, 2]


async def test_a_refused_election_of_all_is_raised() -> None:
    refused = electing({}, lambda _: ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    async with StandInCluster(1, refused) as cluster, cluster.client() as client:
        with pytest.raises(ClusterAuthorizationFailedError):
            await client.elect_leaders(None)
        errors = (await client.elect_leaders([P0, P1])).errors()
        assert [type(error) for error in errors.values()] == [ClusterAuthorizationFailedError] * 2


async def test_old_brokers_elect_preferred_leaders_only() -> None:
    versions: dict[int, range] = {ApiKey.ELECT_LEADERS: range(1)}
    async with StandInCluster(1, electing({}), versions=versions) as cluster, cluster.client() as client:
        assert (await client.elect_leaders([P0])).all() == {P0: True}
        errors = (await client.elect_leaders([P0], ElectionType.UNCLEAN)).errors()
        assert isinstance(errors[P0], UnsupportedVersionError)


def moving(codes: dict[int, int], top: int = 0) -> Handlers:
    def move(_: int, request: Request) -> Message:
        assert isinstance(request.body, AlterPartitionReassignmentsRequest)
        answer = AlterPartitionReassignmentsResponse
        return answer(
            error_code=top,
            responses=tuple(
                answer.ReassignableTopicResponse(
                    topic.name,
                    tuple(
                        answer.ReassignablePartitionResponse(p.partition_index, codes.get(p.partition_index, 0))
                        for p in topic.partitions
                    ),
                )
                for topic in request.body.topics
            ),
        )

    return {AlterPartitionReassignmentsRequest: move}


async def test_a_move_is_begun_or_cancelled_for_each_partition() -> None:
    codes: dict[int, int] = {1: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS}
    async with StandInCluster(1, moving(codes)) as cluster, cluster.client() as client:
        results = await client.alter_partition_reassignments({P0: [2, 3], P1: None})
        assert results.values() == {P0: None}
        assert isinstance(results.errors()[P1], NoReassignmentInProgressError)
        ((_, request),) = cluster.asked
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    assert [None if p.replicas is None else tuple(p.replicas) for p in request.topics[0].partitions] == [(2, 3), None]


async def test_keeping_the_number_of_replicas_is_not_asked_of_brokers_that_would_ignore_it() -> None:
    versions: dict[int, range] = {ApiKey.ALTER_PARTITION_REASSIGNMENTS: range(1)}
    async with StandInCluster(1, moving({}), versions=versions) as cluster, cluster.client() as client:
        (await client.alter_partition_reassignments({P0: [1]})).all()
        strict = await client.alter_partition_reassignments({P0: [1]}, allow_replication_factor_change=False)
        assert isinstance(strict.errors()[P0], UnsupportedVersionError)
        assert len(cluster.asked) == 1


async def test_an_error_of_the_whole_answer_is_that_of_every_partition() -> None:
    handlers = moving({}, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        errors = (await client.alter_partition_reassignments({P0: [1], P1: [2]})).errors()
        assert [type(error) for error in errors.values()] == [ClusterAuthorizationFailedError] * 2


async def test_moves_that_go_on_are_listed() -> None:
    answer = ListPartitionReassignmentsResponse
    asked: list[object] = []

    def listed(_: int, request: Request) -> Message:
        assert isinstance(request.body, ListPartitionReassignmentsRequest)
        asked.append(request.body.topics)
        going_on = answer.OngoingPartitionReassignment(1, (1, 2), (2,), ())
        return answer(topics=(answer.OngoingTopicReassignment("t", (going_on,)),))

    handlers: Handlers = {ListPartitionReassignmentsRequest: listed}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        expected = {P1: PartitionReassignment((1, 2), (2,), ())}
        assert await client.list_partition_reassignments() == expected
        assert await client.list_partition_reassignments([P1]) == expected
    assert asked[0] is None
    assert asked[1] is not None


def offsets(code: Callable[[int, int], int] = lambda *_: 0) -> Handlers:
    def listed(node: int, request: Request) -> Message:
        assert isinstance(request.body, ListOffsetsRequest)
        answer = ListOffsetsResponse
        return answer(
            topics=tuple(
                answer.ListOffsetsTopicResponse(
                    topic.name,
                    tuple(
                        answer.ListOffsetsPartitionResponse(
                            partition_index=p.partition_index, offset=-p.timestamp, timestamp=-1,
                            error_code=code(node, p.partition_index), leader_epoch=7,
                        )
                        for p in topic.partitions
                    ),
                )
                for topic in request.body.topics
            )
        )  # fmt: skip

    return {ListOffsetsRequest: listed}


async def test_offsets_are_asked_of_leaders_and_nothing_is_none() -> None:
    async with StandInCluster(2, offsets()) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2, 2: 1}}
        wanted = {P0: OffsetSpec.LATEST, P1: OffsetSpec.EARLIEST, P2: 1_000}
        found = (await client.list_offsets(wanted)).all()
        assert [(o.offset, o.timestamp_ms, o.leader_epoch) for o in found.values()] == [
            (1, None, 7), (2, None, 7), (None, None, 7)
        ]  # fmt: skip
        assert len(cluster.asked) == 2


async def test_a_spec_that_a_broker_does_not_know_fails_alone() -> None:
    versions: dict[int, range] = {ApiKey.LIST_OFFSETS: range(1, 8)}
    async with StandInCluster(1, offsets(), versions=versions) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1, 2: 1}}
        wanted = {P0: OffsetSpec.EARLIEST_LOCAL, P1: OffsetSpec.MAX_TIMESTAMP, P2: OffsetSpec.EARLIEST_PENDING_UPLOAD}
        results = await client.list_offsets(wanted, isolation=IsolationLevel.READ_COMMITTED)
        assert list(results.values()) == [P1]
        assert [type(error) for error in results.errors().values()] == [UnsupportedVersionError] * 2


async def test_a_number_that_is_no_spec_is_not_sent() -> None:
    async with StandInCluster(1, offsets()) as cluster, cluster.client() as client:
        assert isinstance((await client.list_offsets({P0: -99})).errors()[P0], InvalidTimestampError)
        assert cluster.asked == []


async def test_an_unknown_topic_fails_at_once() -> None:
    async with StandInCluster(1, offsets()) as cluster, cluster.client() as client:
        error = (await client.list_offsets({P0: OffsetSpec.LATEST})).errors()[P0]
        assert isinstance(error, UnknownTopicOrPartitionError)
        assert error.attempts <= 1


async def test_a_leader_that_does_not_know_its_offset_yet_is_asked_again() -> None:
    codes = [ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.NONE]
    async with StandInCluster(1, offsets(lambda *_: codes.pop(0))) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        (await client.list_offsets({P0: OffsetSpec.LATEST})).all()
        assert codes == []


def deleting(code: Callable[[int], int]) -> Handlers:
    def delete(_: int, request: Request) -> Message:
        assert isinstance(request.body, DeleteRecordsRequest)
        answer = DeleteRecordsResponse
        return answer(
            topics=tuple(
                answer.DeleteRecordsTopicResult(
                    topic.name,
                    tuple(
                        answer.DeleteRecordsPartitionResult(p.partition_index, p.offset, code(p.partition_index))
                        for p in topic.partitions
                    ),
                )
                for topic in request.body.topics
            )
        )

    return {DeleteRecordsRequest: delete}


async def test_records_are_deleted_up_to_an_offset_of_each_partition() -> None:
    handlers = deleting(lambda number: ErrorCode.OFFSET_OUT_OF_RANGE if number else 0)
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1}}
        results = await client.delete_records({P0: 5, P1: 1_000})
        assert results.values() == {P0: 5}
        assert isinstance(results.errors()[P1], OffsetOutOfRangeError)


async def test_a_topic_that_is_not_known_yet_is_waited_for_before_records_are_deleted() -> None:
    def known(number: int) -> int:
        return number

    async with StandInCluster(1, deleting(known)) as cluster, cluster.client() as client:
        broker = cluster.brokers[1]
        answer = broker._handlers[ApiKey.METADATA]
        lookups = 0

        def later(request: Request) -> Message:
            nonlocal lookups
            lookups += 1
            cluster.leaders = {"t": {0: 1}} if lookups > 3 else {}
            told = answer(request)
            assert isinstance(told, Message)
            return told

        broker._handlers[ApiKey.METADATA] = later
        assert (await client.delete_records({P0: 0})).all() == {P0: 0}
