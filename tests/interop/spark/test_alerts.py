"""Alerts in Spark: table ``alerts`` in batch and SQL, and the same alerts in a stream, however it is cut."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark
from tests.kafka_logs.histories import Row

from kafkawire.spark.releases import STREAMS

pytestmark = pytest.mark.extended

METADATA = "__cluster_metadata-0"
SEGMENTS = sorted((LOGS / METADATA).glob("*.log"))


class Alerted:
    """Runs a streaming query over a folder, and keeps what each micro-batch had."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.batches: dict[int, list[Row]] = {}
        self.fails_at: int | None = None
        self._spark, self._folder = spark, folder

    def run(self, **options: str) -> None:
        """Read what is there, and let the query end."""

        def keep(alerts: DataFrame, batch: int) -> None:
            rows = alerts.toArrow().to_pylist()
            if batch == self.fails_at:
                raise RuntimeError("the sink is full")
            self.batches[batch] = rows

        reader = self._spark.readStream.format("kafka-log").option("table", "alerts").options(**options)
        alerts = reader.option("statePath", str(self._folder / "states")).load(str(self._folder / "data"))
        writer = alerts.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self._folder / "checkpoint")).start()
        assert query.awaitTermination(120)

    @property
    def rows(self) -> list[Row]:
        """The rows of all micro-batches."""
        return [row for batch in self.batches.values() for row in batch]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An empty folder for a log."""
    folder = tmp_path / "data" / METADATA
    folder.mkdir(parents=True)
    return folder


def copy_all(log: Path) -> None:
    shutil.copytree(LOGS / METADATA, log, dirs_exist_ok=True)


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


@pytest.fixture
def own(tmp_path: Path) -> dict[str, str]:
    """The option with a file of rules."""
    file = tmp_path / "rules.toml"
    file.write_text(
        '[[rules]]\nid = "own"\ntitle = "A topic was deleted."\nseverity = "low"\nhistory = "topic_history"\n'
        'remedy = "look"\nwhen = { change = "deleted", name = "payments.events" }\n',
        "utf-8",
    )
    return {"alertRules": str(file)}


def test_rules_of_a_file_are_applied_in_a_batch(spark: SparkSession, own: dict[str, str]) -> None:
    rows = read_with_spark(spark, "alerts", [LOGS], own).toArrow().to_pylist()
    (found,) = (row for row in rows if row["rule"] == "own")
    assert found["message"] == "topic payments.events was deleted"
    assert [row for row in rows if row["rule"] != "own"] == plain_rows("alerts", [LOGS]).to_pylist()


@since(STREAMS)
def test_rules_of_a_file_are_applied_in_a_stream(
    spark: SparkSession, log: Path, tmp_path: Path, own: dict[str, str]
) -> None:
    copy_all(log)
    alerted = Alerted(spark, tmp_path)
    alerted.run(**own)
    assert [row["message"] for row in alerted.rows if row["rule"] == "own"] == ["topic payments.events was deleted"]
    assert len(alerted.rows) > 10


@since(STREAMS)
def test_a_stream_of_a_log_that_grows_between_restarts_has_the_alerts_of_the_table(
    spark: SparkSession, log: Path, tmp_path: Path
) -> None:
    alerted = Alerted(spark, tmp_path)
    content = SEGMENTS[0].read_bytes()
    (log / SEGMENTS[0].name).write_bytes(content[: len(content) // 2])  # inside a batch
    alerted.run()
    copy_all(log)
    alerted.run(maxBytesPerTrigger="8k")
    alerted.run()
    assert len(alerted.batches) > 3
    assert alerted.rows == plain_rows("alerts", [log]).to_pylist()


@since(STREAMS)
def test_a_micro_batch_that_is_repeated_has_the_same_alerts(spark: SparkSession, log: Path, tmp_path: Path) -> None:
    copy_all(log)
    alerted = Alerted(spark, tmp_path)
    alerted.fails_at = 1
    with pytest.raises(PySparkException, match="the sink is full"):
        alerted.run(maxBytesPerTrigger="8k")
    alerted.fails_at = None
    alerted.run(maxBytesPerTrigger="8k")
    assert alerted.rows == plain_rows("alerts", [log]).to_pylist()


@since(STREAMS)
def test_several_logs_are_followed_each_by_itself(spark: SparkSession, log: Path, tmp_path: Path) -> None:
    copy_all(log)
    other = shutil.copytree(log, tmp_path / "data" / "other" / METADATA)
    (other / SEGMENTS[-1].name).unlink()
    alerted = Alerted(spark, tmp_path)
    alerted.run()
    expected = plain_rows("alerts", [tmp_path / "data"]).to_pylist()
    assert sorted(map(repr, alerted.rows)) == sorted(map(repr, expected))
    assert len({row["log"] for row in expected}) == 2
