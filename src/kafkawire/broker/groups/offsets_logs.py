"""The logs of all partitions of ``__consumer_offsets``, in a data directory or nowhere."""

from __future__ import annotations

import asyncio
import heapq
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Final

from kafkawire.broker.groups.offsets_log import OffsetsLog
from kafkawire.broker.groups.offsets_topic import partition_of
from kafkawire.broker.groups.state import Change, GroupsState
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.partition_files import read_topic_id
from kafkawire.broker.storage.partition_folders import delete_folder, set_aside
from kafkawire.broker.topic_names import OFFSETS_TOPIC

_FOLDER: Final = re.compile(rf"{OFFSETS_TOPIC}-(0|[1-9]\d{{0,9}})", re.ASCII)
_ONE_PARTITION: Final = 1


class OffsetsLogs:
    """Append-only logs of the offsets that groups commit, one for each partition. These store nothing.

    Attributes:
        unregistered: whether there are commits, but no topic.
    """

    unregistered = False

    @property
    def size(self) -> int:
        """How many records the logs have."""
        return 0

    async def lead(self, topic: Topic) -> None:
        """Prepare the existing logs for ``append``; the topic must be durable.

        Raises:
            StorageError: a file of leader epochs is damaged.
            OSError: it cannot be written.
        """

    def is_open(self, topic: Topic, partitions: Collection[int]) -> bool:
        """Whether logs are prepared for ``append``."""
        return True

    async def open(self, topic: Topic, partitions: Collection[int]) -> None:
        """Prepare logs for ``append``; the topic must be durable.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """

    def append(self, partition: int, changes: Sequence[Change], timestamp: int) -> None:
        """Append changes to an open log, all in one batch; they are durable later.

        Args:
            partition: the partition of the log.
            changes: the changes.
            timestamp: milliseconds since the epoch.

        Raises:
            EncodeError: a change cannot be encoded; none is appended then.
            StorageError: the log has failed before.
        """

    async def durable(self) -> None:
        """Wait until every appended change would survive a crash.

        Raises:
            StorageError: one could not be written.
        """

    async def rewrite(self, topic: Topic, state: GroupsState, timestamp: int) -> None:
        """Replace the contents of the logs by the changes that make a state, each group in its partition.

        Raises:
            StorageError: they could not be written.
            OSError: a file could not be made or deleted.
        """

    def drop(self, allowed: Callable[[], Awaitable[None]]) -> None:
        """Delete all logs, because their topic was deleted.

        Args:
            allowed: waits until the deletion is durable; raises StorageError if it never will be.
        """

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""


