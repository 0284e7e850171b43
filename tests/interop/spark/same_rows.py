"""The rows of logs as Spark and as the Python functions read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from tests.made.segments import write_segment

from kafkawire.logs import read_table, table_named
from kafkawire.spark.options import source_options
from kafkawire.wire.batches import Record, encode_batch, read_batches

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


def damaged_log(folder: Path) -> Path:
    """A log with a batch whose CRC is wrong, a record of an unknown type, and a torn end."""
    log = folder / "__cluster_metadata-0"
    sound = min((LOGS / log.name).glob("*.log")).read_bytes()
    batches = list(read_batches(sound))
    content = bytearray(sound)
    content[batches[3].position + 65] ^= 1
    unknown = encode_batch([Record(value=b"\x01\xe7\x07\x00\x00")], base_offset=batches[-1].last_offset + 1)
    write_segment(log, bytes(content) + unknown + sound[:50])
    return log
