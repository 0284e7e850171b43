"""A time is the same moment by every door, whatever the time zone of the session is."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark

from kafkawire.cli.app import main as kafkawire
from kafkawire.spark import job
from kafkawire.spark.releases import PUSHDOWN

pytestmark = pytest.mark.extended

COLUMNS = {"columns": "log_offset,append_time"}
LOG = LOGS / "__consumer_offsets-0"


@pytest.fixture(params=["America/Los_Angeles", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[ZoneInfo]:
    before = spark.conf.get("spark.sql.session.timeZone")
    assert before is not None
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield ZoneInfo(request.param)
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.fixture
def records(spark: SparkSession) -> DataFrame:
    return read_with_spark(spark, "records", [LOG], COLUMNS)


def moments() -> list[datetime]:
    return [row["append_time"] for row in plain_rows("records", [LOG], COLUMNS).to_pylist()]


def test_a_moment_is_the_same_in_sql_arrow_rows_and_pandas(records: DataFrame, zone: ZoneInfo) -> None:
    expected = moments()
    times = records.select("append_time")
    in_arrow = times.toArrow().column("append_time")
    assert in_arrow.cast(pa.timestamp("us", "UTC")).to_pylist() == expected
    in_sql = times.selectExpr("unix_micros(append_time) AS micros", "CAST(append_time AS STRING) AS shown").collect()
    assert [row.micros for row in in_sql] == [round(time.timestamp() * 1_000_000) for time in expected]
    shown = [datetime.fromisoformat(row.shown).replace(tzinfo=zone) for row in in_sql]
    assert shown == expected
    assert [row.append_time.astimezone(UTC) for row in times.collect()] == expected  # in the zone of this process
    in_pandas = cast("Any", times.toPandas())
    assert in_pandas["append_time"].dt.tz_localize(zone).to_list() == expected


@since(PUSHDOWN)
def test_a_time_in_a_filter_is_the_same_moment_where_filters_are_pushed_down(
    spark: SparkSession, records: DataFrame, zone: ZoneInfo
) -> None:
    middle = moments()[20]
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        pushed = read_with_spark(spark, "records", [LOG], {**COLUMNS, "pushdown": "true"})
        for text in (f"timestamp'{middle.isoformat()}'", f"'{middle.astimezone(zone).replace(tzinfo=None)}'"):
            for comparison in ("<", "=", ">="):
                condition = f"append_time {comparison} {text}"
                found = pushed.where(condition).toArrow().to_pylist()
                assert 0 < len(found) < len(moments())
                assert found == records.where(condition).toArrow().to_pylist()
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_the_job_writes_times_as_the_command_does(form: str, tmp_path: Path) -> None:
    asked = ["--log", str(LOGS), "--table", "acl_history", "-o", form, "--out"]
    assert kafkawire(["tables", *asked, str(tmp_path / "plain")]) == 0
    assert job.main([*asked, str(tmp_path / "spark")]) == 0
    (of_spark,) = (tmp_path / "spark").glob("part-*")
    found = times_in(of_spark, form)
    assert found == times_in(tmp_path / "plain", form)
    assert len(set(found)) > 10


def times_in(file: Path, form: str) -> list[object]:
    """The beginnings of intervals, as they are in a file."""
    if form == "parquet":
        return list(pq.read_table(file).column("valid_from").to_pylist())
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines) if form == "csv" else map(json.loads, lines)
        return [row["valid_from"] for row in rows]
