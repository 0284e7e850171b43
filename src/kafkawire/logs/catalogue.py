"""All tables by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafkawire.logs.errors import UnknownTableError
from kafkawire.logs.histories.tables import HISTORIES, history_table
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.registry import BUILT_IN, RecordRegistry
from kafkawire.logs.tables.batches_table import BatchesTable
from kafkawire.logs.tables.records_table import RecordsTable
from kafkawire.logs.tables.table import Table
from kafkawire.logs.tables.typed_tables import typed_table, typed_table_names

__all__ = ["table_named", "table_names"]

_OF_ALL_LOGS: Final[Mapping[str, Callable[[ReadOptions], Table]]] = {
    "batches": BatchesTable,
    "records": RecordsTable,
}


def table_names(registry: RecordRegistry = BUILT_IN) -> tuple[str, ...]:
    """The names of all tables: of all logs first, then the histories, then one for each record type."""
    return (*_OF_ALL_LOGS, *HISTORIES, *typed_table_names(registry))


def table_named(name: str, options: ReadOptions = DEFAULT_OPTIONS) -> Table:
    """A table, bound to options.

    Raises:
        UnknownTableError: there is none of the name.
        UnknownColumnError: the options choose a column that it does not have.
    """
    if made := _OF_ALL_LOGS.get(name):
        return made(options)
    if name in HISTORIES:
        return history_table(name, options)
    found = typed_table(name, options)
    if found is None:
        raise UnknownTableError(name, table_names(options.registry))
    return found
