"""Rows of a table and changed rows are the same interval where log, key and beginning are equal."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark

from kafkawire.logs.history_tables import HISTORIES
from kafkawire.spark import OptionError, merge_changes
from kafkawire.spark.merging import same_interval


@pytest.mark.parametrize("history", HISTORIES)
def test_each_row_of_a_history_is_an_interval_of_its_own(spark: SparkSession, history: str) -> None:
    rows = spark.createDataFrame(plain_rows(history, [LOGS]))
    count = rows.count()
    assert count
    pairs = rows.alias("kept").join(rows.alias("changed"), expr(same_interval(history, rows.columns)))
    assert pairs.count() == count


def test_rows_that_lack_a_key_are_refused(spark: SparkSession) -> None:
    rows = read_with_spark(spark, "acl_history", [LOGS], {"columns": "log,principal,from_offset"})
    with pytest.raises(OptionError, match=r"option 'columns': the rows of acl_history lack acl_id, valid_from, which"):
        merge_changes(rows, "acl_history", "acls")
