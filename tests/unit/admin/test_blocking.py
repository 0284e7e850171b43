"""The blocking client: from any thread, also where an event loop runs (admin-closing)."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import FAST, NodeHandler, StandInCluster

from kafkawire.admin.client import AdminClient, BlockingAdminClient
from kafkawire.admin.settings import AdminSettings
from kafkawire.broker import EmbeddedBroker, ThreadedBroker
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import CreateTopicsRequest, CreateTopicsResponse
from kafkawire.protocol.errors import UnsupportedVersionError
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ClosedError, OperationTimeoutError

Handlers = dict[type[Message], NodeHandler]
PATIENT = AdminSettings(request_timeout=30, call_timeout=30)
SECONDS = 10


def created(_: int, request: Request) -> Message:
    assert isinstance(request.body, CreateTopicsRequest)
    result = CreateTopicsResponse.CreatableTopicResult
    return CreateTopicsResponse(topics=tuple(result(name=topic.name) for topic in request.body.topics))


@contextmanager
def cluster_elsewhere(handler: NodeHandler = created) -> Iterator[StandInCluster]:
    """A cluster that is served by another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    cluster = StandInCluster(1, {CreateTopicsRequest: handler})
    asyncio.run_coroutine_threadsafe(cluster.__aenter__(), loop).result(SECONDS)
    try:
        yield cluster
    finally:
        asyncio.run_coroutine_threadsafe(cluster.__aexit__(None, None, None), loop).result(SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def silent_cluster() -> Iterator[tuple[StandInCluster, threading.Event]]:
    """A cluster that never answers, and whether it has received a request."""
    asked = threading.Event()

    def silent(_: int, __: Request) -> Answer:
        asked.set()
        return Answer()

    with cluster_elsewhere(silent) as cluster:
        yield cluster, asked


def methods() -> list[str]:
    found = inspect.getmembers(AdminClient, inspect.isfunction)
    return [name for name, _ in found if not name.startswith("_") and name != "close"]


@pytest.mark.parametrize("name", methods())
def test_every_method_has_its_twin(name: str) -> None:
    original: Callable[..., object] = getattr(AdminClient, name)
    twin: Callable[..., object] = getattr(BlockingAdminClient, name)
    assert inspect.signature(twin) == inspect.signature(original)
    assert inspect.getdoc(twin) == inspect.getdoc(original)
    assert original.__doc__


def test_there_is_no_twin_without_original() -> None:
    public = {name for name in dir(BlockingAdminClient) if not name.startswith("_")}
    assert public == {*methods(), "close", "from_properties", "run"}


def test_close_takes_the_same_grace() -> None:
    assert inspect.signature(BlockingAdminClient.close).parameters == inspect.signature(AdminClient.close).parameters


def test_a_coroutine_makes_several_calls_at_the_same_time() -> None:
    async def both(admin: AdminClient) -> tuple[str | None, set[str]]:
        cluster, topics = await asyncio.gather(admin.describe_cluster(), admin.list_topics())
        return cluster.cluster_id, set(topics)

    with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        assert client.run(both) == (client.describe_cluster().cluster_id, {"orders"})


def test_many_threads_share_one_client() -> None:
    def create(number: int) -> list[str]:
        return list(client.create_topics([NewTopic(f"t{number}", 1, 1)]).all())

    with cluster_elsewhere() as cluster, BlockingAdminClient(cluster.bootstrap, settings=FAST) as client:
        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(create, range(40))) == [[f"t{number}"] for number in range(40)]
        assert len(cluster.brokers[1].clients) == 1


def test_errors_come_through() -> None:
    with cluster_elsewhere() as cluster, BlockingAdminClient(cluster.bootstrap, settings=FAST) as client:
        with pytest.raises(UnsupportedVersionError):
            client.list_partition_reassignments()
        with pytest.raises(ValueError, match="timeout"):
            client.list_topics(timeout=0)


async def test_calls_work_where_an_event_loop_runs_as_in_a_notebook() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers, settings=FAST) as client:
        assert client.create_topics([NewTopic("orders", 1, 1)]).all()
        assert list(client.list_topics()) == ["orders"]
        await asyncio.sleep(0)
        assert await asyncio.to_thread(client.list_topics)
    assert client._loop.is_closed()


async def test_a_timeout_says_that_a_broker_in_the_same_event_loop_cannot_answer() -> None:
    async with EmbeddedBroker() as broker:
        with BlockingAdminClient(broker.bootstrap_servers, settings=FAST) as client:
            with pytest.raises(OperationTimeoutError) as raised:
                client.list_topics(timeout=0.2)
            assert "stood still during the call" in raised.value.__notes__[0]


