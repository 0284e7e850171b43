"""The stream of a table that continues from a state: the rows that are new or changed, log by log.

A task reads one log. It begins with the state that an earlier task left in a file, and leaves its own.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, cast

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from kafkawire.logs import Accounts, FileRange, LogReadError, Part
from kafkawire.logs.errors import system_reason
from kafkawire.logs.files.log_files import segments_of
from kafkawire.logs.files.state_file import delete_others, read_file, replace_file
from kafkawire.logs.folding.continued import ChangedRows, ContinuedTable
from kafkawire.logs.folding.saved_state import FORM, SavedLog, SavedStateError, SavedTable
from kafkawire.logs.folding.source import FoldSource
from kafkawire.spark.options import OptionError
from kafkawire.spark.planned_read import LogPartition, Reading, keep_modules, named_as_spark_expects
from kafkawire.spark.streaming.log_walk import logs_of
from kafkawire.spark.streaming.positions import LogPosition, StreamPosition
from kafkawire.spark.streaming.reader import KafkaLogStreamReader

_LOG: Final = logging.getLogger(__name__)
_DIGITS: Final = 16


class ChangesPartition(LogPartition):
    """What one task reads: a log between two positions.

    Attributes:
        begin, end: the positions; None for the beginning of the log.
    """

    def __init__(self, log: Part, number: int, begin: LogPosition | None, end: LogPosition) -> None:
        self.begin, self.end = begin, end
        super().__init__(log, number)


class ChangesStreamReader(KafkaLogStreamReader):
    """Reads what is new or changed in a table.

    Raises:
        OptionError: the option ``statePath`` is missing, or as ``KafkaLogStreamReader``.
    """

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        if reading.options.state_path is None:
            reason = (
                f"a stream of {reading.options.table} keeps states between micro-batches: give it a folder for them"
            )
            raise OptionError(reason, "statePath")
        self._states = reading.options.state_path.rstrip("/")

    def partitions(self, start: Mapping[str, object], end: Mapping[str, object]) -> list[LogPartition]:
        """A partition for each log that has changed.

        Raises:
            LogReadError: a log is gone or cannot be read.
        """
        begin, until = StreamPosition.from_json(start).logs, StreamPosition.from_json(end).logs
        logs = logs_of(self._reading.files())
        changed = [folder for folder in until if until[folder] != begin.get(folder)]
        for folder in changed:
            if folder not in logs:
                raise LogReadError("data_loss", folder, "the log was deleted before all of it was read")
        return [
            ChangesPartition(
                Part(tuple(FileRange(file, 0, file.size) for file in logs[folder])),
                number,
                begin.get(folder),
                until[folder],
            )
            for number, folder in enumerate(changed)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition; the state at its end is written after the last.

        Raises:
            LogReadError: the log or a state cannot be read; mode FAILFAST: at bytes that cannot be decoded.
        """
        if not isinstance(partition, ChangesPartition):
            return
        keep_modules()
        since = None if partition.begin is None else self._state(partition, partition.begin)
        changes = self._changes(partition, since, partition.end)
        yield from map(named_as_spark_expects, changes.rows())
        self._keep(partition, changes.saved())

    def commit(self, end: Mapping[str, object]) -> None:
        """Delete the states before a position, which no micro-batch begins with any more."""
        for folder, position in StreamPosition.from_json(end).logs.items():
            try:
                delete_others(self._path(folder, position))
            except OSError as error:  # they take space, and do no harm
                _LOG.warning("old states of %s are not deleted: %s", folder, system_reason(error))

    def _state(self, partition: ChangesPartition, begin: LogPosition) -> SavedLog:
        """The state at a position; it is computed again if it is lost, and the log still has its beginning."""
        folder = partition.part.files[0].file.folder
        path = self._path(folder, begin)
        try:
            octets = read_file(path)
            saved = None if octets is None else SavedTable.decode(octets)
            reason = f"there is no state at {path}"
        except SavedStateError as error:
            saved, reason = None, f"the state at {path} cannot be used: {error}"
        except OSError as error:
            raise LogReadError("unreadable", path, system_reason(error)) from None
        if saved is not None and folder in saved.logs:
            return saved.logs[folder]
        segments = segments_of(each.file for each in partition.part.files)
        if not segments or segments[0].base_offset:
            what = "and the log no longer has its beginning: start a query with a new checkpoint, for a new table"
            raise LogReadError("data_loss", folder, f"{reason}, {what}")
        _LOG.warning("%s: %s; it is computed again", folder, reason)
        changes = self._changes(partition, None, begin)
        for _ in changes.rows():
            pass
        return changes.saved()

    def _changes(self, partition: ChangesPartition, since: SavedLog | None, end: LogPosition) -> ChangedRows:
        table, options = cast(ContinuedTable, self._reading.table()), self._reading.options.read
        limit = end.offset if options.high_watermark is None else min(end.offset, options.high_watermark)
        source = FoldSource(replace(options, high_watermark=limit), Accounts(), self._reading.store)
        files = [each.file for each in partition.part.files]
        try:
            return table.changes(files, source, since)
        except SavedStateError as error:
            raise LogReadError("unreadable", self._states, str(error)) from None

    def _keep(self, partition: ChangesPartition, saved: SavedLog) -> None:
        folder = partition.part.files[0].file.folder
        path = self._path(folder, partition.end)
        state = SavedTable(FORM, self._reading.options.table, {folder: saved})
        try:
            replace_file(path, state.encode())
        except OSError as error:
            raise LogReadError("unreadable", path, system_reason(error)) from None

    def _path(self, folder: str, position: LogPosition) -> str:
        """The file of the state of a log at a position."""
        log, at = (
            hashlib.sha256(each).hexdigest()[:_DIGITS] for each in (folder.encode(), msgspec.json.encode(position))
        )
        return f"{self._states}/{self._reading.options.table.lower()}-{log}/{position.offset:020}-{at}.state"
