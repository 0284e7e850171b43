"""A line about each table."""

from __future__ import annotations

from typing import Final

from kafkawire.logs.histories.tables import HISTORIES

__all__ = ["purpose_of"]

_PURPOSES: Final = {
    "batches": "the batches of any log: sizes, codecs, checksums, producers",
    "records": "the records of any log, each as Kafka's JSON",
    **{name: history.purpose for name, history in HISTORIES.items()},
}


def purpose_of(table: str) -> str:
    """The contents of a table in a line."""
    return _PURPOSES.get(table, f"the {table.replace('_', ' ')} records, a column for each field")