class FileOffsetsLogs(OffsetsLogs):
    """The logs in a data directory, each in the folder of its partition, as in Kafka.

    A folder without an existing topic is renamed to ``-stray``, as Kafka does. The exception is
    ``__consumer_offsets-0`` without a topic, where an earlier version of the broker stored commits: it is read.

    Args:
        data_dir: the directory.
        topic: the topic in the metadata log; None if it has none.
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.

    Attributes:
        unregistered: whether there are commits, but no topic.

    Raises:
        StorageError: a log is damaged.
        OSError: a file cannot be read, made or renamed.
    """

    def __init__(
        self,
        data_dir: Path,
        topic: Topic | None,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
    ) -> None:
        self._data_dir = data_dir
        self._new_log = partial(OffsetsLog, on_failure=on_failure, before_write=before_write)
        self._topic = topic
        self._logs: dict[int, OffsetsLog] = {}
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

    def read(self) -> tuple[GroupsState, bool]:
        """The state that the logs contain; call it before anything is appended.

        Groups may be in other partitions than their own, if partitions were added to the topic or an earlier version of
        the broker has written to it. Then the timestamps of records decide which is the last.

        Returns:
            The state, and whether each group is in its own partition.

        Raises:
            StorageError: a record cannot be decoded.
            OSError: a file cannot be read.
        """
        count = _ONE_PARTITION if self._topic is None else len(self._topic.partitions)
        state, in_place = GroupsState(), True
        for partition, log in self._logs.items():
            for _, (key, value) in log.changes():
                in_place = in_place and partition_of(key.group, count) == partition
                state.apply(key, value)
        if in_place:
            return state, True
        state = GroupsState()
        for _, (key, value) in heapq.merge(*map(_with_rising_times, self._logs.values()), key=itemgetter(0)):
            state.apply(key, value)
        return state, False

    async def lead(self, topic: Topic) -> None:
        """Prepare the existing logs for ``append``."""
        await self.open(topic, tuple(self._logs))

    def is_open(self, topic: Topic, partitions: Collection[int]) -> bool:
        """Whether logs are prepared for ``append``."""
        is_current = self._topic is not None and self._topic.topic_id == topic.topic_id
        return is_current and self._dropping is None and self._led.issuperset(partitions)

    async def open(self, topic: Topic, partitions: Collection[int]) -> None:
        """Prepare logs for ``append``, in another thread, since each log needs a few writes."""
        async with self._opening:
            if self._dropping is not None:
                await self._dropping
            missing = {partition: self._logs.get(partition) for partition in partitions if partition not in self._led}
            opened = await asyncio.to_thread(self._opened, topic, missing)
            self._topic = topic
            self._logs.update(opened)
            self._led.update(opened)

    def append(self, partition: int, changes: Sequence[Change], timestamp: int) -> None:
        """Append changes to an open log."""
        self._logs[partition].append(changes, timestamp)

    async def durable(self) -> None:
        """Wait until every appended change would survive a crash."""
        await _all_durable(self._logs.values())

    async def rewrite(self, topic: Topic, state: GroupsState, timestamp: int) -> None:
        """Write the state into new segments, and delete the old ones when all of it is durable."""
        await asyncio.gather(*(log.files.roll() for log in self._logs.values()))
        while missing := {*_by_partition(topic, state)} - self._led:
            await self.open(topic, missing)
        logs, changes = dict(self._logs), _by_partition(topic, state)
        starts = {partition: log.append_anew(changes[partition], timestamp) for partition, log in logs.items()}
        await _all_durable(logs.values())
        for partition, log in logs.items():
            await log.files.delete_before(starts[partition])

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
            for log in logs:
                await log.files.close()
                if deleted:
                    await asyncio.to_thread(delete_folder, log.files.folder)
            if self._dropping is asyncio.current_task():
                self._dropping = None

        self._dropping = asyncio.get_running_loop().create_task(drop())

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
        if self._dropping is not None:
            await self._dropping
        await asyncio.gather(*(log.files.close() for log in self._logs.values()))

    def _opened(self, topic: Topic, missing: Mapping[int, OffsetsLog | None]) -> Mapping[int, OffsetsLog]:
        opened = {}
        for partition, existing in missing.items():
            log = existing or self._new_log(self._data_dir / f"{OFFSETS_TOPIC}-{partition}")
            log.lead(topic.topic_id, topic.partitions[partition].leader_epoch)
            opened[partition] = log
        return opened

    def _folders(self) -> Iterator[tuple[int, Path]]:
        """Partition and folder of each log of the topic; all other folders are renamed."""
        named = ((_FOLDER.fullmatch(path.name), path) for path in sorted(self._data_dir.iterdir()))
        for partition, folder in [(int(name[1]), path) for name, path in named if name and path.is_dir()]:
            if self._belongs_to_topic(partition, read_topic_id(folder)):
                yield partition, folder
            else:
                set_aside(folder)

    def _belongs_to_topic(self, partition: int, topic_id: object) -> bool:
        if self._topic is None:
            return partition == 0 and topic_id is None  # as an earlier version of the broker left it
        return partition in self._topic.partitions and topic_id in {None, self._topic.topic_id}


async def _all_durable(logs: Iterable[OffsetsLog]) -> None:
    for log in tuple(logs):
        await log.files.durable(log.files.end_offset)


def _by_partition(topic: Topic, state: GroupsState) -> Mapping[int, list[Change]]:
    changes: dict[int, list[Change]] = defaultdict(list)
    for group in state.by_id.values():
        changes[partition_of(group.group_id, len(topic.partitions))] += group.changes()
    return changes


def _with_rising_times(log: OffsetsLog) -> Iterable[tuple[int, Change]]:
    """Keep the order of a log even if the clock went back while it was written."""
    latest = -1
    for timestamp, change in log.changes():
        latest = max(latest, timestamp)
        yield latest, change
