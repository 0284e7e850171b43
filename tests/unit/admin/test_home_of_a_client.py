"""A client belongs to one event loop of one process; elsewhere it raises an error, and never hangs."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest
from tests.stand_ins.cluster import FAST, StandInCluster
from tests.unit.admin.test_blocking import cluster_elsewhere

from kafkawire.admin import AdminClient, BlockingAdminClient

SECONDS = 10.0


def test_a_client_in_a_second_event_loop_raises_an_error() -> None:
    client = AdminClient("127.0.0.1:1", settings=FAST)

    async def used() -> None:
        async with StandInCluster() as cluster:
            client._cluster._bootstrap = cluster.client()._cluster._bootstrap
            assert await client.list_topics() == {}

    async def used_again() -> None:
        with pytest.raises(RuntimeError, match=r"another event loop.*make a new AdminClient in each asyncio.run\(\)"):
            await client.list_topics()
        with pytest.raises(RuntimeError, match="another event loop"):
            await client.create_topics([])
        with pytest.raises(RuntimeError, match="another event loop"):
            await client.close()

    with asyncio.Runner() as first, asyncio.Runner() as second:
        first.run(used())
        second.run(used_again())
        first.run(client.close())


def test_a_client_that_was_only_made_may_be_used_in_any_event_loop() -> None:
    async def made() -> AdminClient:
        return AdminClient("127.0.0.1:1")

    asyncio.run(asyncio.run(made()).close())


def in_a_forked_process(work: Callable[[], str]) -> str:
    """What a function returns in a child of this process, which has its memory and none of its threads."""

    def run(sender: Connection) -> None:
        # Not by an exit of pytest: the child ends here.
        try:
            sender.send(work())
        finally:
            os._exit(0)

    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=run, args=(sender,))
    child.start()
    sender.close()
    try:
        assert receiver.poll(SECONDS), "the child hangs"
        return str(receiver.recv())
    finally:
        child.kill()
        child.join()


def error_of(call: Callable[[], object]) -> str:
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "no error"


def test_a_blocking_client_in_a_forked_process_raises_an_error_and_can_be_closed_there() -> None:
    with cluster_elsewhere() as cluster, BlockingAdminClient(cluster.bootstrap, settings=FAST) as client:
        assert client.list_topics() == {}
        assert "make a new client after the fork" in in_a_forked_process(lambda: error_of(client.list_topics))
        assert in_a_forked_process(lambda: error_of(client.close)) == "no error"
        assert client.list_topics() == {}, "the client of the parent goes on"


def test_a_fork_while_another_thread_calls_does_not_hang_the_child() -> None:
    """The lock of the client may be held by a thread that the child does not have."""
    with BlockingAdminClient("127.0.0.1:1", settings=FAST) as client:
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with client._beginning:
                held.set()
                done.wait(SECONDS)

        holding = threading.Thread(target=hold)
        holding.start()
        assert held.wait(SECONDS)
        try:
            assert "make a new client after the fork" in in_a_forked_process(lambda: error_of(client.list_topics))
            assert in_a_forked_process(lambda: error_of(client.close)) == "no error"
        finally:
            done.set()
            holding.join()


def test_a_new_client_works_after_a_fork() -> None:
    with cluster_elsewhere() as cluster, BlockingAdminClient(cluster.bootstrap, settings=FAST) as client:
        assert client.list_topics() == {}

        def topics() -> str:
            with BlockingAdminClient(cluster.bootstrap, settings=FAST) as own:
                return str(own.list_topics())

        assert in_a_forked_process(topics) == "{}"


def test_an_asyncio_client_in_a_forked_process_raises_an_error() -> None:
    async def body() -> str:
        async with StandInCluster() as cluster, cluster.client() as client:
            await client.list_topics()
            return await asyncio.to_thread(
                in_a_forked_process, lambda: error_of(lambda: asyncio.run(client.list_topics()))
            )

    assert "make a new client after the fork" in asyncio.run(body())
