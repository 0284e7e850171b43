"""A read of a table that the driver plans and the tasks execute."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
from pyspark.sql.datasource import InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from kafkawire.logs import Accounts, FileStore, LogFile, Part, Table, plan, read_part, table_named
from kafkawire.logs.planning import FoundLogs, find_logs, store_of
from kafkawire.logs.table_changes import continued_table
from kafkawire.spark.options import OptionError, SourceOptions, named_as_in_spark, source_options
from kafkawire.spark.releases import STREAMS, lacking
from kafkawire.spark.task_accounts import write_accounts


class LogPartition(InputPartition):
    """What one task reads.

    Attributes:
        part: the batches.
        number: of the task; it is in the name of the accounts file of the task.
    """

    def __init__(self, part: Part, number: int) -> None:
        self.part = part
        self.number = number
        super().__init__(number)


@dataclass(frozen=True)
class Reading:
    """A table to read; it is pickled to the workers.

    Attributes:
        options: those of the user.
    """

    options: SourceOptions

    @property
    def store(self) -> FileStore:
        """Where the logs are."""
        return store_of(self.options.paths)

    def table(self) -> Table:
        """The table.

        Raises:
            UnknownTableError, UnknownColumnError: there is no such table, or it has no such column.
            OptionError: an option does not fit the table.
        """
        with named_as_in_spark():
            make = table_named if self.options.state_path is None else continued_table
            return make(self.options.table, self.options.read)

    def schema(self) -> StructType:
        """The table's schema, as Spark has it.

        Raises:
            UnknownTableError, UnknownColumnError: as ``table``.
            OptionError: as ``table``, or the column of corrupt records has the name of another.
        """
        table = self.table()
        names = [name.lower() for name in table.schema.names]  # Spark ignores case
        corrupt = self.options.read.corrupt_record_column.lower()
        if names.count(corrupt) > 1:
            reason = f"table {table.name!r} has a column {corrupt!r}: choose another name"
            raise OptionError(reason, "columnNameOfCorruptRecord")
        return from_arrow_schema(table.schema)

    def found(self) -> FoundLogs:
        """All files that the paths lead to.

        Raises:
            LogReadError: there is no such path.
        """
        options = self.options
        return find_logs(options.paths, path_glob_filter=options.path_glob_filter, recursive=options.recursive)

    def files(self) -> tuple[LogFile, ...]:
        """The files that the table reads; so far there may be none.

        Raises:
            LogReadError: there is no such path.
        """
        return self.found().of_table(self.table()).files

    def partitions(self) -> list[LogPartition]:
        """What each task reads.

        Raises:
            LogReadError: there is no such path or no log of the table there, or a file cannot be read.
        """
        options, table = self.options, self.table()
        logs = self.found().needed_by(table)
        parts = plan(
            table,
            logs.files,
            max_partition_bytes=options.max_partition_bytes,
            store=logs.store,
            options=options.read,
        )
        return [LogPartition(part, number) for number, part in enumerate(parts)]

    def batches(self, partition: InputPartition, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        """The rows of a partition.

        Args:
            partition: what to read.
            accounts: receives the counts while the rows are read.

        Raises:
            LogReadError: mode FAILFAST: at bytes that cannot be decoded.
        """
        if not isinstance(partition, LogPartition):
            return  # Spark makes a partition of its own where there are none
        keep_modules()
        for batch in read_part(self.table(), partition.part, self.options.read, accounts, store=self.store):
            yield named_as_spark_expects(batch)
        if self.options.accounts_path is not None:
            write_accounts(self.options.accounts_path, partition.number, accounts)


@cache
def keep_modules() -> None:
    """Let the collector pass over what this worker has imported, once: PySpark runs it after each task, for 20 ms."""
    gc.collect()
    gc.freeze()


def make_reading(texts: Mapping[str, str]) -> Reading:
    """The reading that Spark's options describe; the driver makes it.

    Raises:
        OptionError: an option is missing, unknown or malformed.
        OwnDefinitionsError: the user's own definitions cannot be used.
    """
    options = source_options(texts)
    store_of(options.paths)
    return Reading(options)


def named_as_spark_expects(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with Spark's own names for the elements of lists."""
    expected = _expected_by_spark(batch.schema)
    return batch if batch.schema.equals(expected, check_metadata=True) else batch.cast(expected)


@cache
def _expected_by_spark(schema: pa.Schema) -> pa.Schema:
    return expected_by_spark(from_arrow_schema(schema))


def expected_by_spark(schema: StructType) -> pa.Schema:
    """The Arrow schema that Spark expects for the schema that a data source declares."""
    if lacking(STREAMS):  # older releases have times in UTC, and lack the argument
        return to_arrow_schema(schema)
    return to_arrow_schema(schema, timezone="UTC")
