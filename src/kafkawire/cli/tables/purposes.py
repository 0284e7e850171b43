"""A line about each table."""

from __future__ import annotations

from typing import Final

__all__ = ["purpose_of"]

_PURPOSES: Final = {
    "batches": "the batches of any log: sizes, codecs, checksums, producers",
    "records": "the records of any log, each as Kafka's JSON",
    "acl_history": "ACLs, with the interval in which each existed",
    "quota_history": "client quotas, with the interval in which each was valid",
    "config_history": "configurations that were set, with the interval of each value",
    "topic_history": "topics, when they were created and deleted",
    "offset_commits": "offsets that groups committed, transactions resolved",
    "group_history": "groups, their members, subscriptions and assignments",
}


def purpose_of(table: str) -> str:
    """The contents of a table in a line."""
    return _PURPOSES.get(table, f"the {table.replace('_', ' ')} records, a column for each field")
