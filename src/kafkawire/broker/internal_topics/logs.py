"""The logs of all partitions of an internal topic, in memory; a subclass has them in a data directory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.internal_topics.entries import Change, RecordedState, TopicFormat, Written
from kafkawire.broker.internal_topics.topic import partition_of
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.transaction_markers import Marker
from kafkawire.broker.storage.unwritten_batches import KeyValue, Kind, Producer, UnwrittenBatch
from kafkawire.wire.batches import RecordBatch, read_batches
from kafkawire.wire.batches.batch import NO_PARTITION_LEADER_EPOCH

_ENTRIES_AT_ONCE: Final = 1_000


class InternalLogs:
    """Append-only logs of a state, one for each partition of its topic. Clients read them in the store.

    Args:
        records: how the state is in the records of the topic.
        store: has the logs in memory.

    Attributes:
        unregistered: whether there are records, but no topic.
    """

    unregistered = False

    def __init__(self, records: TopicFormat, store: RecordStore) -> None:
        self._format = records
        self._store = store
        self._topic: Topic | None = None

    @property
    def size(self) -> int:
        """How many records the logs have, superseded ones included."""
        logs = {} if self._topic is None else self._store.logs_of(self._topic.topic_id)
        return sum(log.end_offset - log.segments[0].base_offset for log in logs.values() if log.segments)

    async def lead(self, topic: Topic) -> None:
        """Prepare the existing logs for ``append``; the topic must be durable.

        Raises:
            StorageError: a file of leader epochs is damaged.
            OSError: it cannot be written.
        """
        self._topic = topic

    def is_open(self, topic: Topic, partitions: Collection[int]) -> bool:
        """Whether logs are prepared for ``append``."""
        return self._topic is not None and self._topic.topic_id == topic.topic_id

    async def open(self, topic: Topic, partitions: Collection[int]) -> None:
        """Prepare logs for ``append``; the topic must be durable.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """
        self._topic = topic

    def append(
        self, partition: int, changes: Sequence[Change], timestamp: int, producer: Producer | None = None
    ) -> None:
        """Append changes to an open log, all in one batch; they are durable later.

        Args:
            partition: the partition of the log.
            changes: the changes.
            timestamp: milliseconds since the epoch.
            producer: whose transaction they are in; None outside of one.

        Raises:
            EncodeError: a change cannot be encoded; none is appended then.
            StorageError: the log has failed before.
        """
        self._append_records(partition, [self._format.record(change) for change in changes], timestamp, producer)

    def append_marker(
        self, partition: int, producer: Producer, timestamp: int, *, committed: bool, coordinator_epoch: int
    ) -> None:
        """Append the marker that ends a transaction to an open log; it is durable later.

        Raises:
            StorageError: the log has failed before.
        """
        marker = Marker(*producer, committed, coordinator_epoch, timestamp)
        self._append(partition, marker.batch(log_append_time=False), timestamp)

    async def durable(self) -> None:
        """Wait until every appended change would survive a crash.

        Raises:
            StorageError: one could not be written.
        """

    async def rewrite(self, topic: Topic, state: RecordedState, now_ms: Callable[[], int]) -> None:
        """Replace the contents of the logs by the changes that make a state, each owner in its partition.

        A part of the owners at a time, so that others have their turn in between. What is appended meanwhile stays.

        Args:
            topic: of the logs. If it is deleted meanwhile, the rest is left out.
            state: what the logs have; it may change meanwhile.
            now_ms: returns the time, milliseconds since the epoch.

        Raises:
            StorageError: they could not be written.
            OSError: a file could not be made or deleted.
        """
        self._topic = topic
        superseded = []
        for log in self._store.logs_of(topic.topic_id).values():
            superseded.append((log, len(log.segments)))
            log.roll(now_ms())
        owners = await owners_by_partition(topic, state)
        async for partition, entries in in_slices(parts(state, owners, _ENTRIES_AT_ONCE)):
            if not self.is_open(topic, ()):
                return
            for producer, records in self._format.batches(entries):
                self._append_records(partition, records, now_ms(), producer)
        for log, count in superseded:
            log.forget_segments(count)

    def drop(self, allowed: Callable[[], Awaitable[None]]) -> None:
        """Delete all logs, because their topic was deleted.

        Args:
            allowed: waits until the deletion is durable; raises StorageError if it never will be.
        """
        self._topic = None

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""

    def _append_records(
        self, partition: int, records: Sequence[KeyValue], now_ms: int, producer: Producer | None
    ) -> None:
        unwritten = UnwrittenBatch(0, now_ms, Kind(NO_PARTITION_LEADER_EPOCH, producer=producer), [*records])
        self._append(partition, next(read_batches(unwritten.encoded(), check_crc=False)), now_ms)

    def _append(self, partition: int, batch: RecordBatch, now_ms: int) -> None:
        if self._topic is None:
            raise AssertionError(f"partition {partition} of {self._format.topic} is not open")
        leader_epoch = self._topic.partitions[partition].leader_epoch
        self._store.log(self._topic.topic_id, partition).append_own(batch, leader_epoch, now_ms)


async def owners_by_partition(topic: Topic, state: RecordedState) -> Mapping[int, Sequence[str]]:
    """The owners of what a state has, by the partition where Kafka looks for them."""
    found: dict[int, list[str]] = defaultdict(list)
    async for owner in in_slices(tuple(state.owners())):
        found[partition_of(owner, len(topic.partitions))].append(owner)
    return found


def parts(
    state: RecordedState, owners: Mapping[int, Sequence[str]], fewest: int
) -> Iterator[tuple[int, Sequence[Written]]]:
    """The changes that make again what owners have now, all of an owner in the same part.

    Args:
        state: may change between two parts.
        owners: whose changes are returned, by partition.
        fewest: how many changes a part has, at least, except the last one of a partition.

    Returns:
        The partition of each part, and its changes.
    """
    for partition, of_partition in owners.items():
        part: list[Written] = []
        for owner in of_partition:
            part += state.entries_of(owner)
            if len(part) >= fewest:
                yield partition, part
                part = []
        if part:
            yield partition, part
