"""All tables by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from kafkawire.logs.alerts.table import AlertsTable
from kafkawire.logs.errors import UnknownTableError
from kafkawire.logs.history_tables import HISTORIES, history_table
from kafkawire.logs.option_records import HISTORY_TABLES, OptionError
from kafkawire.logs.options import DEFAULT_OPTIONS, READ_OPTIONS, ReadOptions
from kafkawire.logs.registry import BUILT_IN, RecordRegistry
from kafkawire.logs.tables.batches_table import BatchesTable
from kafkawire.logs.tables.record_types import record_type_names
from kafkawire.logs.tables.records_table import RecordsTable
from kafkawire.logs.tables.table import Table
from kafkawire.logs.tables.typed_tables import typed_table, typed_table_names
from kafkawire.near_names import did_you_mean

_WITHOUT_NAME: Final = re.compile(r"UNKNOWN\(-?\d+\)")
_OTHERS: Final[Mapping[str, Callable[[ReadOptions], Table]]] = {
    "batches": BatchesTable,
    "records": RecordsTable,
    "alerts": AlertsTable,
}


def table_names(registry: RecordRegistry = BUILT_IN) -> tuple[str, ...]:
    """The names of all tables: those of any log, the alerts, the histories, and one for each record type.

    Example:
        ```python
        from kafkawire.logs import table_names

        print(", ".join(table_names()))
        ```
    """
    return (*_OTHERS, *HISTORIES, *typed_table_names(registry))


def table_named(name: str, options: ReadOptions = DEFAULT_OPTIONS) -> Table:
    """A table, bound to options.

    Args:
        name: one of ``table_names()``; the case of letters does not count.
        options: what to read, and how.

    Raises:
        UnknownTableError: there is none of the name.
        UnknownColumnError: the options choose a column that it does not have.
        OptionError: an option does not fit the table, or the options choose a record type that does not exist.

    Example:
        ```python
        from kafkawire.logs import table_named

        for column in table_named("records").schema:
            print(column.name, column.type)
        ```
    """
    asked, name = name, name.lower()
    if made := _OTHERS.get(name):
        table = made(options)
    elif name in HISTORIES:
        table = history_table(name, options)
    else:
        found = typed_table(name, options)
        if found is None:
            raise UnknownTableError(asked, table_names(options.registry))
        table = found
    _check_fit(name, options)
    return table


def _check_fit(table: str, options: ReadOptions) -> None:
    """Refuse options that the table cannot apply: its rows would not be those that the user wants."""
    for option in READ_OPTIONS:
        if option.only_for is None or getattr(options, option.name) == option.default:
            continue
        if option.only_for == HISTORY_TABLES and table not in HISTORIES:
            rows = "alert" if table == AlertsTable.name else "record"
            raise OptionError(f"it needs a history; table {table!r} has a row for each {rows}", option.spelling)
        if option.only_for not in {HISTORY_TABLES, table}:
            raise OptionError(f"it is for table {option.only_for!r}, not for {table!r}", option.spelling)
    for name in options.record_types or ():
        known = record_type_names(options.registry)
        if name not in known and _WITHOUT_NAME.fullmatch(name) is None:
            meant = did_you_mean(name, known) or "column record_type of table records has the names"
            raise OptionError(f"there is no record type {name!r}; {meant}", "record_types")
