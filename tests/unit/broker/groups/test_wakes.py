"""When groups are checked."""

from __future__ import annotations

from kafkawire.broker.clock import ManualClock, some_turns
from kafkawire.broker.groups.wakes import Wakes


async def test_times_that_were_replaced_are_dropped_when_few_groups_are_left() -> None:
    clock, checked = ManualClock(), list[str]()

    async def check(group_id: str) -> None:
        checked.append(group_id)

    wakes = Wakes(clock, check)
    others = [f"other-{number}" for number in range(200)]
    for each in others:
        wakes.set(each, clock.seconds() + 10)
    for seconds in range(10_000, 8_800, -1):
        wakes.set("g", clock.seconds() + seconds)
    assert wakes.planned == 1400
    await some_turns()
    clock.advance(10)
    await some_turns()
    assert checked == sorted(others)
    for seconds in range(8_700, 7_700, -1):
        wakes.set("g", clock.seconds() + seconds)
    assert wakes.planned <= 1002
    clock.advance(7_701)
    await some_turns()
    assert checked[200:] == ["g"]
    await wakes.close()


async def test_each_group_adds_two_to_the_times_that_are_kept_at_most() -> None:
    clock = ManualClock()

    async def check(group_id: str) -> None:
        raise AssertionError(group_id)

    wakes = Wakes(clock, check)
    for number in range(200):
        wakes.set(f"g{number}", clock.seconds() + 10_000)
    most = 0
    for seconds in range(9_000, 6_000, -1):
        wakes.set("g0", clock.seconds() + seconds)
        most = max(most, wakes.planned)
    assert most == 1400
    await wakes.close()


async def test_a_group_is_checked_at_its_time_and_not_before_however_late_that_is() -> None:
    """Also if the clock has gone far when the time is set, and if an earlier time comes later."""
    clock, checked = ManualClock(), list[tuple[str, float]]()
    clock.advance(1000.5)
    began = clock.seconds()

    async def check(group_id: str) -> None:
        checked.append((group_id, clock.seconds() - began))

    wakes = Wakes(clock, check)
    wakes.set("late", began + 30)
    await some_turns()
    wakes.set("soon", began + 2.5)
    for _ in range(32):
        clock.advance(1)
        await some_turns()
    assert checked == [("soon", 3), ("late", 30)]
    wakes.set("never", float("inf"))
    assert wakes.planned == 0
    await wakes.close()
