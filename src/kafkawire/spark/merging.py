"""Rows of a history that changed, merged into a table of Delta Lake or Iceberg: a slowly changing table."""

from __future__ import annotations

import secrets

from pyspark.sql import DataFrame

from kafkawire.logs.folding.history import INTERVAL_ID
from kafkawire.spark.options import OptionError

_ID = INTERVAL_ID.name


def merge_changes(changes: DataFrame, table: str) -> None:
    """Bring a table that holds a history up to date: intervals that ended or changed are replaced, new ones are added.

    A row of the table is the interval of a changed row if both have the same ``interval_id``. So merging the same rows
    again changes nothing. It is a ``MERGE INTO``, which Delta Lake and Iceberg have.

    Args:
        changes: the rows of intervals that began, ended or changed since the table was written, with the column
            ``interval_id``: a micro-batch of a history's stream, or a history that is read with ``intervalIds``. Rows
            that did not change may be among them.
        table: the name of the table, which has the columns of ``changes``; the statement has it as it is.

    Raises:
        OptionError: ``changes`` lacks the column ``interval_id``.

    Example:
        ```python
        from pyspark.sql import SparkSession

        from kafkawire.spark import merge_changes

        spark = SparkSession.builder.getOrCreate()
        rows = spark.read.format("kafka-log").option("table", "acl_history").option("intervalIds", "true")
        merge_changes(rows.load("/var/lib/kafka/data"), "lake.audit.acls")
        ```
    """
    if _ID not in changes.columns:
        raise OptionError(f"the rows lack {_ID}, which says what interval each is: read them with intervalIds=true")
    spark, view = changes.sparkSession, f"changes_{secrets.token_hex(4)}"
    changes.createTempView(view)
    try:
        spark.sql(merge_statement(table, view))
    finally:
        spark.catalog.dropTempView(view)


def merge_statement(table: str, changes: str) -> str:
    """The statement that merges a view into a table."""
    return (
        f"MERGE INTO {table} AS kept USING {changes} AS changed ON kept.{_ID} = changed.{_ID} "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
