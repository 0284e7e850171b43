"""Spark finds ``kafka-log`` by itself: no other test of this folder registers it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.interop.spark.same_rows import LOGS

from kafkawire.spark import register


def test_the_format_is_found_by_the_reader_and_by_sql(spark: SparkSession) -> None:
    count = spark.read.format("kafka-log").option("table", "records").load(str(LOGS)).count()
    assert count > 0
    spark.sql(f"CREATE TEMPORARY VIEW found USING `kafka-log` OPTIONS (table 'records', path '{LOGS}')")
    assert spark.table("found").count() == count


@pytest.mark.extended
def test_registering_it_too_changes_nothing(spark: SparkSession) -> None:
    logs = spark.read.format("kafka-log").option("table", "records")
    count = logs.load(str(LOGS)).count()
    register(spark)
    assert logs.load(str(LOGS)).count() == count
