"""The bounds of a page: what it keeps is limited, and it says truly what it left out."""

from __future__ import annotations

from hypothesis import given, strategies as st

from kafkawire.report.bounded import Bars, KeptRows, ThinnedLine, evenly
from kafkawire.report.contents import Count
from kafkawire.report.counting import ChangesOverTime, CountOverTime, HoldersOverTime

TIMES = st.integers(0, 1_000)
INTERVALS = st.lists(st.tuples(st.none() | TIMES, st.none() | TIMES), max_size=60)


def holds(begin: int | None, end: int | None, time: int) -> bool:
    return (begin is None or begin <= time) and (end is None or time < end)


@given(INTERVALS, st.integers(1, 20))
def test_no_row_that_is_valid_at_the_end_is_dropped_and_of_the_ended_ones_the_newest_are_kept(
    intervals: list[tuple[int | None, int | None]], limit: int
) -> None:
    rows = KeptRows(limit)
    for number, (begin, end) in enumerate(intervals):
        rows.add((number,), begin, end)
    kept = [row[0] for row in rows.rows]
    valid = [number for number, (_, end) in enumerate(intervals) if end is None]
    ended = [number for number, (_, end) in enumerate(intervals) if end is not None]
    assert set(valid) <= set(kept)
    assert len(kept) == len(valid) + min(limit, len(ended))
    assert (rows.added, rows.ended) == (len(intervals), len(ended))
    assert kept == sorted(number for number in kept if isinstance(number, int))
    lost = [interval for number, interval in enumerate(intervals) if number not in kept]
    if rows.complete_from is None:
        assert not lost
    else:
        assert not any(holds(*interval, time) for interval in lost for time in range(rows.complete_from, 1_001))


@given(st.lists(TIMES), st.integers(2, 12))
def test_thinned_line_keeps_its_ends_and_its_order(values: list[int], limit: int) -> None:
    line = ThinnedLine(limit)
    for time, value in enumerate(values):
        line.add(time, value)
    points = list(line.points)
    assert len(points) <= limit
    assert points == sorted(set(points))
    assert set(points) <= set(enumerate(values))
    if values:
        assert points[0] == (0, values[0])
        assert points[-1] == (len(values) - 1, values[-1])


@given(st.lists(TIMES), st.integers(2, 12))
def test_points_are_left_out_evenly(values: list[int], limit: int) -> None:
    points = list(enumerate(values))
    kept = evenly(points, limit)
    assert len(kept) == min(limit, len(points))
    assert list(kept) == sorted(set(kept))
    assert set(kept) <= set(points)
    if points:
        assert (kept[0], kept[-1]) == (points[0], points[-1])


@given(st.lists(st.integers(-(10**13), 10**13), min_size=1), st.integers(2, 9))
def test_bars_count_every_event_once_in_its_stretch(times: list[int], limit: int) -> None:
    bars = Bars(limit)
    for time in times:
        bars.add(time)
    drawn = bars.bars
    assert sum(count for _, _, count in drawn) == len(times)
    assert all(sum(begin <= time < end for time in times) == count for begin, end, count in drawn)
    assert drawn[-1][0] - drawn[0][0] < limit * (drawn[0][1] - drawn[0][0])


def at(count: Count, time: int) -> int:
    """As the page's program counts."""
    return count.before + sum(change for begin, change in count.changes if begin <= time)


@given(INTERVALS)
def test_count_is_that_of_the_rows_that_hold_at_every_time(intervals: list[tuple[int | None, int | None]]) -> None:
    counting = CountOverTime()
    for begin, end in intervals:
        counting.add(begin, end)
    count = counting.count()
    assert count.width == 1
    for time in range(-1, 1_002):
        assert at(count, time) == sum(holds(*interval, time) for interval in intervals)


@given(INTERVALS, st.integers(2, 30))
def test_count_of_too_many_times_is_exact_wherever_its_width_says_so(
    intervals: list[tuple[int | None, int | None]], limit: int
) -> None:
    counting = CountOverTime(limit)
    for begin, end in intervals:
        counting.add(begin, end)
    count = counting.count()
    assert len(count.changes) <= limit
    begins = {begin for begin, _ in count.changes}
    for time in range(1_002):
        if time // count.width * count.width not in begins or time % count.width == count.width - 1:
            assert at(count, time) == sum(holds(*interval, time) for interval in intervals)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | TIMES, st.none() | TIMES), max_size=40))
def test_holders_are_counted_once_while_they_have_anything(rows: list[tuple[str, int | None, int | None]]) -> None:
    counting = HoldersOverTime()
    for row in rows:
        counting.add(*row)
    count = counting.count()
    for time in range(-1, 1_002):
        assert at(count, time) == len({holder for holder, begin, end in rows if holds(begin, end, time)})


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 9), st.booleans()), max_size=30))
def test_row_that_begins_when_the_one_before_ended_is_one_change_with_it(steps: list[tuple[str, int, bool]]) -> None:
    """Things are set and unset as time goes on; each of these is one change, whatever rows it becomes."""
    counting = ChangesOverTime()
    since: dict[str, int] = {}
    time, times = 0, list[int]()
    for thing, later, is_set in steps:
        time += later
        if not is_set and thing not in since:
            continue
        times.append(time)
        if thing in since:
            counting.add(thing, since.pop(thing), time)
        if is_set:
            since[thing] = time
    for thing, begin in since.items():
        counting.add(thing, begin, None)
    count = counting.count()
    for moment in range(time + 2):
        assert at(count, moment) == sum(changed <= moment for changed in times)
