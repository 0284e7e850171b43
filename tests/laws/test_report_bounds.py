"""What a page keeps of what may be endless: bounded, and true about what it left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkawire.cli.report.bounded import Bars, CountOverTime, NewestRows, ThinnedLine, evenly

TIMES = st.integers(0, 1_000)
INTERVALS = st.lists(st.tuples(st.none() | TIMES, st.none() | TIMES), max_size=60)


def holds(begin: int | None, end: int | None, time: int) -> bool:
    return (begin is None or begin <= time) and (end is None or time < end)


@given(INTERVALS, st.integers(1, 20))
def test_kept_rows_are_all_that_hold_from_the_time_that_is_told(
    intervals: list[tuple[int | None, int | None]], limit: int
) -> None:
    newest = NewestRows(limit)
    for number, (begin, end) in enumerate(intervals):
        newest.add((number,), begin, end)
    section = newest.section(("number",))
    kept = [row[0] for row in section.rows]
    assert len(kept) == min(limit, len(intervals))
    assert section.left_out == len(intervals) - len(kept)
    assert kept == sorted(number for number in kept if isinstance(number, int))
    lost = [interval for number, interval in enumerate(intervals) if number not in kept]
    assert section.complete == all(end is not None for _, end in lost)
    if section.complete and section.complete_from is not None:
        assert not any(holds(*interval, time) for interval in lost for time in range(section.complete_from, 1_001))
    elif section.complete:
        assert not lost


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


@given(INTERVALS, st.integers(2, 30))
def test_count_over_time_is_exact_at_the_end_and_where_its_steps_are_fine(
    intervals: list[tuple[int | None, int | None]], limit: int
) -> None:
    coarse, fine = CountOverTime(limit), CountOverTime(2_000)
    for begin, end in intervals:
        coarse.add(begin, end)
        fine.add(begin, end)
    begins = {begin for begin, _ in intervals}
    assert len(coarse.steps(0)) <= limit + 1
    assert coarse.steps(0)[-1][1] == fine.steps(0)[-1][1]
    for time, count in fine.steps(0)[1:]:
        started = sum(begin is None or begin <= time for begin, _ in intervals)
        assert count == started - sum(end is not None and end <= time for _, end in intervals)
        assert time in begins | {end for _, end in intervals}
