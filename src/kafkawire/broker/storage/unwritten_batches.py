"""Batches of a log that wait to be written: which records share one, and which are in a segment of their own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from kafkawire.wire.batches import Record, encode_batch
from kafkawire.wire.batches.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE

KeyValue: TypeAlias = tuple[bytes | None, bytes | None]
"""Key and value of a record."""


class Producer(NamedTuple):
    """The producer whose transaction records are in.

    Attributes:
        producer_id: its id.
        epoch: its epoch.
    """

    producer_id: int
    epoch: int


_LARGEST_SHARED_BATCH: Final = 8 * 1024 * 1024
_RECORD_OVERHEAD: Final = 24
_NO_PRODUCER: Final = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


def size_in_batch(records: Sequence[KeyValue]) -> int:
    """About the bytes of records in a batch."""
    return sum(_RECORD_OVERHEAD + len(key or b"") + len(value or b"") for key, value in records)


class Kind(NamedTuple):
    """What the records of a batch have in common.

    Attributes:
        leader_epoch: of the leader that appends them.
        control: whether they are control records.
        producer: whose transaction they are in; None outside of one.
    """

    leader_epoch: int
    control: bool = False
    producer: Producer | None = None


@dataclass(slots=True)
class UnwrittenBatch:
    """Records of one batch: they are written together or not at all, and have one append time (KIP-595).

    Attributes:
        base_offset: of the first record.
        timestamp: in milliseconds since the epoch.
        kind: of the batch.
        records: keys and values.
        size: about that of the records, in bytes.
        sealed: whether no more records join them.
    """

    base_offset: int
    timestamp: int
    kind: Kind
    records: list[KeyValue] = field(default_factory=list)
    size: int = 0
    sealed: bool = False

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + len(self.records)

    def takes(self, size: int, kind: Kind) -> bool:
        """Whether further records of that size can join them. Each marker of a transaction is a batch of its own."""
        is_marker = kind.control and kind.producer is not None
        return not self.sealed and not is_marker and kind == self.kind and self.size + size <= _LARGEST_SHARED_BATCH

    def encoded(self) -> bytes:
        """The batch."""
        leader_epoch, control, producer = self.kind
        records = [Record(timestamp=self.timestamp, key=key, value=value) for key, value in self.records]
        producer_id, epoch = producer or _NO_PRODUCER
        return encode_batch(
            records,
            base_offset=self.base_offset,
            partition_leader_epoch=leader_epoch,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=NO_SEQUENCE if producer is None or control else 0,  # as Kafka's coordinators do
            transactional=producer is not None,
            control=control,
        )


@dataclass(slots=True)
class UnwrittenSegment:
    """Batches of a new segment, which are there after a crash together or not at all.

    Attributes:
        base_offset: of the segment.
        end_offset: the offset after the last record.
        timestamp: in milliseconds since the epoch.
        leader_epoch: of the leader that appends them.
        batches: the records of each, and whose transaction they are in; read once.
    """

    base_offset: int
    end_offset: int
    timestamp: int
    leader_epoch: int
    batches: Iterable[tuple[Producer | None, Sequence[KeyValue]]]

    def encoded(self) -> Iterator[bytes]:
        """The batches."""
        offset = self.base_offset
        for producer, records in self.batches:
            batch = UnwrittenBatch(offset, self.timestamp, Kind(self.leader_epoch, producer=producer), [*records])
            yield batch.encoded()
            offset = batch.end_offset


class UnwrittenBatches:
    """What waits to be written, in order."""

    def __init__(self) -> None:
        self._waiting: deque[UnwrittenBatch | UnwrittenSegment] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, records: Sequence[KeyValue], base_offset: int, timestamp: int, kind: Kind) -> UnwrittenBatch:
        """Add records to the last batch, or begin another one, which is returned."""
        size = size_in_batch(records)
        last = self._waiting[-1] if self._waiting else None
        if not isinstance(last, UnwrittenBatch) or not last.takes(size, kind):
            last = UnwrittenBatch(base_offset, timestamp, kind)
            self._waiting.append(last)
        last.records += records
        last.size += size
        return last

    def add_segment(
        self,
        batches: Iterable[tuple[Producer | None, Sequence[KeyValue]]],
        count: int,
        base_offset: int,
        timestamp: int,
        leader_epoch: int,
    ) -> UnwrittenSegment:
        """Add a segment with the records of some batches, and whose transaction each is in; how many they are."""
        segment = UnwrittenSegment(base_offset, base_offset + count, timestamp, leader_epoch, batches)
        self._waiting.append(segment)
        return segment

    def seal(self) -> None:
        """End the last batch: what is added next begins another one."""
        if self._waiting and isinstance(last := self._waiting[-1], UnwrittenBatch):
            last.sealed = True

    def take(self) -> UnwrittenBatch | UnwrittenSegment:
        """The first, which waits no longer.

        Raises:
            IndexError: there is none.
        """
        return self._waiting.popleft()

    def clear(self) -> None:
        """Nothing is written any more."""
        self._waiting.clear()
