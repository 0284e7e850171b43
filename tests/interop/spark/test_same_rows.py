"""Spark reads the same rows as the Python functions, of every table, in parts of any size."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS, damaged_log, plain_rows, read_with_spark
from tests.made.logs import OFFSETS_LOG, Written, write_batches, write_offsets_segment

from kafkawire.logs import ReadMode
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.spark.releases import PUSHDOWN
from kafkawire.wire.batches import Record, encode_batch

pytestmark = pytest.mark.extended


def same(rows: pa.Table, plain: pa.Table) -> None:
    assert rows.column_names == plain.column_names
    assert rows.to_pylist() == plain.to_pylist()


TABLES = (
    *("batches", "records", "acl_history", "quota_history", "config_history", "topic_history"),
    *("scram_history", "partition_history", "broker_history", "token_history", "feature_history"),
    *("offset_commits", "group_history", "partition", "register_broker", "offset_commit", "group_metadata"),
    *("transaction_log", "share_snapshot", "transaction_history", "share_group_history", "lag_history"),
)
"""One of each kind; ``tests/unit/spark/test_reader.py`` has all of them, without Java."""


@pytest.mark.parametrize("table", TABLES)
def test_tables_of_every_kind_have_the_same_rows(spark: SparkSession, table: str) -> None:
    same(read_with_spark(spark, table, [LOGS], {}).toArrow(), plain_rows(table, [LOGS]))


@pytest.mark.parametrize("size", ["2k", "16k"])
def test_parts_of_any_size_have_the_same_rows(spark: SparkSession, size: str) -> None:
    read = read_with_spark(spark, "records", [LOGS], {"maxPartitionBytes": size, "columns": "file,log_offset,json"})
    assert read.rdd.getNumPartitions() > 5
    same(read.toArrow(), plain_rows("records", [LOGS], {"columns": "file,log_offset,json"}))


@pytest.mark.parametrize("mode", [ReadMode.PERMISSIVE, ReadMode.DROPMALFORMED])
@pytest.mark.parametrize("table", ["batches", "records", "topic"])
def test_damage_is_reported_or_dropped_as_without_spark(
    spark: SparkSession, tmp_path: Path, table: str, mode: ReadMode
) -> None:
    log = damaged_log(tmp_path)
    options = {"mode": mode.value, "columnNameOfCorruptRecord": "raw"}
    rows = read_with_spark(spark, table, [log], options).toArrow()
    same(rows, plain_rows(table, [log], options))
    assert ("raw" in rows.column_names) is (mode is ReadMode.PERMISSIVE)


def test_the_lag_is_read_from_logs_of_several_topics_in_one_task(spark: SparkSession, tmp_path: Path) -> None:
    records = [Record(timestamp=1000, value=b"v", offset=at) for at in range(10)]
    write_batches(tmp_path / "t-0", 0, [encode_batch(records, base_offset=0, log_append_time=1000)])
    commits = [Written(at, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(at // 1000), 3),)) for at in (2000, 4000)]
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, commits)
    read = read_with_spark(spark, "lag_history", [tmp_path], {})
    assert read.rdd.getNumPartitions() == 1
    same(read.toArrow(), plain_rows("lag_history", [tmp_path]))
    assert [row.lag for row in read.collect()] == [8, 6]
    then = read_with_spark(spark, "lag_history", [tmp_path], {"asOf": "1970-01-01T00:00:03Z"})
    assert [(row.committed_offset, row.last_lag) for row in then.collect()] == [(2, 8)]


def test_failfast_ends_the_query_with_file_position_and_offset(spark: SparkSession, tmp_path: Path) -> None:
    log = damaged_log(tmp_path)
    with pytest.raises(Exception, match=r"\.log at byte \d+, offset \d+: bad_crc"):
        read_with_spark(spark, "records", [log], {"mode": "FAILFAST"}).collect()


def test_a_log_without_batches_is_a_table_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / f"{0:020}.log").touch()
    assert read_with_spark(spark, "records", [tmp_path], {}).count() == 0
    assert read_with_spark(spark, "acl_history", [tmp_path], {}).count() == 0


def test_several_paths_patterns_and_uris_can_be_read(spark: SparkSession) -> None:
    folders = sorted(LOGS.glob("__consumer_offsets-*"))
    reader = spark.read.format("kafka-log").option("table", "batches").option("columns", "batch_position,log_offset")
    expected = plain_rows("batches", folders, {"columns": "batch_position,log_offset"})
    same(reader.load([str(folder) for folder in folders]).toArrow(), expected)
    same(reader.load(str(LOGS / "__consumer_offsets-*")).toArrow(), expected)
    same(reader.load([folder.as_uri() for folder in folders]).toArrow(), expected)
    only = reader.option("pathGlobFilter", "*.checkpoint").load(str(LOGS))
    snapshots = sorted(LOGS.glob("*/*.checkpoint"))
    same(only.toArrow(), plain_rows("batches", snapshots, {"columns": "batch_position,log_offset"}))


@since(PUSHDOWN)
def test_filters_narrow_the_reading_and_never_the_rows(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        log = LOGS / "__consumer_offsets-0"
        whole = read_with_spark(spark, "records", [log], {"columns": "log_offset,append_time,record_type"})
        pushed = read_with_spark(
            spark, "records", [log], {"columns": "log_offset,append_time,record_type", "pushdown": "true"}
        )
        middle = whole.select("append_time").collect()[20][0]
        for condition in (
            "log_offset between 5 and 9",
            f"append_time < timestamp'{middle}'",
            f"append_time >= timestamp'{middle}'",
            "record_type = 'OFFSET_COMMIT' and log_offset > 3",
        ):
            rows = pushed.where(condition).toArrow()
            assert 0 < rows.num_rows < whole.count()
            same(rows, whole.where(condition).toArrow())
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_sql_says_when_a_broker_lost_leadership(spark: SparkSession) -> None:
    """A row that follows another begins at the record that ended it."""
    read_with_spark(spark, "partition_history", [LOGS], {}).createOrReplaceTempView("partition_rows")
    lost = spark.sql("""
        select ended.topic, ended.partition, ended.valid_to
        from partition_rows ended left join partition_rows later
          on later.topic_id = ended.topic_id and later.partition = ended.partition
          and later.from_offset = ended.to_offset
        where ended.leader = 1 and ended.to_offset is not null and coalesce(later.leader, -1) <> 1
    """)
    history = plain_rows("partition_history", [LOGS]).to_pylist()
    leaders = {(row["topic_id"], row["partition"], row["from_offset"]): row["leader"] for row in history}
    expected = {
        (row["topic"], row["partition"])
        for row in history
        if row["leader"] == 1
        and row["to_offset"] is not None
        and leaders.get((row["topic_id"], row["partition"], row["to_offset"]), -1) != 1
    }
    assert {(row.topic, row.partition) for row in lost.collect()} == expected
    assert len(expected) > 20


@since(PUSHDOWN)
def test_a_plan_shows_the_filters_that_were_pushed_down_and_all_columns(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spark does not say which columns a query uses, so the option ``columns`` does."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        for table in ("batches", "acl_history"):
            rows = read_with_spark(spark, table, [LOGS], {"pushdown": "true"})
            name = "log_offset" if table == "batches" else "from_offset"
            rows.where(f"{name} > 5").select("_error").explain("formatted")
            plan = capsys.readouterr().out
            assert f"PushedFilters: [IsNotNull({name}), GreaterThan({name},5)]" in plan
            assert f"Output [{len(rows.columns)}]: " in plan
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_json_becomes_a_variant(spark: SparkSession) -> None:
    records = read_with_spark(spark, "records", [LOGS / "__cluster_metadata-0"], {"recordTypes": "TOPIC_RECORD"})
    records.createOrReplaceTempView("topic_records")
    names = spark.sql("select distinct variant_get(parse_json(json), '$.data.name', 'string') n from topic_records")
    plain = plain_rows("topic", [LOGS / "__cluster_metadata-0"]).column("name").to_pylist()
    assert {row.n for row in names.collect()} == set(plain)
