"""The records of one partition, in memory."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.partitions.producers import Appended, ProducerHistory
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch, TimestampType, decode_records
from kafkawire.wire.batches.batch import NO_PRODUCER_ID
from kafkawire.wire.message import Struct

OVERHEAD: Final = 256
"""About the bytes of memory that a batch takes besides its content."""


class FoundOffset(Struct, frozen=True, gc=False):
    """A record that was found by its timestamp.

    Attributes:
        offset: of the record.
        timestamp: of the record, milliseconds.
    """

    offset: int
    timestamp: int


class PartitionLog:
    """The batches of a partition, as they were checked, with their offsets and leader epochs.

    Attributes:
        end_offset: the offset of the next record.
        size: about the bytes of memory in use.
    """

    def __init__(self) -> None:
        self.end_offset = 0
        self.size = 0
        self._batches: list[RecordBatch] = []
        self._producers = ProducerHistory()
        self._waiting: set[asyncio.Future[None]] = set()

    def append(self, batch: RecordBatch, leader_epoch: int) -> Appended:
        """Append a batch, unless it is a duplicate.

        Raises:
            SequenceError: batches of its producer are missing before it.
        """
        is_idempotent = batch.producer_id != NO_PRODUCER_ID
        if is_idempotent:
            original = self._producers.original(batch)
            if original is not None:
                return original
        stored = replace(batch, base_offset=self.end_offset, partition_leader_epoch=leader_epoch, position=0)
        self._batches.append(stored)
        self.end_offset = stored.last_offset + 1
        self.size += stored.size + OVERHEAD
        if is_idempotent:
            self._producers.remember(stored)
        self._wake()
        return Appended(stored.base_offset)

    def read(self, offset: int, most: int, *, at_least_one: bool) -> bytes:
        """The batches from an offset on; the last one is truncated at the limit.

        Args:
            offset: from 0 to ``end_offset``.
            most: the most bytes.
            at_least_one: whether the first batch is read completely even if it is larger; else nothing is read then.
        """
        pieces: list[bytes] = []
        size = 0
        for batch in self._from(offset):
            if not pieces:
                if batch.size > most and not at_least_one:
                    break
                most = max(most, batch.size)
            elif size >= most:
                break
            pieces.append(batch.to_bytes())
            size += batch.size
        return b"".join(pieces)[:most]

    def first_since(self, timestamp: int) -> FoundOffset | None:
        """The first record with at least this timestamp, in milliseconds; None if there is none."""
        for batch in self._batches:
            if batch.max_timestamp >= timestamp:
                for record in decode_records(batch):
                    if record.timestamp >= timestamp:
                        return FoundOffset(record.offset, record.timestamp)
        return None

    def newest(self) -> FoundOffset | None:
        """The first of the records with the highest timestamp; None if there are no records."""
        newest = max(self._batches, key=attrgetter("max_timestamp"), default=None)
        if newest is None:
            return None
        if newest.timestamp_type is TimestampType.LOG_APPEND_TIME:
            return FoundOffset(newest.last_offset, newest.max_timestamp)
        records = (record for record in decode_records(newest) if record.timestamp == newest.max_timestamp)
        return next((FoundOffset(record.offset, record.timestamp) for record in records), None)

    def wait(self, waiter: asyncio.Future[None]) -> None:
        """Complete a future when records are appended or the partition is deleted."""
        self._waiting.add(waiter)

    def forget(self, waiter: asyncio.Future[None]) -> None:
        """Do not complete a future any more."""
        self._waiting.discard(waiter)

    def close(self) -> None:
        """Complete all waiting futures, because the partition is deleted."""
        self._wake()

    def _from(self, offset: int) -> Iterator[RecordBatch]:
        if offset < self.end_offset:
            first = bisect_right(self._batches, offset, key=attrgetter("base_offset")) - 1
            for index in range(first, len(self._batches)):
                yield self._batches[index]

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()


def leader_epoch_error(requested: int, epoch: int) -> ErrorCode:
    """The error for the leader epoch in a request; NONE if it is the current one, or -1 for none (KIP-320).

    Args:
        requested: the leader epoch in the request.
        epoch: the partition's.
    """
    if requested in {-1, epoch}:
        return ErrorCode.NONE
    return ErrorCode.FENCED_LEADER_EPOCH if requested < epoch else ErrorCode.UNKNOWN_LEADER_EPOCH
