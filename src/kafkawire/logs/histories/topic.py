"""``topic_history``: topics, one row from each creation to the deletion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger, LedgerRules
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.times import TIMESTAMP

_Record: TypeAlias = (
    tuple[Literal["TopicRecord"], str, str]
    | tuple[Literal["PartitionRecord"], str, int]
    | tuple[Literal["RemoveTopicRecord"], str]
)

_MOST_PARTITIONS: Final = (1 << 31) - 1


class _TopicReducer:
    """Adds and removes topics by their id, and counts their partitions.

    Args:
        as_of: milliseconds since the epoch; partitions added later are not counted. None for all times.
    """

    RECORDS: ClassVar[Needed] = {
        "TopicRecord": ("topic_id", "name"),
        "PartitionRecord": ("topic_id", "partition_id"),
        "RemoveTopicRecord": ("topic_id",),
    }

    OWNERS: ClassVar[Owners] = {
        "TopicRecord": "topic_id",
        "PartitionRecord": "topic_id",
        "RemoveTopicRecord": "topic_id",
    }

    def __init__(self, as_of: int | None) -> None:
        self.ledger: Ledger[str] = Ledger(LedgerRules(renews=False))
        self._as_of = as_of

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "TopicRecord", topic_id, name:
                    self.ledger.put(topic_id, (name, 0), at)
                case "PartitionRecord", topic_id, partition:
                    self._count(topic_id, partition, at)
                case "RemoveTopicRecord", topic_id:
                    self.ledger.drop(topic_id, at)

    def _count(self, topic_id: str, partition: int, at: Moment) -> None:
        """Partition ids have no gaps, so the highest gives the number of partitions."""
        match self.ledger.values(topic_id):
            case (name, int(partitions)) if self._counts(at) and partitions <= partition:
                self.ledger.put(topic_id, (name, min(partition + 1, _MOST_PARTITIONS)), at)

    def _counts(self, at: Moment) -> bool:
        time, _ = at
        return self._as_of is None or time is None or time <= self._as_of


def _cells(intervals: IntervalColumns[str]) -> Columns:
    names, partitions = value_columns(intervals.values, 2)
    return {
        "topic_id": intervals.keys,
        "name": names,
        "partitions": partitions,
        "created_at": intervals.valid_from,
        "deleted_at": intervals.valid_to,
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
    },
    _TopicReducer,
    lambda intervals, _: _cells(intervals),
    keys=("name",),
    details=("topic_id", "created_at", "deleted_at"),
)
