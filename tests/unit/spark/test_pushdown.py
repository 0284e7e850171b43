"""Filters of a query skip files and batches only if all their rows would be filtered out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from kafkawire.logs import ReadOptions
from kafkawire.spark.pushdown import narrowed

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
OFFSET, TIME, TYPE = ("log_offset",), ("append_time",), ("record_type",)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (EqualTo(OFFSET, 5), ReadOptions(from_offset=5, until_offset=6)),
        (GreaterThan(OFFSET, 5), ReadOptions(from_offset=6)),
        (GreaterThanOrEqual(OFFSET, 5), ReadOptions(from_offset=5)),
        (LessThan(OFFSET, 5), ReadOptions(until_offset=5)),
        (LessThanOrEqual(OFFSET, 5), ReadOptions(until_offset=6)),
        (GreaterThan(OFFSET, -5), ReadOptions(from_offset=0)),
        (LessThan(OFFSET, -5), ReadOptions(until_offset=0)),
        (EqualTo(TIME, NOON), ReadOptions(from_time=NOON, until_time=NOON + MILLISECOND)),
        (GreaterThan(TIME, NOON), ReadOptions(from_time=NOON)),
        (LessThan(TIME, NOON), ReadOptions(until_time=NOON + MILLISECOND)),
        (EqualTo(TYPE, "TOPIC_RECORD"), ReadOptions(record_types=("TOPIC_RECORD",))),
        (In(TYPE, ("A", "B")), ReadOptions(record_types=("A", "B"))),
        (In(TYPE, ("A", None)), ReadOptions()),
        (Not(EqualTo(OFFSET, 5)), ReadOptions()),
        (IsNotNull(OFFSET), ReadOptions()),
        (EqualTo(("leader_epoch",), 5), ReadOptions()),
        (EqualTo(("value", "log_offset"), 5), ReadOptions()),
    ],
)
def test_a_filter_narrows_the_read_options(asked: Filter, expected: ReadOptions) -> None:
    assert narrowed(ReadOptions(), [asked], offsets=True, types=True) == expected


def test_filters_and_options_narrow_together() -> None:
    options = ReadOptions(
        from_offset=3, until_offset=20, from_time=NOON, until_time=NOON + timedelta(1), record_types=("A",)
    )
    filters = [
        *(GreaterThan(OFFSET, 1), LessThan(OFFSET, 10), GreaterThan(OFFSET, 4)),
        *(GreaterThan(TIME, NOON - MILLISECOND), LessThan(TIME, NOON + timedelta(2)), In(TYPE, ("A", "B"))),
    ]
    assert narrowed(options, filters, offsets=True, types=True) == ReadOptions(
        from_offset=5, until_offset=10, from_time=NOON, until_time=NOON + timedelta(1), record_types=("A",)
    )


def test_filters_that_cannot_skip_rows_are_left_to_spark() -> None:
    filters: list[Filter] = [EqualTo(OFFSET, 5), EqualTo(TYPE, "A")]
    assert narrowed(ReadOptions(), filters, offsets=False, types=False) == ReadOptions()


def test_filters_that_exclude_each_other_read_an_empty_range() -> None:
    none = narrowed(ReadOptions(), [GreaterThan(OFFSET, 9), LessThan(OFFSET, 2)], offsets=True, types=True)
    assert none == ReadOptions(from_offset=2, until_offset=2)
    later = ReadOptions(from_time=NOON + timedelta(1))
    none = narrowed(later, [LessThan(TIME, NOON)], offsets=True, types=True)
    assert none.from_time == none.until_time