def test_a_call_from_a_function_that_the_client_calls_is_refused() -> None:
    def again(_: int, __: int) -> None:
        client.list_topics()

    with cluster_elsewhere() as cluster, BlockingAdminClient(cluster.bootstrap, settings=FAST) as client:
        with pytest.raises(RuntimeError, match="would wait for itself"):
            client.create_topics([NewTopic("t", 1, 1)], progress=again)
        assert client.list_topics() == {}


def test_an_error_has_the_lines_of_both_threads() -> None:
    with (
        cluster_elsewhere() as cluster,
        BlockingAdminClient(cluster.bootstrap, settings=FAST) as client,
        pytest.raises(UnsupportedVersionError) as raised,
    ):
        client.list_partition_reassignments()
    functions = [line.name for line in traceback.extract_tb(raised.value.__traceback__)]
    assert functions[0] == "test_an_error_has_the_lines_of_both_threads"
    assert "list_partition_reassignments" in functions[1:]


def test_calls_see_the_context_of_their_caller() -> None:
    tenant: ContextVar[str] = ContextVar("tenant", default="none")
    seen: list[str] = []

    def create(name: str) -> None:
        tenant.set(name)
        client.create_topics([NewTopic(name, 1, 1)], progress=lambda _, __: seen.append(tenant.get()))

    with (
        cluster_elsewhere() as cluster,
        BlockingAdminClient(cluster.bootstrap, settings=FAST) as client,
        ThreadPoolExecutor(2) as threads,
    ):
        list(threads.map(create, ["a", "b"]))
    assert sorted(seen) == ["a", "b"]


def test_a_client_that_is_dropped_ends_its_thread_and_its_connections() -> None:
    with ThreadedBroker() as broker:
        clients = [BlockingAdminClient(broker.bootstrap_servers, settings=FAST)]
        clients[0].list_topics()
        thread, loop = clients[0]._thread, clients[0]._loop
        with pytest.warns(ResourceWarning, match="a BlockingAdminClient was not closed"):
            clients.clear()
        thread.join(SECONDS)
        assert not thread.is_alive()
        assert loop.is_closed()


def test_a_closed_client_refuses_calls_and_may_be_closed_again() -> None:
    client = BlockingAdminClient("127.0.0.1:1")
    client.close()
    client.close()
    with pytest.raises(ClosedError):
        client.list_topics()
    assert not client._thread.is_alive()
    assert client._loop.is_closed()


def test_closing_from_several_threads_returns_when_it_is_closed() -> None:
    client = BlockingAdminClient("127.0.0.1:1")
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(client.close) for _ in range(4)]:
            done.result(SECONDS)
    assert client._loop.is_closed()


def test_closing_ends_the_calls_of_other_threads() -> None:
    with silent_cluster() as (cluster, asked), ThreadPoolExecutor(1) as other:
        client = BlockingAdminClient(cluster.bootstrap, settings=PATIENT)
        call = other.submit(client.create_topics, [NewTopic("t", 1, 1)])
        assert asked.wait(SECONDS)
        client.close(grace=0)
        error = call.result(SECONDS).errors()["t"]
        assert isinstance(error, ClosedError)
        assert error.outcome_unknown


def test_ctrl_c_ends_a_call_that_has_just_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal may come after the call was handed over to the other thread and before the caller waits for it."""
    hand_over = asyncio.run_coroutine_threadsafe

    def interrupted(work: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
        hand_over(work, loop)
        assert asked.wait(SECONDS)
        raise KeyboardInterrupt

    with silent_cluster() as (cluster, asked), BlockingAdminClient(cluster.bootstrap, settings=PATIENT) as client:
        with monkeypatch.context() as patched:
            patched.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                client.create_topics([NewTopic("t", 1, 1)])
        began = time.monotonic()
        client.close(SECONDS)  # a call that still ran would be waited for
        assert time.monotonic() - began < SECONDS


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_the_call_and_leaves_the_client_usable() -> None:
    def interrupt() -> None:
        assert asked.wait(SECONDS)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    with silent_cluster() as (cluster, asked), BlockingAdminClient(cluster.bootstrap, settings=PATIENT) as client:
        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            client.create_topics([NewTopic("t", 1, 1)])
        interrupting.join()
        assert client.list_topics() == {}
        began = time.monotonic()
        client.close(SECONDS)  # a call that still ran would be waited for
        assert time.monotonic() - began < SECONDS
