"""Rows that can be merged into a table have the ids of their intervals."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark

from kafkawire.logs.history_tables import HISTORIES
from kafkawire.spark import OptionError, merge_changes


@pytest.mark.parametrize("history", HISTORIES)
def test_each_row_of_a_history_is_an_interval_of_its_own(history: str) -> None:
    rows = plain_rows(history, [LOGS], {"intervalIds": "true"})
    ids = rows.column("interval_id").to_pylist()
    assert len(set(ids)) == len(ids) > 0


def test_rows_without_ids_are_refused(spark: SparkSession) -> None:
    rows = read_with_spark(spark, "acl_history", [LOGS], {})
    with pytest.raises(OptionError, match="the rows lack interval_id, which says what interval each is"):
        merge_changes(rows, "acls")
