"""The data source ``kafka-log``."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.types import StructType

from kafkawire.logs import Accounts, FileKind
from kafkawire.spark.options import OptionError
from kafkawire.spark.planned_read import LogPartition, Reading, make_reading
from kafkawire.spark.pushdown import narrowed
from kafkawire.spark.streaming.history_reader import HistoryStreamReader
from kafkawire.spark.streaming.reader import KafkaLogStreamReader


class KafkaLogSource(DataSource):
    """Tables of Kafka's own logs: ``spark.read.format("kafka-log").option("table", "records").load(folder)``.

    Raises:
        OptionError: an option is missing, unknown or malformed.
        OwnDefinitionsError: the definitions in ``schemaDir`` cannot be used.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._reading = make_reading(options)

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "kafka-log"

    def schema(self) -> StructType:
        """The schema of the table.

        Raises:
            UnknownTableError, UnknownColumnError: there is no such table, or it has no such column.
            OptionError: an option does not fit the table.
        """
        return self._reading.schema()

    def reader(self, schema: StructType) -> KafkaLogReader:
        """The reader of a query.

        Raises:
            OptionError: the user gave another schema than the table has.
        """
        self._check(schema)
        if self._reading.options.state_path is not None:
            raise OptionError("it is for spark.readStream: spark.read returns all rows of a history", "statePath")
        pushdown = self._reading.options.pushdown and self._reading.table().splittable
        return FilteredKafkaLogReader(self._reading) if pushdown else KafkaLogReader(self._reading)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 Spark's name
        """The reader of a stream.

        Raises:
            OptionError: an option that the table needs is missing, or the user gave another schema than the table has.
        """
        self._check(schema)
        is_history = not self._reading.table().splittable
        return HistoryStreamReader(self._reading) if is_history else KafkaLogStreamReader(self._reading)

    def _check(self, schema: StructType) -> None:
        """Spark passes the schema of ``spark.read.schema``, which must be the table's own."""
        own = self.schema()
        if [(field.name, field.dataType) for field in schema] != [(field.name, field.dataType) for field in own]:
            raise OptionError(
                f"table {self._reading.options.table!r} has the schema {own.simpleString()}: "
                "leave out schema(...), and use the option 'columns' for some of the columns"
            )


class KafkaLogReader(DataSourceReader):
    """Reads a table once."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def partitions(self) -> list[LogPartition]:
        """The part of each task; the driver plans them by the lengths of batches.

        Raises:
            LogReadError: there is no such path, or a file cannot be read.
        """
        return self._reading.partitions()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition.

        Raises:
            LogReadError: mode FAILFAST: at bytes that cannot be decoded.
        """
        return self._reading.batches(partition, Accounts())


class FilteredKafkaLogReader(KafkaLogReader):
    """Reads less if the filters of the query allow it.

    Unless ``spark.sql.python.filterPushdown.enabled`` is set, Spark rejects queries on a reader with ``pushFilters``.
    So this is a separate class, for the option ``pushdown``.
    """

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:  # noqa: N802 Spark's name
        """Narrow the reading; Spark still applies all filters.

        Raises:
            LogReadError: there is no such path.
        """
        options = self._reading.options
        offsets = all(file.kind is FileKind.SEGMENT for file in self._reading.files())
        read = narrowed(options.read, filters, offsets=offsets, types=options.table == "records")
        self._reading = replace(self._reading, options=replace(options, read=read))
        return filters
