"""Large requests wait for memory in turn, and requests that never arrive block no other."""

from __future__ import annotations

import asyncio

import pytest

from kafkawire.broker.listener.frame_room import FrameRoom, LargeFrame


class Client:
    """A connection that notices that it is closed."""

    def __init__(self, size: int) -> None:
        self.frame = LargeFrame(size, self.close)
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


async def is_in(room: FrameRoom, client: Client, seconds: float = 0.02) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await room.enter(client.frame)
    except TimeoutError:
        return False
    return True


async def test_bytes_up_to_the_limit_are_admitted_and_others_wait() -> None:
    room = FrameRoom(100)
    first, second, third = Client(60), Client(40), Client(1)
    assert await is_in(room, first)
    assert await is_in(room, second)
    assert not await is_in(room, third)
    waiting = asyncio.create_task(room.enter(third.frame))
    await asyncio.sleep(0)
    room.leave(second.frame)
    room.leave(second.frame)
    await waiting
    assert await is_in(room, Client(39))
    assert not await is_in(room, Client(1))


async def test_one_is_let_in_however_large_it_is() -> None:
    room = FrameRoom(100)
    large = Client(1000)
    assert await is_in(room, large)
    assert not await is_in(room, Client(1))
    room.leave(large.frame)
    assert await is_in(room, Client(1))


async def test_requests_that_do_not_arrive_lose_their_memory_oldest_first() -> None:
    room = FrameRoom(100, seconds=0.02)
    complete, first, second, third = Client(20), Client(40), Client(40), Client(30)
    for client in (complete, first, second):
        await room.enter(client.frame)
    complete.frame.is_complete = True
    assert await is_in(room, third, seconds=5)
    assert [client.is_closed for client in (complete, first, second, third)] == [False, True, False, False]


async def test_requests_that_wait_for_other_clients_make_room_too() -> None:
    room = FrameRoom(100, seconds=0.02)
    joining, other = Client(60), Client(60)
    joining.frame.waits = True
    await room.enter(joining.frame)
    joining.frame.is_complete = True
    assert await is_in(room, other, seconds=5)
    assert (joining.is_closed, other.is_closed) == (True, False)


async def test_nothing_is_closed_while_no_one_waits() -> None:
    room = FrameRoom(100, seconds=0.01)
    client = Client(100)
    await room.enter(client.frame)
    await asyncio.sleep(0.05)
    assert not client.is_closed


async def test_a_cancelled_wait_takes_no_memory() -> None:
    room = FrameRoom(100)
    first, second = Client(100), Client(50)
    await room.enter(first.frame)
    waiting = asyncio.create_task(room.enter(second.frame))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    room.leave(second.frame)
    room.leave(first.frame)
    assert await is_in(room, Client(100))
