"""The engine: routing, retrying, timing out, and an outcome for every item (admin-routing, admin-retries)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

import pytest
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import FAST, NodeHandler, StandInCluster

from kafkawire.admin.client import AdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.admin.results import Results
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    InvalidRequestError,
    InvalidTopicError,
    NotControllerError,
    RequestTimedOutError,
    ThrottlingQuotaExceededError,
    TopicAlreadyExistsError,
    UnknownServerError,
    UnsupportedEndpointTypeError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request as Received
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import (
    ClosedError,
    ConnectionFailedError,
    DisconnectedError,
    KafkaError,
    OperationTimeoutError,
)


def _topics(request: Received) -> list[str]:
    assert isinstance(request.body, CreateTopicsRequest)
    return [topic.name for topic in request.body.topics]


def _created(
    names: Iterable[str], codes: Mapping[str, int] | None = None, throttle_ms: int = 0
) -> CreateTopicsResponse:
    results = [
        CreateTopicsResponse.CreatableTopicResult(name=name, error_code=(codes or {}).get(name, 0)) for name in names
    ]
    return CreateTopicsResponse(topics=results, throttle_time_ms=throttle_ms)


def _creates(answer: Callable[[int, list[str]], Message | Answer]) -> dict[type[Message], NodeHandler]:
    return {CreateTopicsRequest: lambda node, request: answer(node, _topics(request))}


def _in_turn(*answers: Callable[[int, list[str]], Message | Answer]) -> dict[type[Message], NodeHandler]:
    """Each request is answered by the next of some answers, the last one for ever."""
    left = list(answers)

    def answer(node: int, names: list[str]) -> Message | Answer:
        return (left.pop(0) if len(left) > 1 else left[0])(node, names)

    return _creates(answer)


def _all_created(_: int, names: list[str]) -> Message:
    return _created(names)


def _closes(_: int, __: list[str]) -> Answer:
    return Answer(close=True)


def _silent(_: int, __: list[str]) -> Answer:
    return Answer()


def _code(code: ErrorCode) -> Callable[[int, list[str]], Message]:
    return lambda _, names: _created(names, dict.fromkeys(names, code))


async def _create(client: AdminClient, *names: str, timeout: float | None = None) -> Results[str, object]:
    return await client.create_topics([NewTopic(name, 1, 1) for name in names], timeout=timeout)


async def test_requests_for_the_controller_go_to_the_node_that_metadata_names() -> None:
    async with StandInCluster(3, _creates(_all_created)) as cluster, cluster.client() as client:
        cluster.controller = 2
        (await _create(client, "a", "b")).all()
        assert [node for node, _ in cluster.asked] == [2]


async def test_not_controller_is_retried_at_the_new_one() -> None:
    def answer(node: int, names: list[str]) -> Message:
        if node == 1:
            cluster.controller = 3
            return _created(names, dict.fromkeys(names, ErrorCode.NOT_CONTROLLER))
        return _created(names)

    async with StandInCluster(3, _creates(answer)) as cluster, cluster.client() as client:
        (await _create(client, "a")).all()
        assert [node for node, _ in cluster.asked] == [1, 3]


async def test_only_items_that_failed_for_a_passing_reason_are_sent_again() -> None:
    mixed = {"taken": ErrorCode.TOPIC_ALREADY_EXISTS, "late": ErrorCode.REQUEST_TIMED_OUT}
    handlers = _in_turn(lambda _, names: _created(names, mixed), _all_created)
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        results = await _create(client, "new", "taken", "late")
        assert list(results.values()) == ["new", "late"]
        error = results.errors()["taken"]
        assert isinstance(error, TopicAlreadyExistsError)
        assert (error.node, error.attempts, error.outcome_unknown) == (1, 1, False)
        asked = [request for _, request in cluster.asked if isinstance(request, CreateTopicsRequest)]
        assert [[topic.name for topic in request.topics] for request in asked] == [["new", "taken", "late"], ["late"]]


async def test_equal_items_are_sent_once_and_reported_for_each() -> None:
    def deleted(_: int, request: Received) -> Message:
        assert isinstance(request.body, DeleteTopicsRequest)
        result = DeleteTopicsResponse.DeletableTopicResult
        return DeleteTopicsResponse(responses=tuple(result(topic.name) for topic in request.body.topics))

    async with StandInCluster(1, {DeleteTopicsRequest: deleted}) as cluster, cluster.client() as client:
        results = await client.delete_topics(["a", "b", "a"])
        assert list(results) == ["a", "b", "a"]
        assert [len(getattr(request, "topics", ())) for _, request in cluster.asked] == [2]


async def test_an_item_that_can_be_judged_without_a_broker_is_not_sent() -> None:
    async with StandInCluster(1, _creates(_all_created)) as cluster, cluster.client() as client:
        results = await _create(client, "", "b")
        assert isinstance(results.errors()[""], InvalidTopicError)
        assert list(results.values()) == ["b"]


async def test_an_item_that_the_answer_lacks_has_an_error() -> None:
    async with StandInCluster(1, _creates(lambda *_: _created(["a"]))) as cluster, cluster.client() as client:
        results = await _create(client, "a", "forgotten")
        assert isinstance(results.errors()["forgotten"], UnknownServerError)


async def test_a_value_that_no_version_carries_is_an_error_of_its_items() -> None:
    async with StandInCluster(1, _creates(_all_created)) as cluster, cluster.client() as client:
        results = await client.create_topics([NewTopic("a", 1 << 40, 1)])
        error = results.errors()["a"]
        assert isinstance(error, InvalidRequestError)
        assert error.attempts == 0
        assert "num_partitions" in str(error)


async def test_a_value_that_no_version_carries_does_not_spoil_the_other_items() -> None:
    async with StandInCluster(1, _creates(_all_created)) as cluster, cluster.client() as client:
        topics = [NewTopic(f"t{number}", 1 << 40 if number in {3, 40} else 1, 1) for number in range(50)]
        results = await client.create_topics(topics)
        assert list(results.errors()) == ["t3", "t40"]
        assert len(results.values()) == 48
        sent = [topic.name for _, request in cluster.asked for topic in getattr(request, "topics", ())]
        assert sorted(sent) == sorted(results.values())


async def test_requests_stay_below_the_record_limit() -> None:
    def answer(_: int, names: list[str]) -> Message:
        return _created(names)

    async with StandInCluster(1, _creates(answer)) as cluster, cluster.client() as client:
        topics = [NewTopic(f"t{number}", 4_000, 1) for number in range(7)]
        (await client.create_topics(topics)).all()
        assert sorted(len(getattr(request, "topics", ())) for _, request in cluster.asked) == [1, 2, 2, 2]


async def test_progress_is_reported_for_every_outcome() -> None:
    reported: list[tuple[int, int]] = []
    async with StandInCluster(1, _creates(_all_created)) as cluster, cluster.client() as client:
        topics = [NewTopic("", 1, 1), NewTopic("a", 1, 1), NewTopic("b", 1, 1)]
        await client.create_topics(topics, progress=lambda done, total: reported.append((done, total)))
    assert reported == [(1, 3), (2, 3), (3, 3)]


async def test_a_mutation_whose_answer_was_lost_says_that_its_outcome_was_unknown() -> None:
    handlers = _in_turn(_closes, _code(ErrorCode.TOPIC_ALREADY_EXISTS))
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        error = (await _create(client, "a")).errors()["a"]
        assert isinstance(error, TopicAlreadyExistsError)
        assert (error.attempts, error.outcome_unknown) == (2, True)


async def test_the_timeout_of_a_call_names_operation_attempts_node_and_last_cause() -> None:
    async with StandInCluster(1, _creates(_code(ErrorCode.NOT_CONTROLLER))) as cluster, cluster.client() as client:
        error = (await _create(client, "a", timeout=0.3)).errors()["a"]
        assert isinstance(error, OperationTimeoutError)
        assert error.operation == "create_topics"
        assert isinstance(error.__cause__, NotControllerError)
        assert error.node == 1
        assert error.attempts > 2
        assert "NOT_CONTROLLER" in str(error)


async def test_a_request_without_answer_is_given_up_and_may_have_been_carried_out() -> None:
    async with StandInCluster(1, _creates(_silent)) as cluster, cluster.client() as client:
        error = (await _create(client, "a", timeout=0.2)).errors()["a"]
        assert isinstance(error, OperationTimeoutError)
        assert error.outcome_unknown


async def test_a_request_timed_out_by_the_broker_is_retried_and_then_reported_as_the_cause() -> None:
    async with StandInCluster(1, _creates(_code(ErrorCode.REQUEST_TIMED_OUT))) as cluster, cluster.client() as client:
        error = (await _create(client, "a", timeout=0.2)).errors()["a"]
        assert isinstance(error.__cause__, RequestTimedOutError)
        assert error.outcome_unknown


async def test_throttled_items_are_sent_again_when_the_wait_is_over() -> None:
    refused = _created(["a"], {"a": ErrorCode.THROTTLING_QUOTA_EXCEEDED}, throttle_ms=150)
    async with StandInCluster(1, _in_turn(lambda *_: refused, _all_created)) as cluster, cluster.client() as client:
        begun = asyncio.get_running_loop().time()
        (await _create(client, "a")).all()
        assert asyncio.get_running_loop().time() - begun >= 0.15


async def test_a_quota_that_outlasts_the_call_is_the_error_of_the_call() -> None:
    refused = _created(["a"], {"a": ErrorCode.THROTTLING_QUOTA_EXCEEDED}, throttle_ms=60_000)
    async with StandInCluster(1, _creates(lambda *_: refused)) as cluster, cluster.client() as client:
        error = (await _create(client, "a", timeout=0.2)).errors()["a"]
        assert isinstance(error, ThrottlingQuotaExceededError)
        assert 59_000 < error.throttle_ms <= 60_000


async def test_unreachable_bootstrap_servers_are_reported_with_their_reason() -> None:
    async with AdminClient("127.0.0.1:1", settings=FAST) as client:
        error = (await _create(client, "a", timeout=0.2)).errors()["a"]
        assert isinstance(error.__cause__, ConnectionFailedError)
        assert "refused" in str(error)


async def test_a_dead_bootstrap_server_is_passed_over() -> None:
    async with StandInCluster(1, _creates(_all_created)) as cluster:
        client = AdminClient(f"127.0.0.1:1,{cluster.bootstrap}", settings=FAST)
        (await _create(client, "a")).all()
        await client.close()


async def test_authentication_failures_fail_fast_with_their_own_error() -> None:
    def handshake(_: int, __: Received) -> Message:
        return SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=("GSSAPI",))

    async with StandInCluster(1, {SaslHandshakeRequest: handshake}) as cluster:
        client = AdminClient(cluster.bootstrap, credentials=PlainCredentials("alice", "secret"), settings=FAST)
        begun = asyncio.get_running_loop().time()
        error = (await _create(client, "a")).errors()["a"]
        assert isinstance(error, UnsupportedSaslMechanismError)
        assert asyncio.get_running_loop().time() - begun < FAST.call_timeout / 2
        assert "secret" not in repr(error) + str(error)
        await client.close()


async def test_an_api_that_no_broker_offers_is_refused_before_sending() -> None:
    async with StandInCluster(1) as cluster, cluster.client() as client:
        error = (await _create(client, "a")).errors()["a"]
        assert isinstance(error, UnsupportedVersionError)
        assert "CreateTopics" in str(error)


async def test_methods_that_controllers_do_not_serve_are_refused_locally() -> None:
    async with AdminClient(bootstrap_controllers="127.0.0.1:1", settings=FAST) as client:
        error = (await _create(client, "a")).errors()["a"]
        assert isinstance(error, UnsupportedEndpointTypeError)
        assert "bootstrap_servers" in str(error)


async def test_a_cancelled_call_leaves_the_connection_to_the_others() -> None:
    async def slow(request: Received) -> Message:
        await asyncio.sleep(0.1)
        return _created(_topics(request))

    async with StandInCluster(1, _creates(_all_created)) as cluster, cluster.client() as client:
        cluster.brokers[1]._handlers[ApiKey.CREATE_TOPICS] = slow
        first = asyncio.create_task(_create(client, "a"))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(_create(client, "b"))
        await asyncio.sleep(0)
        first.cancel()
        (await second).all()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert sum(bool(peer.requests) for peer in cluster.brokers[1].clients) == 1


async def test_a_closed_client_refuses_calls() -> None:
    async with StandInCluster(1, _creates(_all_created)) as cluster:
        client = cluster.client()
        await client.close()
        await client.close()
        with pytest.raises(ClosedError):
            await _create(client, "a")


async def test_closing_waits_for_running_calls_and_then_ends_them() -> None:
    async with StandInCluster(1, _creates(_silent)) as cluster:
        client = cluster.client()
        call = asyncio.create_task(_create(client, "a"))
        await asyncio.sleep(0.05)
        await client.close(grace=0.05)
        assert isinstance((await call).errors()["a"], (ClosedError, OperationTimeoutError, DisconnectedError))


async def test_errors_of_different_items_are_different_objects() -> None:
    async with StandInCluster(1, _creates(_code(ErrorCode.POLICY_VIOLATION))) as cluster, cluster.client() as client:
        errors: list[KafkaError] = list((await _create(client, "a", "b")).errors().values())
        assert errors[0] is not errors[1]
