"""Alerts in Spark: table ``alerts`` in batch and SQL, and the same alerts in a stream, however it is cut."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark

from kafkawire.logs.alerts.rules import ALERT_RULES
from kafkawire.spark import AlertStream, alert_records

METADATA = "__cluster_metadata-0"
SEGMENTS = sorted((LOGS / METADATA).glob("*.log"))
FAILFAST = {"mode": "FAILFAST"}


class Alerted:
    """Runs a streaming query over a folder, and keeps what each micro-batch had."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.batches: list[list[dict[str, Any]]] = []
        self.fails_after: int | None = None
        self._spark, self._folder = spark, folder

    def run(self, alerts: AlertStream, **options: str) -> None:
        """Read what is there, and let the query end."""

        def keep(records: DataFrame, _: int) -> None:
            found = alerts.of(records).toArrow().to_pylist()
            if self.fails_after is not None and len(self.batches) >= self.fails_after:
                raise RuntimeError("the sink is full")
            self.batches.append(found)

        records = alert_records(self._spark, str(self._folder / "data"), options)
        writer = records.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self._folder / "checkpoint")).start()
        assert query.awaitTermination(120)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all micro-batches."""
        return [row for batch in self.batches for row in batch]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An empty folder for a log."""
    folder = tmp_path / "data" / METADATA
    folder.mkdir(parents=True)
    return folder


def copy_all(log: Path) -> None:
    for file in (LOGS / METADATA).iterdir():
        shutil.copy(file, log)


def test_the_table_is_that_of_the_plain_function(spark: SparkSession) -> None:
    rows = read_with_spark(spark, "alerts", [LOGS], {}).toArrow()
    assert rows.num_rows > 10
    assert rows.to_pylist() == plain_rows("alerts", [LOGS]).to_pylist()


def test_a_view_of_sql_has_the_alerts_and_they_join_with_histories(spark: SparkSession) -> None:
    for table in ("alerts", "topic_history"):
        options = f"table '{table}', path '{LOGS}'"
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table} USING `kafka-log` OPTIONS ({options})")
    found = spark.sql(
        "SELECT rule, principal, topic_id FROM alerts JOIN topic_history ON name = resource_name AND valid_to = time "
        "WHERE rule = 'acl-of-deleted-topic'"
    ).collect()
    assert [(row.rule, row.principal) for row in found] == [("acl-of-deleted-topic", "User:alice")]


def test_a_stream_in_many_micro_batches_has_the_alerts_of_the_table(
    spark: SparkSession, log: Path, tmp_path: Path
) -> None:
    copy_all(log)
    alerted = Alerted(spark, tmp_path)
    alerted.run(AlertStream(str(tmp_path / "data")), maxBytesPerTrigger="4k")
    assert len(alerted.batches) > 4
    assert alerted.rows == plain_rows("alerts", [log], FAILFAST).to_pylist()


def test_a_stream_goes_on_after_a_restart_with_a_new_process_and_a_grown_log(
    spark: SparkSession, log: Path, tmp_path: Path
) -> None:
    alerted = Alerted(spark, tmp_path)
    content = SEGMENTS[0].read_bytes()
    (log / SEGMENTS[0].name).write_bytes(content[: len(content) // 2])
    alerted.run(AlertStream(str(tmp_path / "data")))
    copy_all(log)
    alerted.run(AlertStream(str(tmp_path / "data")))
    alerted.run(AlertStream(str(tmp_path / "data")))
    assert alerted.rows == plain_rows("alerts", [log], FAILFAST).to_pylist()


def test_a_micro_batch_that_is_repeated_has_the_same_alerts(spark: SparkSession, log: Path, tmp_path: Path) -> None:
    copy_all(log)
    alerted = Alerted(spark, tmp_path)
    alerts = AlertStream(str(tmp_path / "data"))
    alerted.fails_after = 2
    with pytest.raises(PySparkException, match="the sink is full"):
        alerted.run(alerts, maxBytesPerTrigger="4k")
    alerted.fails_after = None
    alerted.run(alerts, maxBytesPerTrigger="4k")
    assert alerted.rows == plain_rows("alerts", [log], FAILFAST).to_pylist()


def test_a_log_that_begins_with_a_snapshot_has_the_alerts_of_the_table(
    spark: SparkSession, log: Path, tmp_path: Path
) -> None:
    copy_all(log)
    (log / SEGMENTS[0].name).unlink()
    alerted = Alerted(spark, tmp_path)
    alerted.run(AlertStream(str(tmp_path / "data")), maxBytesPerTrigger="1k")
    assert len(alerted.batches) > 4
    expected = plain_rows("alerts", [log], FAILFAST).to_pylist()
    assert alerted.rows == expected
    assert "deny-removed" in {row["rule"] for row in expected}


def test_several_logs_are_followed_each_by_itself(spark: SparkSession, log: Path, tmp_path: Path) -> None:
    copy_all(log)
    shutil.copytree(log, tmp_path / "data" / "other" / METADATA)
    (tmp_path / "data" / "other" / METADATA / SEGMENTS[-1].name).unlink()
    alerted = Alerted(spark, tmp_path)
    alerted.run(AlertStream(str(tmp_path / "data")), maxBytesPerTrigger="8k")
    expected = plain_rows("alerts", [tmp_path / "data"], FAILFAST).to_pylist()
    by_place = [sorted(rows, key=lambda row: (row["log"], row["log_offset"])) for rows in (alerted.rows, expected)]
    assert by_place[0] == by_place[1]
    assert len({row["log"] for row in expected}) == 2


def test_some_rules_are_chosen(spark: SparkSession, log: Path, tmp_path: Path) -> None:
    copy_all(log)
    alerted = Alerted(spark, tmp_path)
    alerted.run(AlertStream(str(tmp_path / "data"), [ALERT_RULES["deny-removed"]]))
    assert [row["rule"] for row in alerted.rows] == ["deny-removed"]
