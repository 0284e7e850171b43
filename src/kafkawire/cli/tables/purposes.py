"""What each table holds, in a line."""

from __future__ import annotations

from typing import Final

__all__ = ["purpose_of"]

_PURPOSES: Final = {
    "batches": "the batches of any log: sizes, codecs, checksums, producers",
    "records": "the records of any log, each as Kafka's JSON",
    "acl_history": "ACLs, and from when to when each was there",
    "quota_history": "client quotas, and from when to when each was so",
    "config_history": "configurations that were set, and from when to when",
    "topic_history": "topics, when they were created and deleted",
    "offset_commits": "offsets that groups committed, transactions resolved",
    "group_history": "groups, their members, subscriptions and assignments",
}


def purpose_of(table: str) -> str:
    """What a table holds."""
    return _PURPOSES.get(table, f"the {table.replace('_', ' ')} records, a column for each field")
