"""The queue of answers: in order, joined where it pays, and limited in size."""

from __future__ import annotations

import asyncio

import pytest

from kafkawire.broker.dispatch import Reply
from kafkawire.broker.listener.outbox import Outbox


async def at_once(_: Reply) -> None:
    """Everything is durable."""


async def test_answers_that_wait_for_the_same_are_taken_together_in_order() -> None:
    outbox = Outbox()
    replies = [Reply(b"a", 0), Reply(None, 0), Reply(b"b", 0), Reply(b"c", 5), Reply(b"d", 5)]
    for reply in replies:
        outbox.add(reply)
    assert await outbox.take(at_once) == replies[:3]
    assert await outbox.take(at_once) == replies[3:]


async def test_large_answers_go_alone() -> None:
    outbox = Outbox()
    for _ in range(2):
        outbox.add(Reply(bytes(1 << 16), 0))
    assert len(await outbox.take(at_once)) == 1


@pytest.mark.parametrize(("size", "count"), [(0, 128), (1 << 19, 3)])
async def test_there_is_room_again_once_answers_are_sent(size: int, count: int) -> None:
    outbox = Outbox()
    for _ in range(count):
        await asyncio.wait_for(outbox.room(), 5)
        outbox.add(Reply(bytes(size), 0))
    waiting = asyncio.create_task(outbox.room())
    await asyncio.sleep(0)
    taken = await outbox.take(at_once)
    await asyncio.sleep(0)
    assert not waiting.done()
    outbox.sent(taken)
    await asyncio.wait_for(waiting, 5)


async def test_nothing_more_comes_after_the_end() -> None:
    outbox = Outbox()
    outbox.add(Reply(b"last", 0))
    outbox.end()
    assert len(await outbox.take(at_once)) == 1
    assert await outbox.take(at_once) == []


async def test_the_end_wakes_waiting_senders() -> None:
    outbox = Outbox()
    waiting = asyncio.create_task(outbox.take(at_once))
    await asyncio.sleep(0)
    outbox.end()
    assert await asyncio.wait_for(waiting, 5) == []
