"""Clocks of brokers: the machine's, and one that tests move."""

from __future__ import annotations

import asyncio
import time

import pytest

from kafkawire.broker.clock import ManualClock, SystemClock, pass_time, sleep_unless


async def test_the_machines_clock_goes_by_itself() -> None:
    clock = SystemClock()
    before, began = clock.seconds(), time.time()
    await clock.sleep(0.001)
    await clock.sleep(-1)
    assert clock.seconds() > before
    assert abs(clock.now_ms() / 1000 - began) < 60


async def test_a_manual_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(start_ms=1000)
    assert (clock.now_ms(), clock.seconds()) == (1000, 0)
    clock.advance(1.5)
    assert (clock.now_ms(), clock.seconds()) == (2500, 1.5)
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock = ManualClock()
    woken: list[float] = []

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    async with asyncio.TaskGroup() as tasks:
        for seconds in (3, 1, 2, 0, -1):
            tasks.create_task(sleep(seconds))
        await asyncio.sleep(0)
        assert clock.sleepers == 3
        clock.advance(2)
        for _ in range(3):
            await asyncio.sleep(0)
        assert woken == [0, -1, 1, 2]
        assert clock.sleepers == 1
        clock.advance(0.5)
        await asyncio.sleep(0)
        assert clock.sleepers == 1
        await asyncio.to_thread(clock.advance, 0.5)
    assert woken == [0, -1, 1, 2, 3]


async def test_a_cancelled_sleep_is_removed() -> None:
    clock = ManualClock()
    sleeper = asyncio.create_task(clock.sleep(1))
    await asyncio.sleep(0)
    sleeper.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeper
    assert clock.sleepers == 0
    clock.advance(1)
    await asyncio.sleep(0)


def test_a_clock_outlives_the_loop_of_its_sleepers() -> None:
    clock = ManualClock()

    async def sleep() -> None:
        asyncio.get_running_loop().create_task(clock.sleep(1)).add_done_callback(lambda _: None)
        await asyncio.sleep(0)

    asyncio.run(sleep())
    clock.advance(2)
    assert clock.sleepers == 0


async def test_each_sleeper_runs_at_its_own_time_and_so_does_what_it_leads_to() -> None:
    clock = ManualClock()
    seen: list[tuple[str, float]] = []

    async def repeat(name: str, seconds: float) -> None:
        while True:
            await clock.sleep(seconds)
            seen.append((name, clock.seconds()))

    tasks = [asyncio.create_task(repeat("a", 4)), asyncio.create_task(repeat("b", 6))]
    await clock.advance_in_steps(13)
    assert seen == [("a", 4), ("b", 6), ("a", 8), ("b", 12), ("a", 12)]
    assert clock.seconds() == 13
    for task in tasks:
        task.cancel()


async def test_a_step_lasts_until_what_was_woken_has_settled() -> None:
    clock, done = ManualClock(), asyncio.Event()
    seen: list[float] = []

    async def slow() -> None:
        await clock.sleep(10)
        await asyncio.sleep(0.01)  # as a write that takes a while
        seen.append(clock.seconds())
        done.set()

    async def settled() -> None:
        await asyncio.sleep(0)
        if clock.seconds() >= 10:
            await done.wait()

    task = asyncio.create_task(slow())
    await clock.advance_in_steps(3600, settled)
    assert seen == [10]
    await task


async def test_time_passes_on_each_clock() -> None:
    manual, machine = ManualClock(), SystemClock()
    await pass_time(manual, 3600)
    assert manual.seconds() == 3600
    before = machine.seconds()
    await pass_time(machine, 0.002)
    assert machine.seconds() - before >= 0.002


async def test_a_sleep_may_end_early() -> None:
    clock, event = ManualClock(), asyncio.Event()
    waiting = asyncio.create_task(sleep_unless(clock, 10, event))
    await asyncio.sleep(0)
    event.set()
    await waiting
    assert clock.seconds() == 0


async def test_sleeps_that_were_cancelled_are_forgotten() -> None:
    clock = ManualClock()
    for _ in range(1_000):
        sleeper = asyncio.create_task(clock.sleep(1))
        await asyncio.sleep(0)
        sleeper.cancel()
        await asyncio.wait((sleeper,))
    assert len(clock._sleepers) < 200
