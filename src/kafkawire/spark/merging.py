"""Rows of a history that changed, merged into a table of Delta Lake or Iceberg: a slowly changing table."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame

from kafkawire.logs import ReadOptions
from kafkawire.logs.history_tables import history_table
from kafkawire.spark.options import OptionError

_SAME_LOG: Final = "kept.log = changed.log"
_SAME_LOG_OF_FILE: Final = "regexp_replace(kept.file, '[^/]*$', '') = regexp_replace(changed.file, '[^/]*$', '')"
"""Compaction moves records to other files of a log."""

_SAME_PLACE: Final = "(kept.log_offset IS NOT NULL OR kept.batch_position = changed.batch_position)"
"""Bytes that are lost have no offset."""

_SAME_END: Final = "(kept.to_offset IS NULL OR kept.to_offset <=> changed.to_offset)"
"""Of intervals whose beginning is not known, a key may have several."""

_BEGINNING: Final = ("valid_from", "from_offset", "log_offset")


def merge_changes(changes: DataFrame, history: str, table: str) -> None:
    """Bring a table that holds a history up to date: intervals that ended or changed are replaced, new ones are added.

    A row of the table is the interval of a changed row if log, key and beginning are equal, null with null. So merging
    the same rows again changes nothing. It is a ``MERGE INTO``, which Delta Lake and Iceberg have.

    Args:
        changes: the rows of intervals that began, ended or changed since the table was written, with the columns of the
            history; rows that did not change may be among them. Of rows that are equal in all columns, which only
            losses can be, one is kept.
        history: its name, such as ``acl_history``.
        table: the name of the table, which has the columns of ``changes``; the statement has it as it is.

    Raises:
        KeyError: there is no such history.
        OptionError: ``changes`` lacks a column that says which interval a row is.

    Example:
        ```python
        from pyspark.sql import SparkSession

        from kafkawire.spark import merge_changes

        spark = SparkSession.builder.getOrCreate()
        acls = spark.read.format("kafka-log").option("table", "acl_history").load("/var/lib/kafka/data")
        merge_changes(acls, "acl_history", "lake.audit.acls")
        ```
    """
    condition = same_interval(history, changes.columns)
    spark, view = changes.sparkSession, f"changes_{secrets.token_hex(4)}"
    changes.dropDuplicates().createTempView(view)
    try:
        spark.sql(
            f"MERGE INTO {table} AS kept USING {view} AS changed ON {condition} "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
    finally:
        spark.catalog.dropTempView(view)


def same_interval(history: str, columns: Sequence[str]) -> str:
    """The condition in SQL for a row of the table, ``kept``, and a changed row, ``changed``, to be the same interval.

    Args:
        history: its name.
        columns: of the rows.

    Raises:
        KeyError: there is no such history.
        OptionError: a column is missing.
    """
    table = history_table(history, ReadOptions())
    place = ("log",) if "log" in table.schema.names else ("file", "batch_position")
    beginning = tuple(name for name in _BEGINNING if name in table.schema.names)
    needed = (*(table.history.ids or table.history.keys), *beginning)
    if lacking := [name for name in (*place, *needed) if name not in columns]:
        raise OptionError(
            f"the rows of {history} lack {', '.join(lacking)}, which say what interval each is: name them too, or none",
            "columns",
        )
    same_log = _SAME_LOG if "log" in place else f"{_SAME_LOG_OF_FILE} AND {_SAME_PLACE}"
    same_end = (_SAME_END,) if "to_offset" in columns else ()
    equal = (*needed, *(name for name in ("_error",) if name in columns))
    return " AND ".join((same_log, *(f"kept.`{name}` <=> changed.`{name}`" for name in equal), *same_end))
