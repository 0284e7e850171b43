"""Options that say nothing of the table that is asked for: an answer that passes them over would be a wrong one."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.logs import ReadOptions, Table
from kafkawire.logs.errors import near_names
from kafkawire.logs.histories.tables import HISTORIES
from kafkawire.logs.tables.record_types import record_type_names
from kafkawire.logs.tables.records_table import RecordsTable
from kafkawire.spark.options import OptionError

__all__ = ["check_fit"]

_WITHOUT_NAME: Final = re.compile(r"UNKNOWN\(-?\d+\)")


def check_fit(table: Table, options: ReadOptions) -> None:
    """Refuse options that do not fit a table.

    Raises:
        OptionError: the table is no history and has no state as of a time, it does not choose from record types or
            there is none of a name, or the column of corrupt records has the name of another.
    """
    if options.as_of is not None and table.name not in HISTORIES:
        raise OptionError(f"option 'asOf' needs a history: table {table.name!r} has a row for each record")
    for name in options.record_types or ():
        _check_record_type(name, table, options)
    names = [name.lower() for name in table.schema.names]  # Spark does not tell capitals from small letters
    corrupt = options.corrupt_record_column.lower()
    if names.count(corrupt) > 1:
        raise OptionError(f"table {table.name!r} has a column {corrupt!r}: name another for columnNameOfCorruptRecord")


def _check_record_type(name: str, table: Table, options: ReadOptions) -> None:
    if table.name != RecordsTable.name:
        raise OptionError(f"option 'recordTypes' chooses from table 'records': table {table.name!r} has its own")
    known = record_type_names(options.registry)
    if name not in known and _WITHOUT_NAME.fullmatch(name) is None:
        near = near_names(name, known)
        meant = f": did you mean {near}?" if near else ", named as in column record_type"
        raise OptionError(f"option 'recordTypes': there is no record type {name!r}{meant}")
