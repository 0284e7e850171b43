"""Transactions: all nodes, filters that old brokers lack, fencing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from tests.stand_ins.cluster import FAST, NodeHandler, StandInCluster
from tests.stand_ins.coordinators import coordinators

from kafkawire.model.partitions import TopicPartition
from kafkawire.model.transactions import (
    FencedProducer,
    TransactionDescription,
    TransactionListing,
    TransactionState,
)
from kafkawire.protocol import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    InvalidRegularExpressionError,
    InvalidRequestError,
    TransactionalIdAuthorizationFailedError,
    TransactionalIdNotFoundError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

Listed = ListTransactionsResponse.TransactionState


def lists(answers: Mapping[int, list[ListTransactionsResponse]]) -> dict[type[Message], NodeHandler]:
    """Each node answers in turn, the last answer for ever."""

    def answer(node: int, _: Request) -> Message:
        left = answers[node]
        return left.pop(0) if len(left) > 1 else left[0]

    return {ListTransactionsRequest: answer}


def listed(*ids: str) -> ListTransactionsResponse:
    return ListTransactionsResponse(transaction_states=tuple(Listed(each, 7, "Ongoing") for each in ids))


def inits(code: Callable[[int, str], int]) -> dict[type[Message], NodeHandler]:
    def answer(node: int, request: Request) -> Message:
        assert isinstance(request.body, InitProducerIdRequest)
        name = request.body.transactional_id or ""
        found = code(node, name)
        return InitProducerIdResponse(0, found) if found else InitProducerIdResponse(0, 0, 40 + len(name), 3)

    return {InitProducerIdRequest: answer, **coordinators({})}


def asked(cluster: StandInCluster) -> list[InitProducerIdRequest]:
    return [body for _, body in cluster.asked if isinstance(body, InitProducerIdRequest)]


async def test_the_transactions_of_all_nodes_are_put_together_and_those_still_loading_asked_again() -> None:
    loading = ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    unavailable = ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    handlers = lists({1: [listed("a", "b")], 2: [loading, unavailable, listed("c")]})
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        transactions = await client.list_transactions()
        assert sorted(node for node, _ in cluster.asked) == [1, 2, 2, 2]
    assert transactions.all() == tuple(TransactionListing(name, 7, TransactionState.ONGOING) for name in "abc")
    assert [each.transactional_id for each in transactions.by_node[2]] == ["c"]


async def test_a_node_that_refuses_is_reported_beside_the_listings_of_the_others() -> None:
    refused = ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    async with StandInCluster(2, lists({1: [listed("a")], 2: [refused]})) as cluster, cluster.client() as client:
        transactions = await client.list_transactions(transactional_id_pattern="[")
    assert [each.transactional_id for each in transactions.values()] == ["a"]
    assert [type(error) for error in transactions.errors().values()] == [InvalidRegularExpressionError]


async def test_a_state_that_a_node_does_not_know_is_an_error_and_not_everything() -> None:
    answer = ListTransactionsResponse(unknown_state_filters=("Napping",))
    async with StandInCluster(1, lists({1: [answer]})) as cluster, cluster.client() as client:
        errors = (await client.list_transactions(states=[TransactionState("Napping")])).errors()
    assert isinstance(errors[1], InvalidRequestError)
    assert "Napping" in errors[1].message


async def test_all_filters_are_sent() -> None:
    async with StandInCluster(1, lists({1: [listed()]})) as cluster, cluster.client() as client:
        await client.list_transactions(
            states=[TransactionState.ONGOING], producer_ids=[7], minimum_duration_ms=0, transactional_id_pattern="a.*"
        )
        ((_, request),) = cluster.asked
    assert request == ListTransactionsRequest(("Ongoing",), (7,), 0, "a.*")


@pytest.mark.parametrize("newest", range(3))
async def test_a_filter_that_an_old_broker_does_not_know_fails(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.LIST_TRANSACTIONS: range(newest + 1)}
    async with StandInCluster(1, lists({1: [listed("a")]}), versions=versions) as cluster, cluster.client() as client:
        plain = await client.list_transactions(states=[TransactionState.ONGOING], producer_ids=[7])
        duration = await client.list_transactions(minimum_duration_ms=0)
        pattern = await client.list_transactions(transactional_id_pattern="")
    failed = [[type(error) for error in each.errors().values()] for each in (plain, duration, pattern)]
    assert failed == [[] if newest >= since else [UnsupportedVersionError] for since in (0, 1, 2)]


async def test_transactions_are_described_by_their_coordinators_each_with_its_outcome() -> None:
    def answer(_: int, request: Request) -> Message:
        assert isinstance(request.body, DescribeTransactionsRequest)
        state = DescribeTransactionsResponse.TransactionState
        topics = (DescribeTransactionsResponse.TopicData("t", (0, 1)),)
        known = {
            "open": state(0, "open", "Ongoing", 60_000, 1_700_000_000_000, 7, 3, topics),
            "idle": state(0, "idle", "Dreaming", 60_000, -1, 8, 0, ()),
        }
        missing = int(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        states = tuple(known.get(name) or state(missing, name) for name in request.body.transactional_ids)
        return DescribeTransactionsResponse(transaction_states=states)

    handlers: dict[type[Message], NodeHandler] = {DescribeTransactionsRequest: answer, **coordinators({"open": 2})}
    async with StandInCluster(2, handlers) as cluster, cluster.client() as client:
        results = await client.describe_transactions(["open", "idle", "none"])
        lookups = [body for _, body in cluster.asked if isinstance(body, FindCoordinatorRequest)]
        described = [node for node, body in cluster.asked if isinstance(body, DescribeTransactionsRequest)]
    assert results["open"] == TransactionDescription(
        coordinator=2, state=TransactionState.ONGOING, producer_id=7, producer_epoch=3, timeout_ms=60_000,
        start_time_ms=1_700_000_000_000, partitions=frozenset({TopicPartition("t", 0), TopicPartition("t", 1)}),
    )  # fmt: skip
    assert (results["idle"].state, results["idle"].start_time_ms) == ("Dreaming", None)
    assert isinstance(results.errors()["none"], TransactionalIdNotFoundError)
    assert [lookup.key_type for lookup in lookups] == [1]
    assert sorted(described) == [1, 2]


async def test_each_id_is_fenced_by_a_request_of_its_own_with_a_new_epoch() -> None:
    codes = {"secret": ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}
    handlers = inits(lambda _, name: codes.get(name, ErrorCode.NONE))
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        results = await client.fence_producers(["a", "bb", "secret"])
        requests = asked(cluster)
    assert results.values() == {"a": FencedProducer(41, 3), "bb": FencedProducer(42, 3)}
    assert isinstance(results.errors()["secret"], TransactionalIdAuthorizationFailedError)
    assert sorted(each.transactional_id or "" for each in requests) == ["a", "bb", "secret"]
    assert {(each.producer_id, each.producer_epoch) for each in requests} == {(-1, -1)}
    assert all(0 < each.transaction_timeout_ms <= FAST.request_timeout * 1_000 for each in requests)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    ],
)
async def test_fencing_waits_for_the_coordinator_to_be_ready(code: ErrorCode) -> None:
    left = [code, code]
    handlers = inits(lambda *_: left.pop() if left else ErrorCode.NONE)
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        assert await client.force_terminate_transaction("a") is None  # type: ignore[func-returns-value]
        assert len(asked(cluster)) == 3


async def test_the_error_of_one_transaction_is_raised() -> None:
    handlers = inits(lambda *_: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        with pytest.raises(TransactionalIdAuthorizationFailedError):
            await client.force_terminate_transaction("a")


@pytest.mark.parametrize("newest", range(6))
async def test_brokers_of_every_version_fence(newest: int) -> None:
    versions: dict[int, range] = {
        ApiKey.INIT_PRODUCER_ID: range(newest + 1),
        ApiKey.FIND_COORDINATOR: range(newest + 2),
    }
    handlers = inits(lambda *_: ErrorCode.NONE)
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        assert len((await client.fence_producers(["a", "b"])).all()) == 2
