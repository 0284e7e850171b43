"""The logs of all partitions of an internal topic, in a data directory."""

from __future__ import annotations

import asyncio
import heapq
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.internal_topics.entries import Change, Entry, RecordedState, TopicFormat, Written, replay
from kafkawire.broker.internal_topics.logs import InternalLogs, owners_by_partition, parts
from kafkawire.broker.internal_topics.partition_log import InternalPartitionLog
from kafkawire.broker.internal_topics.topic import partition_of
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.partition_files import read_topic_id
from kafkawire.broker.storage.partition_folders import delete_folder, set_aside
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topic_names import OFFSETS_TOPIC

_NUMBER: Final = re.compile(r"0|[1-9]\d{0,9}", re.ASCII)
_ONE_PARTITION: Final = 1
_ENTRIES_AT_ONCE: Final = 10_000
"""Of a segment, at least: each needs some writes."""


class FileInternalLogs(InternalLogs):
    """The logs in a data directory, each in the folder of its partition, as in Kafka.

    A folder without an existing topic is renamed to ``-stray``, as Kafka does. The exception is
    ``__consumer_offsets-0`` without a topic, where an earlier version of the broker stored commits: it is read.

    Args:
        data_dir: the directory.
        records: how the state is in the records of the topic.
        store: gets the logs that are open, for clients that read them.
        topic: the topic in the metadata log; None if it has none.
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.

    Attributes:
        unregistered: whether there are records, but no topic.

    Raises:
        StorageError: a log is damaged.
        OSError: a file cannot be read, made or renamed.
    """

    def __init__(
        self,
        data_dir: Path,
        records: TopicFormat,
        store: RecordStore,
        topic: Topic | None,
        *,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
    ) -> None:
        super().__init__(records, store)
        self._data_dir = data_dir
        self._new_log = partial(InternalPartitionLog, records=records, on_failure=on_failure, before_write=before_write)
        self._topic = topic
        self._logs: dict[int, InternalPartitionLog] = {}
        self._led: set[int] = set()
        self._opening = asyncio.Lock()
        self._dropping: asyncio.Task[None] | None = None
        for partition, folder in self._folders():
            self._logs[partition] = self._new_log(folder)
        self.unregistered = topic is None and bool(self._logs)

    @property
    def size(self) -> int:
        """How many records the logs have."""
        return sum(log.size for log in self._logs.values())

    def read(self, state: RecordedState) -> bool:
        """Make the state that the logs contain; call it before anything is appended.

        Owners may be in other partitions than their own, if partitions were added to the topic or an earlier version of
        the broker has written to it. Then the timestamps of records decide which is the last.

        Args:
            state: an empty one.

        Returns:
            Whether each owner is in its own partition.

        Raises:
            StorageError: a record cannot be decoded.
            OSError: a file cannot be read.
        """
        count = _ONE_PARTITION if self._topic is None else len(self._topic.partitions)
        in_place = True
        for partition, log in self._logs.items():
            for _, entry in log.entries():
                owner = self._format.owner(entry.key) if isinstance(entry, Written) else None
                in_place = in_place and (owner is None or partition_of(owner, count) == partition)
                replay(entry, state)
        if in_place:
            return True
        state.clear()
        for _, entry in heapq.merge(*map(_with_rising_times, self._logs.values()), key=itemgetter(0)):
            replay(entry, state)
        return False

    async def lead(self, topic: Topic) -> None:
        """Prepare the existing logs for ``append``."""
        await self.open(topic, tuple(self._logs))

    def is_open(self, topic: Topic, partitions: Collection[int]) -> bool:
        """Whether logs are prepared for ``append``."""
        is_current = self._topic is not None and self._topic.topic_id == topic.topic_id
        return is_current and self._dropping is None and self._led.issuperset(partitions)

    async def open(self, topic: Topic, partitions: Collection[int]) -> None:
        """Prepare logs for ``append``, once a topic that was deleted before is gone.

        None is prepared if the topic is deleted meanwhile.
        """
        while self._dropping is not None:
            await self._dropping
        await self._open(topic, partitions, self._logs)

    def append(
        self, partition: int, changes: Sequence[Change], timestamp: int, producer: Producer | None = None
    ) -> None:
        """Append changes to an open log."""
        self._logs[partition].append(changes, timestamp, producer)

    def append_marker(
        self, partition: int, producer: Producer, timestamp: int, *, committed: bool, coordinator_epoch: int
    ) -> None:
        """Append the marker that ends a transaction to an open log."""
        log = self._logs[partition]
        log.append_marker(producer, timestamp, committed=committed, coordinator_epoch=coordinator_epoch)

    async def durable(self) -> None:
        """Wait until every appended change would survive a crash."""
        await _all_durable(self._logs.values())

    async def rewrite(self, topic: Topic, state: RecordedState, now_ms: Callable[[], int]) -> None:
        """Write the state into new segments, and delete the old ones when all of it is durable."""
        logs = self._logs
        superseded = tuple(logs.values())
        starts = await asyncio.gather(*(log.files.roll() for log in superseded))
        owners = await owners_by_partition(topic, state)
        if missing := owners.keys() - self._led:
            await self._open(topic, missing, logs)
        async for partition, entries in in_slices(parts(state, owners, _ENTRIES_AT_ONCE)):
            if logs is not self._logs:
                return
            logs[partition].append_anew(entries, now_ms())
        await _all_durable(logs.values())
        for log, start in zip(superseded, starts, strict=True):
            await log.delete_before(start)

    def drop(self, allowed: Callable[[], Awaitable[None]]) -> None:
        """Delete the folders once that is allowed; logs that are opened later wait for it."""
        logs = [*self._logs.values()]
        self._topic = None
        self._logs, self._led = {}, set()
        before = self._dropping

        async def drop() -> None:
            if before is not None:
                await before
            try:
                await allowed()
                deleted = True
            except StorageError:
                deleted = False  # the metadata log has failed, and so the broker halts
            await _close(logs, deleted=deleted)
            if self._dropping is asyncio.current_task():
                self._dropping = None

        self._dropping = asyncio.get_running_loop().create_task(drop())

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
        if self._dropping is not None:
            await self._dropping
        await asyncio.gather(*(log.files.close() for log in self._logs.values()))

    async def _open(self, topic: Topic, partitions: Collection[int], logs: Mapping[int, InternalPartitionLog]) -> None:
        """Prepare logs in another thread, since each needs a few writes, unless their topic is deleted meanwhile.

        Args:
            topic: of the logs.
            partitions: which are prepared.
            logs: those of the topic; others take their place when it is deleted.
        """
        async with self._opening:
            if logs is not self._logs:
                return
            missing = {partition: logs.get(partition) for partition in partitions if partition not in self._led}
            opened = await asyncio.to_thread(self._opened, topic, missing)
            if logs is not self._logs:
                await _close([log for partition, log in opened.items() if missing[partition] is None], deleted=True)
                return
            self._topic = topic
            self._logs.update(opened)
            self._led.update(opened)
            for partition, log in opened.items():
                self._store.serve(topic.topic_id, partition, log.readable)

    def _opened(
        self, topic: Topic, missing: Mapping[int, InternalPartitionLog | None]
    ) -> Mapping[int, InternalPartitionLog]:
        opened = {}
        for partition, existing in missing.items():
            folder = self._data_dir / f"{self._format.topic}-{partition}"
            log = existing or self._new_log(folder)
            log.lead(topic.topic_id, topic.partitions[partition].leader_epoch)
            opened[partition] = log
        return opened

    def _folders(self) -> Iterator[tuple[int, Path]]:
        """Partition and folder of each log of the topic; all other folders are renamed."""
        prefix = f"{self._format.topic}-"
        named = [path for path in sorted(self._data_dir.iterdir()) if path.name.startswith(prefix) and path.is_dir()]
        numbers = ((path.name.removeprefix(prefix), path) for path in named)
        for partition, folder in [(int(number), path) for number, path in numbers if _NUMBER.fullmatch(number)]:
            if self._belongs_to_topic(partition, read_topic_id(folder)):
                yield partition, folder
            else:
                set_aside(folder)

    def _belongs_to_topic(self, partition: int, topic_id: object) -> bool:
        if self._topic is None:
            is_legacy = self._format.topic == OFFSETS_TOPIC and partition == 0
            return is_legacy and topic_id is None  # as an earlier version of the broker left it
        return partition in self._topic.partitions and topic_id in {None, self._topic.topic_id}


async def _close(logs: Iterable[InternalPartitionLog], *, deleted: bool) -> None:
    """Close the files of logs, and delete their folders if their topic is deleted."""
    for log in logs:
        await log.files.close()
        if deleted:
            await asyncio.to_thread(delete_folder, log.files.folder)


async def _all_durable(logs: Iterable[InternalPartitionLog]) -> None:
    for log in tuple(logs):
        await log.files.durable(log.files.end_offset)


def _with_rising_times(log: InternalPartitionLog) -> Iterable[tuple[int, Entry]]:
    """Keep the order of a log even if the clock went back while it was written."""
    latest = -1
    for timestamp, entry in log.entries():
        latest = max(latest, timestamp)
        yield latest, entry
