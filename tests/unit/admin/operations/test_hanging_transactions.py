"""Hanging transactions: their coordinators decide, and unknown outcomes are errors, not findings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from tests.stand_ins.cluster import NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.model.partitions import TopicPartition
from kafkawire.model.transactions import AbortTransactionSpec, HangingTransaction
from kafkawire.protocol import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
HOUR_AGO = int(time.time() * 1000) - 3_600_000
State = DescribeProducersResponse.ProducerState
Handlers = dict[type[Message], NodeHandler]


def open_(producer_id: int, *, since: int = HOUR_AGO, start: int = 5, coordinator_epoch: int = 2) -> State:
    return State(producer_id, 3, 0, since, coordinator_epoch, start)


def hanging(partition: TopicPartition, producer_id: int, coordinator_epoch: int | None = 2) -> HangingTransaction:
    return HangingTransaction(partition, producer_id, 3, coordinator_epoch, 5, HOUR_AGO)


def producers(
    of: Mapping[TopicPartition, list[State] | int] | Callable[[int], Mapping[TopicPartition, list[State] | int]],
) -> Handlers:
    """Producers of partitions, or their error codes; both may depend on the number of requests so far."""
    asked = 0

    def answer(_: int, request: Request) -> Message:
        nonlocal asked
        asked += 1
        response = DescribeProducersResponse
        assert isinstance(request.body, DescribeProducersRequest)
        now = of(asked) if callable(of) else of

        def partition(topic: str, number: int) -> DescribeProducersResponse.PartitionResponse:
            known = now.get(TopicPartition(topic, number), [])
            if isinstance(known, int):
                return response.PartitionResponse(number, known, None, ())
            return response.PartitionResponse(number, 0, None, tuple(known))

        return response(
            topics=tuple(
                response.TopicResponse(topic.name, tuple(partition(topic.name, n) for n in topic.partition_indexes))
                for topic in request.body.topics
            )
        )

    return {DescribeProducersRequest: answer}


def transactions(
    ids: Mapping[int, str], partitions: Mapping[str, list[TopicPartition] | int], list_error: int = 0
) -> Handlers:
    """Producer id to transactional id, which node 1 lists; transactional id to partitions or an error code."""

    def listed(node: int, request: Request) -> Message:
        assert isinstance(request.body, ListTransactionsRequest)
        if node != 1:
            return ListTransactionsResponse(error_code=list_error)
        state = ListTransactionsResponse.TransactionState
        wanted = set(request.body.producer_id_filters)
        return ListTransactionsResponse(
            transaction_states=tuple(state(name, number, "Ongoing") for number, name in ids.items() if number in wanted)
        )

    def described(_: int, request: Request) -> Message:
        state, topic = DescribeTransactionsResponse.TransactionState, DescribeTransactionsResponse.TopicData
        assert isinstance(request.body, DescribeTransactionsRequest)
        states = []
        for name in request.body.transactional_ids:
            known = partitions[name]
            if isinstance(known, int):
                states.append(state(error_code=known, transactional_id=name))
            else:
                topics = tuple(topic(at.topic, (at.partition,)) for at in known)
                states.append(state(transactional_id=name, transaction_state="Ongoing", topics=topics))
        return DescribeTransactionsResponse(transaction_states=tuple(states))

    return {ListTransactionsRequest: listed, DescribeTransactionsRequest: described, **coordinators({})}


async def test_a_transaction_hangs_if_no_coordinator_will_end_it() -> None:
    without_transaction, recent = State(4, 0, 9, HOUR_AGO, 0, -1), open_(5, since=int(time.time() * 1000))
    states = {T0: [open_(1), open_(2), open_(3), without_transaction, recent], T1: [open_(1)]}
    known: dict[str, list[TopicPartition] | int] = {"known": [T0], "forgotten": ErrorCode.TRANSACTIONAL_ID_NOT_FOUND}
    handlers = producers(states) | transactions({1: "known", 3: "forgotten"}, known)
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2}, "u": {0: 2}}
        found = (await client.find_hanging_transactions()).all()
        assert found == {T0: (hanging(T0, 2), hanging(T0, 3)), T1: (hanging(T1, 1),), U0: ()}
    assert found[T1][0].abort_spec() == AbortTransactionSpec(T1, 1, 3, 2)


async def test_a_coordinator_epoch_that_is_not_known_is_0_for_the_abort() -> None:
    handlers = producers({T0: [open_(2, coordinator_epoch=-1)]}) | transactions({}, {})
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        (found,) = (await client.find_hanging_transactions(["t"])).all()[T0]
        assert found == hanging(T0, 2, None)
        assert found.abort_spec().coordinator_epoch == 0


async def test_nothing_is_asked_of_coordinators_if_nothing_is_open_for_long() -> None:
    handlers = producers({T0: [open_(1)]})
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1}}
        found = await client.find_hanging_transactions(["t"], max_transaction_timeout_ms=7_200_000)
        assert found.all() == {T0: ()}


async def test_a_transaction_that_ends_meanwhile_does_not_hang() -> None:
    another = {T0: [open_(1, start=99)], T1: [open_(2)]}
    handlers = producers(lambda asked: {T0: [open_(1)], T1: [open_(2)]} if asked == 1 else another)
    async with StandInCluster(1, handlers | transactions({}, {})) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1}}
        assert (await client.find_hanging_transactions(["t"])).all() == {T0: (), T1: (hanging(T1, 2),)}


async def test_a_missing_answer_of_a_coordinator_is_no_finding() -> None:
    """An abort of a transaction that is alive would break it in two."""
    handlers = producers({T0: [open_(1)], T1: [open_(2)]})
    refused = transactions({1: "secret"}, {"secret": ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}, list_error=31)
    async with StandInCluster(2, handlers | refused) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1}}
        errors = (await client.find_hanging_transactions(["t"])).errors()
        assert {place: type(error) for place, error in errors.items()} == {
            T0: TransactionalIdAuthorizationFailedError,
            T1: ClusterAuthorizationFailedError,  # node 2 does not say which ids it coordinates
        }


async def test_topics_and_partitions_fail_alone_and_at_once() -> None:
    nowhere = TopicPartition("t", 7)
    handlers = producers({T0: [open_(1)], T1: ErrorCode.TOPIC_AUTHORIZATION_FAILED}) | transactions({}, {})
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 1, 2: -1}}
        found = await client.find_hanging_transactions(["t", "gone", nowhere])
        assert found.values() == {T0: (hanging(T0, 1),)}
        assert {place: type(error) for place, error in found.errors().items()} == {
            T1: TopicAuthorizationFailedError,
            TopicPartition("t", 2): LeaderNotAvailableError,
            "gone": UnknownTopicOrPartitionError,
            nowhere: UnknownTopicOrPartitionError,
        }


async def test_only_partitions_that_one_node_leads() -> None:
    nowhere = TopicPartition("t", 7)
    handlers = producers({T0: [open_(1)], T1: [open_(1)]}) | transactions({}, {})
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"t": {0: 1, 1: 2, 2: -1}}
        found = await client.find_hanging_transactions(["t", nowhere], node=2)
        assert found.values() == {T1: (hanging(T1, 1),)}
        assert list(found.errors()) == [nowhere]
        assert {node for node, body in cluster.asked if isinstance(body, DescribeProducersRequest)} == {2}


async def test_places_that_are_given_twice_are_reported_twice() -> None:
    handlers = producers({T0: [open_(1)]}) | transactions({}, {})
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        cluster.leaders = {"u": {0: 1}, "t": {0: 1}}
        places: list[str | TopicPartition] = ["t", T0, "gone", "gone"]
        found = await client.find_hanging_transactions(iter(places))
        assert list(found) == [T0, T0, "gone", "gone"]
        assert found[T0] == (hanging(T0, 1),)
        assert sum(isinstance(body, DescribeProducersRequest) for _, body in cluster.asked) == 2


async def test_a_broker_is_asked_for_500_partitions_at_once() -> None:
    async with StandInCluster(1, producers({})) as cluster, cluster.client() as client:
        cluster.leaders = {"wide": dict.fromkeys(range(1200), 1)}
        assert len((await client.find_hanging_transactions(["wide"])).all()) == 1200
        sizes = [
            sum(len(topic.partition_indexes) for topic in body.topics)
            for _, body in cluster.asked
            if isinstance(body, DescribeProducersRequest)
        ]
    assert sorted(sizes) == [200, 500, 500]
