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
