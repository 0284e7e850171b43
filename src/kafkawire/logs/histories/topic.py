"""``topic_history``: which topics there were, one row for each life of a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import pyarrow as pa

from kafkawire.layout import Uuid
from kafkawire.logs.histories.columns import TIMESTAMP, Columns, schema_of, texts_of_uuids, value_columns
from kafkawire.logs.histories.intervals import Interval, Ledger, Moment
from kafkawire.protocol import PartitionRecord, RemoveTopicRecord, TopicRecord
from kafkawire.wire import Message

__all__ = ["TOPIC_SCHEMA", "TopicReducer", "topic_columns"]

_MOST_PARTITIONS: Final = (1 << 31) - 1

TOPIC_SCHEMA = schema_of(
    {
        "topic_id": pa.string(),
        "name": pa.string(),
        "partitions": pa.int32(),
        "created_at": TIMESTAMP,
        "deleted_at": TIMESTAMP,
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    }
)


class TopicReducer:
    """Adds and removes topics by their id, and counts their partitions.

    Args:
        as_of: milliseconds since the epoch; partitions that were added later do not count.
    """

    RECORDS: ClassVar[frozenset[str]] = frozenset({"TopicRecord", "PartitionRecord", "RemoveTopicRecord"})

    def __init__(self, as_of: int | None = None) -> None:
        self.ledger: Ledger[Uuid] = Ledger(renews=False)
        self._as_of = as_of

    def apply(self, record: Message, at: Moment) -> None:
        """A topic is created, has another partition, or is deleted."""
        match record:
            case TopicRecord():
                self.ledger.put(record.topic_id, (record.name, 0), at)
            case PartitionRecord():
                self._count(record, at)
            case RemoveTopicRecord():
                self.ledger.drop(record.topic_id, at)

    def _count(self, record: PartitionRecord, at: Moment) -> None:
        """Ids of partitions are numbered without gaps, so the highest tells how many there are."""
        match self.ledger.values(record.topic_id):
            case (name, int(partitions)) if self._counts(at) and partitions <= record.partition_id:
                self.ledger.put(record.topic_id, (name, min(record.partition_id + 1, _MOST_PARTITIONS)), at)

    def _counts(self, at: Moment) -> bool:
        return self._as_of is None or at.time is None or at.time <= self._as_of


def topic_columns(intervals: Sequence[Interval[Uuid]]) -> Columns:
    """What is the history's own in the columns of some intervals."""
    names, partitions = value_columns(intervals, 2)
    return {
        "topic_id": texts_of_uuids(interval.key for interval in intervals),
        "name": names,
        "partitions": partitions,
        "created_at": [interval.valid_from for interval in intervals],
        "deleted_at": [interval.valid_to for interval in intervals],
    }
