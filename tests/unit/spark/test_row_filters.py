"""Filters that the reader applies keep the rows that SQL keeps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from kafkawire.logs.times import TIMESTAMP
from kafkawire.spark.row_filters import is_applied, kept

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROWS = pa.RecordBatch.from_pydict(
    {
        "row": pa.array([0, 1, 2, 3]),
        "code": pa.array([-1, 5, None, 127], pa.int8()),
        "name": pa.array(["a", None, "b", "é"]),
        "done": pa.array([True, False, None, True]),
        "time": pa.array([NOON, None, NOON + timedelta(1), NOON - timedelta(1)], TIMESTAMP),
        "value": pa.array([0.0, -0.0, float("nan"), None]),
    }
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (EqualTo(("code",), 5), [1]),
        (EqualTo(("code",), 300), []),
        (GreaterThan(("code",), -1), [1, 3]),
        (GreaterThanOrEqual(("code",), -1), [0, 1, 3]),
        (LessThan(("code",), 5), [0]),
        (LessThanOrEqual(("code",), 5), [0, 1]),
        (LessThan(("code",), 1 << 40), [0, 1, 3]),
        (In(("code",), (5, 127, 300)), [1, 3]),
        (IsNull(("code",)), [2]),
        (IsNotNull(("value",)), [0, 1, 2]),
        (EqualTo(("name",), "é"), [3]),
        (In(("name",), ("a", "x")), [0]),
        (EqualTo(("done",), value=True), [0, 3]),
        (EqualTo(("time",), NOON), [0]),
        (GreaterThanOrEqual(("time",), NOON), [0, 2]),
    ],
)
def test_a_filter_keeps_the_rows_for_which_it_is_true(asked: Filter, expected: list[int]) -> None:
    assert is_applied(asked, ROWS.schema)
    assert kept(ROWS, [asked]).column("row").to_pylist() == expected


def test_filters_are_applied_together() -> None:
    assert kept(ROWS, [IsNotNull(("name",)), GreaterThan(("code",), -1)]).column("row").to_pylist() == [3]
    assert kept(ROWS, []) is ROWS


@pytest.mark.parametrize(
    "asked",
    [
        EqualTo(("value",), 0.0),  # Spark and Arrow differ in NaN
        EqualTo(("code",), value=True),
        EqualTo(("code",), "5"),
        EqualTo(("time",), NOON.replace(tzinfo=None)),
        EqualTo(("struct", "code"), 5),
        In(("code",), (5, None)),
        In(("code",), ()),
        GreaterThan(("name",), "a"),  # collations have other orders
        EqualNullSafe(("code",), 5),
        Not(EqualTo(("code",), 5)),
        StringStartsWith(("name",), "a"),
    ],
)
def test_other_filters_are_left_to_spark(asked: Filter) -> None:
    assert not is_applied(asked, ROWS.schema)
