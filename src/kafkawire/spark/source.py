"""The data source ``kafka-log``."""

from __future__ import annotations

from collections.abc import MutableMapping

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from kafkawire.spark.options import OptionError
from kafkawire.spark.planned_read import make_reading
from kafkawire.spark.releases import PUSHDOWN, STREAMS, lacking
from kafkawire.spark.streaming.unsupported import UnsupportedStreamReader
from kafkawire.spark.table_reader import KafkaLogReader


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
            OptionError: the user gave another schema than the table has, or the option ``pushdown`` with PySpark 4.0.
        """
        self._check(schema)
        if self._reading.options.state_path is not None:
            raise OptionError("it is for spark.readStream: spark.read returns all rows", "statePath")
        if not self._reading.options.pushdown:
            return KafkaLogReader(self._reading)
        if too_old := lacking(PUSHDOWN):
            raise OptionError(too_old, "pushdown")
        # An older PySpark lacks what this module imports.
        from kafkawire.spark.pushdown import FilteredKafkaLogReader  # noqa: PLC0415

        return FilteredKafkaLogReader(self._reading)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 Spark's name
        """The reader of a stream.

        Raises:
            OptionError: an option that the table needs is missing, or the user gave another schema than the table has.
        """
        if too_old := lacking(STREAMS):
            return UnsupportedStreamReader(f"a stream of kafka-log {too_old}; spark.read works with this release")
        self._check(schema)
        # An older PySpark lacks what these modules import.
        from kafkawire.spark.streaming.changes_reader import ChangesStreamReader  # noqa: PLC0415
        from kafkawire.spark.streaming.reader import KafkaLogStreamReader  # noqa: PLC0415

        is_split = self._reading.table().splittable
        return KafkaLogStreamReader(self._reading) if is_split else ChangesStreamReader(self._reading)

    def _check(self, schema: StructType) -> None:
        """Spark passes the schema of ``spark.read.schema``, which must be the table's own."""
        own = self.schema()
        if [(field.name, field.dataType) for field in schema] != [(field.name, field.dataType) for field in own]:
            raise OptionError(
                f"table {self._reading.options.table!r} has the schema {own.simpleString()}: "
                "leave out schema(...), and use the option 'columns' for some of the columns"
            )
