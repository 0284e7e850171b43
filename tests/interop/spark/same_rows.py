"""What Spark reads of logs, beside what the plain functions read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafkawire.logs import read_table, table_named
from kafkawire.spark.options import source_options

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
"""Logs that Apache Kafka 4.3.1 wrote."""


def read_with_spark(spark: SparkSession, table: str, paths: Sequence[Path], options: Mapping[str, str]) -> DataFrame:
    """A table as Spark reads it."""
    reader = spark.read.format("kafka-log").option("table", table).options(**options)
    return reader.load([str(path) for path in paths])


def plain_rows(table: str, paths: Sequence[Path], options: Mapping[str, str] | None = None) -> pa.Table:
    """A table as it is read without Spark, with the same options."""
    texts = {"table": table, "path": str(paths[0]), **(options or {})}
    read = source_options(texts).read
    rows = read_table(table, [str(path) for path in paths], read)
    return pa.Table.from_batches(rows, table_named(table, read).schema)
