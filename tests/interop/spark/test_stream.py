"""A streaming query reads a growing log once, over restarts from its checkpoint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS, plain_rows
from tests.kafka_logs.histories import Row

from kafkawire.spark.releases import STREAMS, lacking

SEGMENTS = sorted((LOGS / "__cluster_metadata-0").glob("*.log"))
COLUMNS = "batch_position,log_offset,record_type,json"


def run(spark: SparkSession, folder: Path) -> None:
    """Start the query, let it read what is there, and let it end."""
    logs = spark.readStream.format("kafka-log").option("table", "records").option("columns", COLUMNS)
    writer = logs.load(str(folder / "data")).writeStream.format("parquet").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start(str(folder / "out"))
    assert query.awaitTermination(120)


@since(STREAMS)
@pytest.mark.extended
def test_a_log_that_grows_between_restarts_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "data" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    first, second, _ = SEGMENTS
    shutil.copy(first, log)
    content = second.read_bytes()
    (log / second.name).write_bytes(content[: len(content) // 3])  # inside a batch
    run(spark, tmp_path)
    (log / second.name).write_bytes(content)
    for file in SEGMENTS[2:]:
        shutil.copy(file, log)
    run(spark, tmp_path)
    run(spark, tmp_path)
    order = ["log_offset"]
    rows = spark.read.parquet(str(tmp_path / "out")).orderBy(*order).toArrow().to_pylist()
    assert rows == plain_rows("records", [log], {"columns": COLUMNS}).to_pylist()


@pytest.mark.extended
@since(STREAMS)
def test_a_stream_of_a_history_needs_a_folder_for_its_states(spark: SparkSession, tmp_path: Path) -> None:
    logs = spark.readStream.format("kafka-log").option("table", "acl_history").load(str(LOGS))
    query = logs.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    with pytest.raises(PySparkException, match="option 'statePath': a stream of acl_history keeps states"):
        query.start().awaitTermination(120)


@since(STREAMS)
@pytest.mark.extended
def test_changes_of_a_history_kept_by_their_ids_are_the_history(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "data" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    kept: dict[str, Row] = {}

    def keep(changes: DataFrame, _: int) -> None:
        kept.update((str(row.pop("interval_id")), row) for row in changes.toArrow().to_pylist())

    for segment in SEGMENTS:
        shutil.copy(segment, log)
        reader = spark.readStream.format("kafka-log").option("table", "config_history")
        changes = reader.option("statePath", str(tmp_path / "states")).load(str(tmp_path / "data"))
        writer = changes.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        assert query.awaitTermination(120)
    expected = plain_rows("config_history", [log]).to_pylist()
    assert sorted(kept.values(), key=repr) == sorted(expected, key=repr)
    assert len([*(tmp_path / "states").rglob("*.state")]) <= 2


@since(STREAMS)
@pytest.mark.extended
def test_the_query_waits_for_a_late_segment(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "data" / "__cluster_metadata-0"
    log.mkdir(parents=True)
    first, second, third = SEGMENTS
    shutil.copy(first, log)
    shutil.copy(third, log)
    with pytest.raises(PySparkException, match="data_loss: there is no segment with the offsets 159 to 314"):
        run(spark, tmp_path)
    shutil.copy(second, log)
    run(spark, tmp_path)
    rows = spark.read.parquet(str(tmp_path / "out")).orderBy("log_offset").toArrow().to_pylist()
    assert rows == plain_rows("records", [log], {"columns": COLUMNS}).to_pylist()


@pytest.mark.skipif(not lacking(STREAMS), reason="this PySpark has all that streams need")
def test_an_older_pyspark_says_what_a_stream_needs(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match=r"a stream of kafka-log needs PySpark 4\.2 or newer"):
        run(spark, tmp_path)
