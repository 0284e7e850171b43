"""Spark reads the rows that the plain functions read, of every table, in parts of any size."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark

from kafkawire.logs import table_names


@pytest.mark.parametrize("table", table_names())
def test_every_table_has_the_rows_that_it_has_without_spark(spark: SparkSession, table: str) -> None:
    rows = read_with_spark(spark, table, [LOGS], {}).toArrow()
    plain = plain_rows(table, [LOGS])
    assert rows.column_names == plain.column_names
    assert rows.to_pylist() == plain.to_pylist()
