"""Partitions of topics, their leadership and replicas, and the offsets in them."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

import msgspec


class TopicPartition(msgspec.Struct, frozen=True, order=True):
    """A partition of a topic.

    Attributes:
        topic: its name.
        partition: its number, from 0.
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class ElectionType(IntEnum):
    """Which replica is to lead; the number on the wire.

    Attributes:
        PREFERRED: the first of the replicas.
        UNCLEAN: any that is alive, at the price of records, if no replica in sync is left.
    """

    PREFERRED = 0
    UNCLEAN = 1


class OffsetSpec(IntEnum):
    """Which offset of a partition to return; the wire has it in the place of a time.

    Attributes:
        LATEST: that of the next record to be written (or, reading only what is committed, the last stable one).
        EARLIEST: that of the first record.
        MAX_TIMESTAMP: that of the record with the highest timestamp (KIP-734).
        EARLIEST_LOCAL: that of the first record on the broker's own disk (KIP-405).
        LATEST_TIERED: that of the last record in remote storage (KIP-1005).
        EARLIEST_PENDING_UPLOAD: that of the first record that is not in remote storage yet (KIP-1023).
    """

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


WantedOffset: TypeAlias = OffsetSpec | int
"""A spec, or a time in milliseconds since 1970 for the first record that is not older."""


class IsolationLevel(IntEnum):
    """Whether records of transactions that are still open count."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class ListedOffset(msgspec.Struct, frozen=True):
    """An offset of a partition.

    Attributes:
        offset: the offset; None if no record is as wanted.
        timestamp_ms: of the record in milliseconds since 1970; None where there is none.
        leader_epoch: that the record was written in; None if it is not known.
    """

    offset: int | None
    timestamp_ms: int | None
    leader_epoch: int | None


class OffsetRange(msgspec.Struct, frozen=True):
    """The offsets of the records that a partition has.

    Attributes:
        start: offset of the first record.
        end: offset of the next record to be written; with `IsolationLevel.READ_COMMITTED` the last stable offset, where
            the first transaction begins that is still open.
    """

    start: int
    end: int

    @property
    def count(self) -> int:
        """How many offsets it spans: the most records that there can be. Compaction and transactions leave gaps."""
        return max(0, self.end - self.start)


class PartitionReassignment(msgspec.Struct, frozen=True):
    """A partition that is being moved to other nodes.

    Attributes:
        replicas: nodes that hold it now.
        adding: those of them that it is being copied to.
        removing: those of them that it will leave.
    """

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
