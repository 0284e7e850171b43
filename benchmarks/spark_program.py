"""A process with a Spark session that reads a table for each line of its input, and prints the time.

``python -m benchmarks.spark_program MASTER``; each line of its input has a command, ``arrow``, ``few`` (columns),
``tuples`` or ``memory``, and a folder.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from benchmarks.spark import CHOSEN, FEW, JAVA_OPTIONS, MEMORY, READY, TABLE, TUPLES, UNIX_SOCKETS
from kafkawire.spark import KafkaLogSource, register
from kafkawire.spark.table_reader import KafkaLogReader

_PEAKS = "KAFKAWIRE_BENCHMARK_PEAKS"


class TupleSource(KafkaLogSource):
    """The same rows, passed to Spark as tuples, as by most Python data sources."""

    @classmethod
    def name(cls) -> str:
        return "kafka-log-tuples"

    def reader(self, schema: StructType) -> KafkaLogReader:
        return TupleReader(self._reading)


class TupleReader(KafkaLogReader):
    def read(self, partition: InputPartition) -> Iterator[tuple[object, ...]]:  # type: ignore[override]
        for batch in super().read(partition):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


class MeasuredSource(KafkaLogSource):
    """The same rows, from workers that record their peak memory."""

    @classmethod
    def name(cls) -> str:
        return "kafka-log-memory"

    def reader(self, schema: StructType) -> KafkaLogReader:
        return MeasuredReader(self._reading)


class MeasuredReader(KafkaLogReader):
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from super().read(partition)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        (Path(os.environ[_PEAKS]) / str(os.getpid())).write_text(str(peak))


def main(master: str) -> None:
    """Answer until the input ends."""
    with tempfile.TemporaryDirectory() as peaks:
        os.environ.update({"PYSPARK_PYTHON": sys.executable, _PEAKS: peaks})
        settings = {
            "spark.ui.enabled": "false",
            "spark.log.level": "ERROR",
            UNIX_SOCKETS: "true",
            "spark.driver.memory": "2g",
            "spark.driver.extraJavaOptions": " ".join(JAVA_OPTIONS),
        }
        builder = SparkSession.Builder().master(master).config("spark.driver.host", "127.0.0.1")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        register(spark)
        for source in (TupleSource, MeasuredSource):
            spark.dataSource.register(source)
        print(READY, flush=True)
        for line in sys.stdin:
            form, _, folder = line.strip().partition(" ")
            seconds = read(spark, form, folder)
            print(max(map(_number, Path(peaks).iterdir())) if form == MEMORY else seconds, flush=True)
        spark.stop()


def read(spark: SparkSession, form: str, folder: str) -> float:
    """Read the table and discard its rows; returns the seconds."""
    options = {"table": TABLE} | ({"columns": CHOSEN} if form == FEW else {})
    source = f"kafka-log-{form}" if form in {TUPLES, MEMORY} else "kafka-log"
    begin = time.perf_counter()
    spark.read.format(source).options(**options).load(folder).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin


def _number(file: Path) -> int:
    return int(file.read_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
