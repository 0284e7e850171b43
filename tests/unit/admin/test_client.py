"""The life of a client: how it begins, how it is closed, and how calls end then (admin-closing)."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import ssl
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

import pytest
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import FAST, StandInCluster

from kafkawire.admin.client import AdminClient, BlockingAdminClient
from kafkawire.admin.engine import batch_call
from kafkawire.admin.settings import AdminSettings
from kafkawire.broker import EmbeddedBroker, ThreadedBroker
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import CreateTopicsRequest, CreateTopicsResponse, DeleteTopicsRequest, DeleteTopicsResponse
from kafkawire.protocol.errors import NotControllerError
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ClosedError, OperationTimeoutError

PATIENT = AdminSettings(request_timeout=30, call_timeout=30)


@pytest.mark.parametrize(
    ("brokers", "controllers"), [(None, None), ("a:1", "b:1"), ("", None), ("a", None), (None, "a:b:1")]
)
def test_brokers_or_controllers_are_given_never_both_or_none(brokers: str | None, controllers: str | None) -> None:
    with pytest.raises(ValueError, match=r"bootstrap|host:port|brackets"):
        AdminClient(brokers, bootstrap_controllers=controllers)


def test_a_client_connects_to_nothing_before_its_first_call() -> None:
    AdminClient("127.0.0.1:1")  # without an event loop, too


@pytest.mark.parametrize("timeout", [0, -1])
async def test_a_timeout_is_positive(timeout: float) -> None:
    async with AdminClient("127.0.0.1:1") as client:
        with pytest.raises(ValueError, match="above 0"):
            await client.list_topics(timeout=timeout)


Call = Callable[[AdminClient], Awaitable[object]]
CALLS: dict[str, Call] = {
    "one": lambda client: client.list_topics(),
    "each": lambda client: client.create_topics([NewTopic("a")]),
    "several": lambda client: client.describe_topics(["a", "b"]),
    "every node": lambda client: client.wait_for_topics(["a"]),
    "none": lambda client: client.delete_topics([]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_a_closed_client_refuses_every_kind_of_call(call: Call) -> None:
    client = AdminClient("127.0.0.1:1")
    await client.close()
    await client.close()
    with pytest.raises(ClosedError):
        await call(client)


async def test_a_running_call_may_end_in_the_grace_of_closing() -> None:
    async def slow(request: Request) -> Message:
        await asyncio.sleep(0.05)
        assert isinstance(request.body, CreateTopicsRequest)
        result = CreateTopicsResponse.CreatableTopicResult
        return CreateTopicsResponse(topics=tuple(result(name=topic.name) for topic in request.body.topics))

    async with StandInCluster(1, {CreateTopicsRequest: lambda *_: Answer()}) as cluster:
        cluster.brokers[1]._handlers[CreateTopicsRequest.API_KEY] = slow
        client = cluster.client(PATIENT)
        call = asyncio.create_task(client.create_topics([NewTopic("a", 1, 1)]))
        await asyncio.sleep(0.02)
        await client.close(grace=5)
        assert list((await call).all()) == ["a"]


async def test_a_call_that_outlasts_the_grace_ends_with_closed_and_an_unknown_outcome() -> None:
    asked = asyncio.Event()

    def silent(_: int, __: Request) -> Answer:
        asked.set()
        return Answer()

    async with StandInCluster(1, {CreateTopicsRequest: silent}) as cluster:
        client = cluster.client(PATIENT)
        call = asyncio.create_task(client.create_topics([NewTopic("a", 1, 1), NewTopic("", 1, 1)]))
        await asked.wait()
        await client.close(grace=0)
        error = (await call).errors()["a"]
        assert isinstance(error, ClosedError)
        assert error.outcome_unknown


async def test_a_call_that_waits_for_its_throttle_ends_with_closing() -> None:
    asked = asyncio.Event()

    def throttle(_: int, __: Request) -> Message:
        asked.set()
        result = DeleteTopicsResponse.DeletableTopicResult(name="a", error_code=89)
        return DeleteTopicsResponse(throttle_time_ms=20_000, responses=(result,))

    async with StandInCluster(1, {DeleteTopicsRequest: throttle}) as cluster:
        client = cluster.client(PATIENT)
        call = asyncio.create_task(client.delete_topics(["a"]))
        await asked.wait()
        begun = asyncio.get_running_loop().time()
        await client.close(grace=0)
        assert isinstance((await call).errors()["a"], ClosedError)
        assert asyncio.get_running_loop().time() - begun < 5


async def test_a_call_that_waits_for_the_throttle_of_another_says_so_at_its_end() -> None:
    def throttle(_: int, __: Request) -> Message:
        result = DeleteTopicsResponse.DeletableTopicResult(name="a")
        return DeleteTopicsResponse(throttle_time_ms=20_000, responses=(result,))

    async with StandInCluster(1, {DeleteTopicsRequest: throttle}) as cluster, cluster.client(PATIENT) as client:
        (await client.delete_topics(["a"])).all()
        error = (await client.delete_topics(["a"], timeout=0.2)).errors()["a"]
    assert isinstance(error, OperationTimeoutError)
    assert re.search(r"a quota throttles this client for 1\d\.\d s more; give the call a longer timeout", str(error))


async def test_no_exception_is_left_unretrieved(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "asyncio")
    client = AdminClient("127.0.0.1:1", settings=FAST)
    calls = [asyncio.create_task(client.delete_topics(["a"])) for _ in range(3)]
    await asyncio.sleep(0.03)
    calls[0].cancel()
    await client.close(grace=0)
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    del client, calls, outcomes
    gc.collect()
    await asyncio.sleep(0)
    assert caplog.messages == []
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_the_error_of_a_call_that_ends_while_connecting_names_it() -> None:
    """A listener without TLS takes a TLS handshake for the beginning of a long request, and waits."""
    async with StandInCluster(1) as cluster:
        client = AdminClient(cluster.bootstrap, tls=ssl.create_default_context(), settings=FAST)
        with pytest.raises(OperationTimeoutError, match=r"no node could be reached: 127\.0\.0\.1:\d+: no answer"):
            await client.list_topics(timeout=0.1)
        await client.close()


async def test_the_error_of_a_call_that_ends_while_waiting_names_it() -> None:
    async with StandInCluster(1, {DeleteTopicsRequest: lambda *_: Answer()}) as cluster, cluster.client() as client:
        error = (await client.delete_topics(["a"], timeout=0.1)).errors()["a"]
        assert isinstance(error, OperationTimeoutError)
        assert "no answer came" in str(error)


async def test_the_error_of_a_call_that_ends_while_waiting_again_names_what_failed_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The request had more time than the call. On a busy machine its wait for the answer may end first."""
    late = {**vars(asyncio), "timeout_at": lambda when: asyncio.timeout_at(when + 0.1)}
    monkeypatch.setattr(batch_call, "asyncio", SimpleNamespace(**late))

    def not_controller(*_: object) -> Message | Answer:
        if len(cluster.asked) > 1:
            return Answer()
        return DeleteTopicsResponse(responses=(DeleteTopicsResponse.DeletableTopicResult(name="a", error_code=41),))

    async with StandInCluster(1, {DeleteTopicsRequest: not_controller}) as cluster, cluster.client() as client:
        error = (await client.delete_topics(["a"], timeout=0.2)).errors()["a"]
        assert isinstance(error, OperationTimeoutError)
        assert isinstance(error.__cause__, NotControllerError)
        assert error.outcome_unknown


@pytest.mark.parametrize("kind", [AdminClient, BlockingAdminClient, EmbeddedBroker, ThreadedBroker])
def test_what_has_no_attributes_yet_is_shown_by_a_traceback(kind: type[object]) -> None:
    assert repr(kind.__new__(kind)).startswith(f"<{kind.__name__}")
