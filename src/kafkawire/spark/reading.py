"""What the driver settles and every task needs: which table of which logs, with whose definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from kafkawire.logs import (
    LOCAL,
    Accounts,
    ArrowStore,
    FileStore,
    LogFile,
    Part,
    Table,
    find_log_files,
    plan,
    read_part,
    table_named,
)
from kafkawire.logs.generated_modules import GeneratedModules
from kafkawire.logs.planning import files_of_table
from kafkawire.logs.tables.table import reads
from kafkawire.spark.accounts import write_accounts
from kafkawire.spark.fitting import check_fit
from kafkawire.spark.options import OptionError, SourceOptions, source_options
from kafkawire.spark.schemas import as_spark_expects, expected_by_spark, spark_schema

__all__ = ["LogPartition", "Reading", "make_reading"]


class LogPartition(InputPartition):
    """What one task reads.

    Attributes:
        part: the batches.
        number: the task's number, by which its accounts are known.
    """

    def __init__(self, part: Part, number: int) -> None:
        self.part = part
        self.number = number
        super().__init__(number)


@dataclass(frozen=True)
class Reading:
    """A table to read; it travels to the workers.

    Attributes:
        options: what the user asks for; the registry in them knows the user's own definitions.
        modules: what decodes those, for processes that do not have their folder.
    """

    options: SourceOptions
    modules: GeneratedModules | None = None

    @property
    def store(self) -> FileStore:
        """Where the logs are."""
        return ArrowStore() if is_uri(self.options.paths[0]) else LOCAL

    def table(self) -> Table:
        """The table.

        Raises:
            UnknownTableError, UnknownColumnError: there is no such table, or it has no such column.
        """
        if self.modules is not None:
            self.modules.install()
        return table_named(self.options.table, self.options.read)

    def schema(self) -> StructType:
        """The table's schema, as Spark has it.

        Raises:
            UnknownTableError, UnknownColumnError: as ``table``.
            OptionError: an option does not fit the table.
        """
        table = self.table()
        check_fit(table, self.options.read)
        return spark_schema(table.schema)

    def files(self) -> tuple[LogFile, ...]:
        """The files that the paths lead to, of the logs that the table is about. There may be none so far.

        Raises:
            LogReadError: a path leads nowhere.
        """
        table = self.table()
        return tuple(file for file in self._found() if reads(table, file))

    def _found(self) -> tuple[LogFile, ...]:
        options = self.options
        return find_log_files(
            options.paths, store=self.store, path_glob_filter=options.path_glob_filter, recursive=options.recursive
        )

    def partitions(self) -> list[LogPartition]:
        """What each task shall read.

        Raises:
            LogReadError: a path leads nowhere or to no log of the table, or a file cannot be read.
        """
        options, table = self.options, self.table()
        parts = plan(
            table,
            files_of_table(table, self._found(), options.paths),
            max_partition_bytes=options.max_partition_bytes,
            store=self.store,
            options=options.read,
        )
        return [LogPartition(part, number) for number, part in enumerate(parts)]

    def batches(self, partition: InputPartition, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        """The rows of a partition.

        Args:
            partition: what to read.
            accounts: are booked as the rows are taken.

        Raises:
            LogReadError: mode FAILFAST: at what cannot be decoded.
        """
        if not isinstance(partition, LogPartition):
            return  # Spark makes a partition of its own where there are none
        table = self.table()
        expected = expected_by_spark(spark_schema(table.schema))
        for batch in read_part(table, partition.part, self.options.read, accounts, store=self.store):
            yield as_spark_expects(batch, expected)
        if self.options.accounts_path is not None:
            write_accounts(self.options.accounts_path, partition.number, accounts)


def make_reading(texts: Mapping[str, str]) -> Reading:
    """Settle on the driver what Spark's options mean.

    Raises:
        OptionError: an option is missing, unknown or malformed.
        OwnDefinitionsError: the user's own definitions cannot be used.
    """
    options = source_options(texts)
    if len({is_uri(path) for path in options.paths}) > 1:
        raise OptionError("paths of this machine and URIs cannot be read together: use file:// URIs for the former")
    if options.schema_dir is None:
        return Reading(options)
    from kafkawire.logs.own_definitions import own_definitions  # noqa: PLC0415 only the driver has the generator

    own = own_definitions(options.schema_dir)
    return Reading(replace(options, read=replace(options.read, registry=own.registry)), own.modules)


def is_uri(path: str) -> bool:
    """Whether a path is for Arrow's file systems to find."""
    return "://" in path
