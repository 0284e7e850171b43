"""The values of options that only running code knows: tables, their columns, record types, chapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkawire.cli.demo.chapters import CHAPTERS
from kafkawire.logs import RecordRegistry, table_named, table_names
from kafkawire.logs.tables.record_types import record_type_names


def value_lists() -> Mapping[str, Sequence[str]]:
    """Each list by the name that ``Parameter.value_list`` has; the columns of a table as ``columns/topic``."""
    tables = table_names()
    columns = {f"columns/{name}": table_named(name).schema.names for name in tables}
    return {
        "tables": tables,
        "record_types": record_type_names(RecordRegistry()),
        "chapters": [each.name for each in CHAPTERS],
        **columns,
    }
