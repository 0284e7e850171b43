"""The reader of a query."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafkawire.logs import Accounts
from kafkawire.spark.planned_read import LogPartition, Reading


class KafkaLogReader(DataSourceReader):
    """Reads a table once."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def partitions(self) -> list[LogPartition]:
        """The part of each task; the driver plans them by the lengths of batches.

        Raises:
            LogReadError: there is no such path, or a file cannot be read.
        """
        return self.reading.partitions()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition.

        Raises:
            LogReadError: mode FAILFAST: at bytes that cannot be decoded.
        """
        return self.reading.batches(partition, Accounts())
