"""The reader of a stream: the end of the logs, the parts between two positions, and their rows."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)

from kafkawire.logs import Accounts, FileRange, LogFile, LogReadError, Part
from kafkawire.logs.files.store import FileStamp
from kafkawire.spark.options import OptionError
from kafkawire.spark.planned_read import LogPartition, Reading
from kafkawire.spark.streaming.gaps import Patience
from kafkawire.spark.streaming.log_walk import LogWalk, logs_of
from kafkawire.spark.streaming.positions import LogPosition, StreamPosition

_LOG: Final = logging.getLogger(__name__)
_CHANGED: Final = (
    "it was compacted or truncated while it was read: restart the query, which then looks up its position again"
)


class KafkaLogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads what is appended to logs.

    Raises:
        OptionError: the option ``accountsPath`` is set, where the tasks of one micro-batch would overwrite the accounts
            of another.
    """

    def __init__(self, reading: Reading) -> None:
        if reading.options.accounts_path is not None:
            raise OptionError("option 'accountsPath' is for spark.read: a stream has no end to account for")
        self._reading = reading
        self._sizes: Mapping[str, int] | None = None
        self._patience = Patience(reading.options.gap_timeout)

    def initialOffset(self) -> dict[str, object]:  # noqa: N802 Spark's name
        """The beginning of all logs."""
        return StreamPosition().to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 Spark's name
        """The limit of a micro-batch, unless the trigger reads everything."""
        most = self._reading.options.max_bytes_per_trigger
        return ReadAllAvailable() if most is None else ReadMaxBytes(most)

    def latestOffset(self, start: Mapping[str, object], limit: ReadLimit) -> dict[str, object]:  # noqa: N802 Spark's name
        """The current ends of the logs.

        Raises:
            LogReadError: unread records are gone, or a log cannot be read.
        """
        begin = StreamPosition.from_json(start).logs
        left = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        end = dict(begin)  # a log that disappears may come back, and must not be read again
        for folder, walk in self._walks(self._files_until_now()).items():
            if left is not None and left <= 0:
                break
            end[folder], taken = self._advance(folder, walk, begin.get(folder), left)
            left = None if left is None else left - taken
        return StreamPosition(end).to_json()

    def _advance(
        self, folder: str, walk: LogWalk, begin: LogPosition | None, budget: int | None
    ) -> tuple[LogPosition, int]:
        """The position up to which a log is read, and the bytes up to there. ``gapTimeout`` limits waits for a gap."""
        step = walk.advance(begin, budget)
        if step.gap is None:
            return step.end, step.taken
        if self._patience.is_new(folder, step.gap) and self._patience.seconds:
            _LOG.warning("%s: %s; reading waits there for up to %d s", folder, step.gap, self._patience.seconds)
        if not step.taken and self._patience.has_ended(folder, step.gap):
            step = walk.advance(begin, budget, past=step.gap)
        return step.end, step.taken

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 Spark's name
        """Nothing that arrives later is read, so reading does not wait for gaps.

        Raises:
            LogReadError: there is no such path.
        """
        self._patience = Patience(0)
        self._sizes = {file.path: file.size for file in self._reading.files()}

    def partitions(self, start: Mapping[str, object], end: Mapping[str, object]) -> list[LogPartition]:
        """What each task reads.

        Raises:
            LogReadError: a log is gone or cannot be read.
        """
        begin, until = StreamPosition.from_json(start).logs, StreamPosition.from_json(end).logs
        walks = self._walks(self._reading.files())
        pieces: list[FileRange] = []
        for folder in until:
            if until[folder] == begin.get(folder):
                continue
            if folder in walks:
                pieces += walks[folder].ranges(
                    begin.get(folder), until[folder], self._reading.options.max_partition_bytes
                )
            elif self._reading.options.fail_on_data_loss:
                raise LogReadError("data_loss", folder, "the log was deleted before all of it was read")
        return [LogPartition(Part((piece,)), number) for number, piece in enumerate(pieces)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition.

        Raises:
            LogReadError: a file was compacted or truncated meanwhile; mode FAILFAST: at bytes that cannot be decoded.
        """
        accounts = Accounts()
        yield from self._reading.batches(partition, accounts)
        if self._reading.options.fail_on_data_loss and isinstance(partition, LogPartition):
            for piece in partition.part.files:
                if "file_changed" in accounts.errors or self._was_replaced(piece.file):
                    raise LogReadError("file_changed", piece.file.path, _CHANGED)

    def _was_replaced(self, file: LogFile) -> bool:
        """Whether a closed segment was replaced, perhaps by a larger one: compaction merges segments."""
        if file.is_last:
            return False
        try:
            with self._reading.store.open(file.path) as opened:
                return opened.stamp() != FileStamp(file.size, file.modified)
        except FileNotFoundError:
            return False  # deleted after it was read

    def _files_until_now(self) -> Sequence[LogFile]:
        """The files, with their sizes at the start of a trigger for what is available."""
        sizes = self._sizes
        files = self._reading.files()
        if sizes is None:
            return files
        return [replace(file, size=min(file.size, sizes[file.path])) for file in files if file.path in sizes]

    def _walks(self, files: Sequence[LogFile]) -> dict[str, LogWalk]:
        options = self._reading.options
        return {
            folder: LogWalk(
                members,
                self._reading.store,
                max_frame_bytes=options.read.max_frame_bytes,
                fail_on_data_loss=options.fail_on_data_loss,
            )
            for folder, members in logs_of(files).items()
        }
