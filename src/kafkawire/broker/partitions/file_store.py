"""The records of all partitions in the folders of a data directory, as in Kafka."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kafkawire.broker.controller import Controller
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.partitions.file_log import FilePartitionLog
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_store import LogDirectory, RecordStore
from kafkawire.broker.partitions.record_writer import RecordWriter
from kafkawire.broker.partitions.recovered_log import recovered_segments
from kafkawire.broker.storage.data_directory import METADATA_FOLDER, holds_log
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.storage.offset_checkpoints import (
    CLEANED_OFFSETS,
    RECOVERY_POINTS,
    START_OFFSETS,
    PartitionName,
    read_offsets,
    write_offsets,
)
from kafkawire.broker.storage.partition_files import read_topic_id
from kafkawire.broker.storage.partition_folders import delete_folder, partition_folders, set_aside
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.wire import Message

_CHECKPOINTS: Final = (RECOVERY_POINTS, START_OFFSETS, CLEANED_OFFSETS)


class FileRecordStore(RecordStore):
    """The logs of all topics. Coordinators write those of Kafka's internal topics, and serve them here.

    All are read when the broker starts. A folder of a topic that the metadata log does not have is renamed to
    ``-stray``, as Kafka does.

    Args:
        data_dir: the directory.
        controller: has the topics.
        now_ms: milliseconds since the epoch.
        producers_expire_ms: after which idle producers are forgotten (``producer.id.expiration.ms``).
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.

    Raises:
        StorageError: a log or a checkpoint file is damaged.
        OSError: a file cannot be read, cut or renamed.
    """

    def __init__(
        self,
        data_dir: Path,
        controller: Controller,
        *,
        now_ms: int,
        producers_expire_ms: int,
        on_failure: Callable[[StorageError], None],
        before_write: BeforeWrite = at_once,
    ) -> None:
        super().__init__()
        self._data_dir = data_dir
        self._controller = controller
        self._topics = controller.image.topics
        self._producers_expire_ms = producers_expire_ms
        self._writer = RecordWriter(on_failure, before_write)
        self._named: dict[PartitionName, FilePartitionLog] = {}
        self._foreign = {file: read_offsets(data_dir / file) for file in _CHECKPOINTS}
        for name, folder in partition_folders(data_dir):
            if name.topic not in INTERNAL_TOPICS and folder.name != METADATA_FOLDER:
                self._read(name, folder, now_ms)
        for offsets in self._foreign.values():
            for name in [name for name in offsets if name.topic not in INTERNAL_TOPICS]:
                del offsets[name]

    def directory(self) -> LogDirectory:
        """The data directory."""
        usage = shutil.disk_usage(self._data_dir)
        return LogDirectory(str(self._data_dir.absolute()), usage.total, usage.free)

    def remove(self, record: Message) -> None:
        """Delete the records of a topic that a metadata record removes, once that record is durable."""
        if not isinstance(record, RemoveTopicRecord):
            return
        logs = [log for log in self._logs.get(record.topic_id, {}).values() if isinstance(log, FilePartitionLog)]
        super().remove(record)
        self._named = {name: log for name, log in self._named.items() if log not in logs}
        end_offset = self._controller.end_offset

        async def delete() -> None:
            try:
                await self._controller.log.durable(end_offset)
            except StorageError as error:
                for log in logs:
                    log.failed(error)
                raise
            for log in logs:
                log.deleted()
            await self._writer.in_thread(self._note_offsets)
            for log in logs:
                await self._writer.in_thread(delete_folder, log.folder)

        if logs:
            self._writer.delete(delete)

    async def drained(self) -> None:
        """Wait until nothing is left to write."""
        await self._writer.drained()

    async def close(self) -> None:
        """Write what is not durable yet, with the indexes and checkpoints that Kafka needs to start quickly."""
        await self._writer.drained()
        if self._writer.failure is None:
            await self._writer.in_thread(self._store_indexes)
        self._writer.close()

    def _new_log(self, topic_id: bytes, partition: int) -> PartitionLog:
        topic = self._topics.by_id[topic_id]
        if topic.name in INTERNAL_TOPICS:
            return super()._new_log(topic_id, partition)  # an empty one, until the coordinator opens its own
        return self._begin(topic, PartitionName(topic.name, partition))

    def _begin(self, topic: Topic, name: PartitionName) -> FilePartitionLog:
        folder = self._folder(topic, name.partition)
        log = self._named[name] = FilePartitionLog(folder, topic.topic_id, self._writer, self._note_offsets)
        return log

    def _folder(self, topic: Topic, partition: int) -> Path:
        return self._data_dir / f"{topic.name}-{partition}"

    def _read(self, name: PartitionName, folder: Path, now_ms: int) -> None:
        """Read a partition.

        A folder of no topic is set aside too: a crash between the deletion of a topic and that of its records leaves
        one, and another topic may get its name.
        """
        topic = self._topics.by_name.get(name.topic)
        if topic is None:
            if holds_log(folder):
                set_aside(folder)
            return
        topic_id = read_topic_id(folder)
        if name.partition not in topic.partitions or topic_id not in {None, topic.topic_id}:
            set_aside(folder)
            return
        log = self._begin(topic, name)
        recovery_point, start_offset, cleaned_offset = (self._foreign[file].get(name, 0) for file in _CHECKPOINTS)
        segments = recovered_segments(
            folder, recovery_point, now_ms, log.producers, expired_ms=now_ms - self._producers_expire_ms
        )
        if segments:
            log.take(segments, start_offset, cleaned_offset)
        self._logs.setdefault(topic.topic_id, {})[name.partition] = log

    def _store_indexes(self) -> None:
        for log in self._named.values():
            log.store_index()
        self._note_offsets()

    def _note_offsets(self) -> None:
        """Write the checkpoint files, with the entries of partitions that others have written; in the thread."""
        logs = {name: log for name, log in tuple(self._named.items()) if log.folder.exists()}
        own = (
            {name: log.durable_offset for name, log in logs.items()},
            {name: log.start_offset for name, log in logs.items() if log.start_offset},
            {name: log.cleaned_offset for name, log in logs.items() if log.cleaned_offset},
        )
        for file, offsets in zip(_CHECKPOINTS, own, strict=True):
            path, every = self._data_dir / file, {**self._foreign[file], **offsets}
            if every or path.exists():
                write_offsets(path, every)
