"""Wrong options and unreadable logs are errors with a reason before any task runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from tests.apache_spark.lakes import LAKES
from tests.interop.spark.same_rows import LOGS, damaged_log

pytestmark = pytest.mark.extended


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "option 'table': it is missing"),
        ({"table": "recrods"}, "there is no table 'recrods'; did you mean records?"),
        ({"table": "zzz"}, "there is no table 'zzz'; there are "),
        ({"table": "records", "columns": "zzz"}, "table 'records' has no column 'zzz'; it has cluster, file, "),
        ({"table": "records", "maxPartitionByte": "1m"}, "did you mean 'maxPartitionBytes'?"),
        ({"table": "records", "fromOffset": "ten"}, "option 'fromOffset': 'ten' is not an offset"),
        ({"table": "records", "schemaDir": "/nowhere"}, "/nowhere is not a folder of definitions"),
    ],
)
def test_a_wrong_option_is_reported_while_the_query_is_analysed(
    spark: SparkSession, options: Mapping[str, str], complaint: str
) -> None:
    with pytest.raises(AnalysisException) as refused:
        spark.read.format("kafka-log").options(**options).load(str(LOGS))
    assert complaint in str(refused.value)


def test_a_missing_path_is_reported_while_the_query_is_planned(spark: SparkSession, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(PySparkException, match="unreadable"):
        spark.read.format("kafka-log").option("table", "records").load(str(missing)).collect()


def test_another_schema_than_the_tables_is_refused(spark: SparkSession) -> None:
    reader = spark.read.format("kafka-log").option("table", "batches").schema("log_offset string")
    with pytest.raises(PySparkException, match="leave out schema"):
        reader.load(str(LOGS)).collect()


def test_the_error_of_a_broken_log_names_what_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    log = damaged_log(tmp_path)
    reader = spark.read.format("kafka-log").option("table", "acl_history")
    lost = reader.load(str(log)).where("_error IS NOT NULL").select("_error", "log").collect()
    assert {(row["_error"], row["log"]) for row in lost} == {("bad_crc", str(log)), ("unknown_type", str(log))}
    with pytest.raises(PySparkException, match="bad_crc"):
        reader.option("mode", "FAILFAST").load(str(log)).collect()


def test_paths_without_logs_of_the_table_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    reader = spark.read.format("kafka-log").option("table", "offset_commit")
    with pytest.raises(PySparkException, match=r"no segment .* and no snapshot"):
        reader.load(str(tmp_path)).collect()
    with pytest.raises(
        PySparkException, match="needs a log of __consumer_offsets, and only __cluster_metadata-0 is there"
    ):
        reader.load(str(damaged_log(tmp_path))).collect()


def test_a_table_of_sql_is_refused_with_advice_since_spark_loses_its_options(spark: SparkSession) -> None:
    refusal = "is not a valid Spark SQL Data Source" if LAKES else "CREATE TEMPORARY VIEW"  # Delta's catalog says less
    spark.sql(f"CREATE TABLE lost USING `kafka-log` OPTIONS (table 'acl_history', path '{LOGS}')")
    try:
        with pytest.raises(AnalysisException, match=refusal):
            spark.sql("SELECT * FROM lost").collect()
    finally:
        spark.sql("DROP TABLE lost")
    spark.sql(f"CREATE TEMPORARY VIEW kept USING `kafka-log` OPTIONS (table 'acl_history', path '{LOGS}')")
    assert spark.table("kept").count()
    spark.catalog.dropTempView("kept")
