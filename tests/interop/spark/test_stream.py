"""A streaming query reads a growing log once, over restarts from its checkpoint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS, plain_rows

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


@since(STREAMS)
def test_a_history_is_refused_as_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    logs = spark.readStream.format("kafka-log").option("table", "acl_history").load(str(LOGS))
    query = logs.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    with pytest.raises(PySparkException, match="table 'acl_history' needs whole logs and cannot be a stream"):
        query.start().awaitTermination(120)


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
