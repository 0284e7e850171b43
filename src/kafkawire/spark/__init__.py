"""Apache Spark reads Kafka's own logs, with the data source ``kafka-log`` and the SQL function ``who_could``.

Where kafkawire is installed, PySpark finds the data source by itself, in the package ``pyspark_kafkawire``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import cast

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import udtf
from pyspark.sql.udtf import UserDefinedTableFunction

from kafkawire.spark.releases import BATCH, lacking

if too_old := lacking(BATCH):
    raise ImportError(f"kafkawire.spark {too_old}")

# With an older release these imports fail, with an error that does not mention the release.
from kafkawire.spark.divided_history import divided_history
from kafkawire.spark.merging import merge_changes
from kafkawire.spark.options import OptionError
from kafkawire.spark.planned_read import make_reading
from kafkawire.spark.source import KafkaLogSource
from kafkawire.spark.who_could import WhoCould

__all__ = [
    "KafkaLogSource",
    "OptionError",
    "merge_changes",
    "read_history",
    "register",
    "register_who_could",
]


def register_who_could(spark: SparkSession) -> None:
    """Register the table function ``who_could`` with a session: who could do an operation, when, and by which ACL.

    In SQL it takes the rows of ``acl_history``, an operation, the type and the name of a resource, and by name
    ``since``, ``until``, ``host``, ``super_users`` and ``allow_everyone_if_no_acl``. The rows are those of
    `kafkawire.logs.who_could`, for each log by itself.

    Example:
        ```python
        from pyspark.sql import SparkSession

        from kafkawire.spark import register_who_could

        spark = SparkSession.builder.getOrCreate()
        acls = spark.read.format("kafka-log").option("table", "acl_history").load("/var/lib/kafka/data")
        acls.createOrReplaceTempView("acls")
        register_who_could(spark)
        spark.sql("SELECT * FROM who_could(TABLE(acls), 'READ', 'TOPIC', 'orders') WHERE allowed").show()
        ```
    """
    # Arrow would need pandas. The function makes what a session of Spark Connect takes, too; its type has a union.
    function = cast("UserDefinedTableFunction", udtf(WhoCould, useArrow=False))
    spark.udtf.register("who_could", function)


def register(spark: SparkSession) -> None:
    """Register the format ``kafka-log`` with a session, if kafkawire came as a zip and is not installed.

    Where it is installed, this replaces the source that PySpark has found with the same one.

    Example:
        ```python
        from pyspark.sql import SparkSession

        from kafkawire.spark import register

        spark = SparkSession.builder.getOrCreate()
        register(spark)
        spark.read.format("kafka-log").option("table", "topic").load("/var/lib/kafka/data").show()
        ```
    """
    try:
        spark.dataSource.register(KafkaLogSource)
    except AnalysisException as error:
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":  # PySpark 4.0 keeps the one that it has found
            raise


def read_history(
    spark: SparkSession, table: str, paths: str | Sequence[str], options: Mapping[str, str] = MappingProxyType({})
) -> DataFrame:
    """A history, of which many tasks read each large log; the source ``kafka-log`` reads a log in one task.

    The rows are the same, in another order. For ``offset_commits`` the tasks together work half as long again as one.
    ``lag_history`` has one task for all logs of a cluster. The logs are listed now, and read when the rows are used.

    Args:
        spark: the session.
        table: name of the history.
        paths: logs: files, folders, globs or URIs, which all workers reach.
        options: those of ``kafka-log``; ``maxPartitionBytes`` is about the size of the part of a task.

    Raises:
        OptionError: an option is unknown or malformed, or does not fit the table.
        UnknownTableError, UnknownColumnError: there is no such table or column.
        LogReadError: there is no such path or no log of the table there, or a file cannot be read.
        ImportError: pandas is missing, which PySpark wants for functions over Arrow.

    Example:
        ```python
        from pyspark.sql import SparkSession

        from kafkawire.spark import read_history

        spark = SparkSession.builder.getOrCreate()
        commits = read_history(spark, "offset_commits", "/var/lib/kafka/data")
        commits.groupBy("group_id").count().show()
        ```
    """
    listed = [paths] if isinstance(paths, str) else list(paths)
    given = {**options, "table": table}
    rows = divided_history(spark, make_reading({**given, "paths": json.dumps(listed)}))
    return spark.read.format("kafka-log").options(**given).load(listed) if rows is None else rows
