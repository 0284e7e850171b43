"""``topic_history``: topics, one row from each creation to the deletion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import pyarrow as pa

from kafkawire.layout import Uuid
from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.intervals import Interval, Ledger, Moment
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.times import TIMESTAMP
from kafkawire.protocol import PartitionRecord, RemoveTopicRecord, TopicRecord
from kafkawire.wire import Message

_MOST_PARTITIONS: Final = (1 << 31) - 1


class _TopicReducer:
    """Adds and removes topics by their id, and counts their partitions.

    Args:
        as_of: milliseconds since the epoch; partitions added later are not counted. None for all times.
    """

    RECORDS: ClassVar[frozenset[str]] = frozenset({"TopicRecord", "PartitionRecord", "RemoveTopicRecord"})

    def __init__(self, as_of: int | None) -> None:
        self.ledger: Ledger[bytes] = Ledger(renews=False)
        self._as_of = as_of

    def apply(self, record: Message, at: Moment) -> None:
        """See ``StateReducer``."""
        match record:
            case TopicRecord():
                self.ledger.put(bytes(record.topic_id), (record.name, 0), at)
            case PartitionRecord():
                self._count(record, at)
            case RemoveTopicRecord():
                self.ledger.drop(record.topic_id, at)

    def _count(self, record: PartitionRecord, at: Moment) -> None:
        """Partition ids have no gaps, so the highest gives the number of partitions."""
        match self.ledger.values(record.topic_id):
            case (name, int(partitions)) if self._counts(at) and partitions <= record.partition_id:
                self.ledger.put(record.topic_id, (name, min(record.partition_id + 1, _MOST_PARTITIONS)), at)

    def _counts(self, at: Moment) -> bool:
        return self._as_of is None or at.time is None or at.time <= self._as_of


def _cells(intervals: Sequence[Interval[bytes]]) -> Columns:
    names, partitions = value_columns([interval.values for interval in intervals], 2)
    return {
        "topic_id": [str(Uuid(interval.key)) for interval in intervals],
        "name": names,
        "partitions": partitions,
        "created_at": [interval.valid_from for interval in intervals],
        "deleted_at": [interval.valid_to for interval in intervals],
    }


HISTORY: Final = MetadataHistory(
    "topic_history",
    "topics, when they were created and deleted",
    {
        "topic_id": pa.string(),
        "name": pa.string(),
        "partitions": pa.int32(),
        "created_at": TIMESTAMP,
        "deleted_at": TIMESTAMP,
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    },
    _TopicReducer,
    lambda intervals, _: _cells(intervals),
    keys=("name",),
    details=("topic_id", "created_at", "deleted_at"),
)
