"""The metadata log in Kafka's files: segments, snapshots, and the small files beside them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from kafkawire.broker.clock import Clock
from kafkawire.broker.metadata_log.append_times import unify_append_times
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.metadata_log.quorum_state_file import note_leader, voted_epoch
from kafkawire.broker.metadata_log.record_versions import RECORD_VERSIONS
from kafkawire.broker.metadata_log.snapshots import (
    Snapshot,
    SnapshotFile,
    list_snapshots,
    read_snapshot,
    remove_unfinished,
    write_snapshot,
)
from kafkawire.broker.storage.batch_log import BatchLog
from kafkawire.broker.storage.end_checkpoint import END_CHECKPOINT
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once, make_folder
from kafkawire.broker.storage.partition_files import read_leader_epochs, write_leader_epochs, write_topic_id
from kafkawire.broker.storage.recovery import has_all
from kafkawire.broker.storage.segments import list_segments
from kafkawire.broker.storage.unwritten_batches import KeyValue, size_in_batch
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import AbortTransactionRecord, LeaderChangeMessage
from kafkawire.records.control_records import (
    ControlRecord,
    ControlRecordType,
    decode_control_record,
    encode_control_record,
)
from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
from kafkawire.records.metadata_transactions import MetadataTransactions
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.batches import RecordBatch, decode_records

_log = logging.getLogger(__name__)
_METADATA_TOPIC_ID: Final = Uuid(bytes(15) + b"\1")
_SNAPSHOTS_KEPT: Final = 2
_EPOCH_BEFORE_ANY_LEADER: Final = 0


class LogSettings(msgspec.Struct, frozen=True):
    """The sizes of files.

    Attributes:
        segment_bytes: of a segment (``metadata.log.segment.bytes``).
        snapshot_bytes: of the log between snapshots (``metadata.log.max.record.bytes.between.snapshots``).
        snapshot_interval_ms: after which a change makes the next snapshot (``metadata.log.max.snapshot.interval.ms``);
            0 for no limit.
    """

    segment_bytes: int = 1024 * 1024 * 1024
    snapshot_bytes: int = 20 * 1024 * 1024
    snapshot_interval_ms: int = 60 * 60 * 1000


class FileLog(MetadataLog):
    """The metadata log of the only node of a quorum.

    Call ``replay`` first, then ``lead``, then ``append``. Two snapshots are kept, and the log from the older one on: if
    the newer one is damaged, nothing is lost.

    Args:
        folder: of the log; made if it does not exist. A checkpoint file beside the folder has the durable end offset,
            so that a missing folder is detected too.
        settings: the sizes of files.
        clock: for the timestamps of records.
        on_failure: called with the first error of a write.
        before_write: awaited before each write, with the name of what is written.

    Raises:
        StorageError: a file is missing or damaged.
        OSError: a file cannot be read or made.
    """

    def __init__(
        self,
        folder: Path,
        settings: LogSettings,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        before_write: BeforeWrite = at_once,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._clock = clock
        make_folder(folder)
        remove_unfinished(folder)
        unify_append_times(folder)
        self._snapshots = list(list_snapshots(folder))
        newest, self._snapshot = _newest_whole_snapshot(self._snapshots)
        _warn_of_lost_redundancy(folder, self._snapshots, newest)
        self._quorum = self._snapshot.quorum
        self._snapshot_end = newest.end_offset if newest is not None else 0
        self._log = BatchLog(
            folder,
            segment_bytes=settings.segment_bytes,
            start_offset=self._snapshot_end,
            checkpoint=folder.with_name(f"{folder.name}.{END_CHECKPOINT}"),
            on_failure=on_failure,
            before_write=before_write,
        )
        self._epoch_below = max(self._log.leader_epoch, newest.leader_epoch if newest is not None else -1)
        self._bytes_since_snapshot = 0
        self._snapshot_time = clock.now_ms()
        self._transaction_is_open = False
        self._snapshotting: asyncio.Task[None] | None = None

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._log.end_offset

    def replay(self) -> Iterator[Message]:
        """The records that make the state: those of the newest snapshot, then those of the log after it.

        Raises:
            CorruptLogError: a record cannot be decoded.
        """
        yield from self._snapshot.records
        self._snapshot = Snapshot()
        transactions = MetadataTransactions[Message]()
        for record in self._logged():
            yield from transactions.take(record.API_KEY, record)
        self._transaction_is_open = transactions.begun is not None

    def lead(self, node_id: int) -> int:
        """Begin a leader epoch; returns it.

        Raises:
            StorageError: the file of leader epochs or the quorum state is damaged.
            OSError: they cannot be written.
        """
        epoch = max(self._epoch_below, voted_epoch(self._folder), _EPOCH_BEFORE_ANY_LEADER) + 1
        write_topic_id(self._folder, _METADATA_TOPIC_ID)
        note_leader(self._folder, node_id, epoch, self._quorum.kraft_version)
        starts = {**read_leader_epochs(self._folder), epoch: self.end_offset}
        write_leader_epochs(self._folder, starts)
        self._log.leader_epoch = epoch
        self._log.append([_leader_change(node_id)], self._clock.now_ms(), control=True)
        if self._transaction_is_open:
            self.append([AbortTransactionRecord("the controller that began it is gone")])
        return epoch

    def append(self, records: Sequence[Message]) -> None:
        """Append records, all in one batch; they are durable later.

        Raises:
            EncodeError: a record cannot be encoded; none is appended then.
            StorageError: the log has failed before.
        """
        encoded: list[KeyValue] = [
            (None, encode_metadata_record(record, RECORD_VERSIONS[record.NAME])) for record in records
        ]
        self._log.append(encoded, self._clock.now_ms())
        self._bytes_since_snapshot += size_in_batch(encoded)

    def is_durable(self, offset: int) -> bool:
        """Whether all records below an offset would survive a crash."""
        return self._log.is_durable(offset)

    async def durable(self, offset: int) -> None:
        """Wait until all records below an offset would survive a crash.

        Raises:
            StorageError: they could not be written.
        """
        await self._log.durable(offset)

    @property
    def snapshot_is_due(self) -> bool:
        """Whether enough was appended since the last snapshot, or long enough ago, for the next one."""
        if self._snapshotting is not None or self._log.failure is not None:
            return False
        interval = self._settings.snapshot_interval_ms
        waited_enough = bool(interval) and self._clock.now_ms() - self._snapshot_time >= interval
        return waited_enough or self._bytes_since_snapshot >= self._settings.snapshot_bytes

    def take_snapshot(self, records: Iterable[Message]) -> None:
        """Write a snapshot in the background.

        Args:
            records: the state after all records so far.
        """
        snapshot = Snapshot(tuple(records), self._quorum)
        self._log.seal()
        self._bytes_since_snapshot = 0
        self._snapshot_time = self._clock.now_ms()
        writing = self._write_snapshot(self.end_offset, self._log.leader_epoch, snapshot, self._log.last_timestamp)
        self._snapshotting = asyncio.get_running_loop().create_task(writing)

    async def close(self) -> None:
        """Write what is not durable yet, and close the files."""
        if self._snapshotting is not None:
            await self._snapshotting
        await self._log.close()

    async def _write_snapshot(self, end_offset: int, epoch: int, snapshot: Snapshot, last_timestamp: int) -> None:
        try:
            await self._log.durable(end_offset)
            written = await asyncio.to_thread(
                write_snapshot,
                self._folder,
                end_offset,
                epoch,
                snapshot,
                last_timestamp=last_timestamp,
                timestamp=self._snapshot_time,
            )
            self._snapshots.insert(0, written)
            await self._log.roll()
            await self._delete_what_is_covered()
        except (OSError, StorageError) as error:
            # The log still has all records; the next snapshot may succeed.
            _log.error(
                "%s: no snapshot of offset %d: %s; free space or repair the disk", self._folder, end_offset, error
            )
        finally:
            self._snapshotting = None

    async def _delete_what_is_covered(self) -> None:
        for old in self._snapshots[_SNAPSHOTS_KEPT:]:
            old.path.unlink()
        del self._snapshots[_SNAPSHOTS_KEPT:]
        if len(self._snapshots) == _SNAPSHOTS_KEPT:
            await self._log.delete_before(self._snapshots[-1].end_offset)
            starts = read_leader_epochs(self._folder)
            write_leader_epochs(self._folder, _from_offset(starts, self._log.start_offset))

    def _logged(self) -> Iterator[Message]:
        """The metadata records of the log after the newest snapshot; the quorum is taken from its control records."""
        for batch in self._log.batches():
            if batch.last_offset < self._snapshot_end:
                continue
            self._bytes_since_snapshot += batch.size
            try:
                yield from self._records(batch)
            except DecodeError as error:
                raise CorruptLogError(
                    f"{self._folder}: the batch of offset {batch.base_offset} holds a record that cannot be read: "
                    f"{error}; a newer Kafka may have written it"
                ) from error

    def _records(self, batch: RecordBatch) -> Iterator[Message]:
        for record in decode_records(batch):
            if record.offset < self._snapshot_end:
                continue
            if not batch.is_control:
                yield decode_metadata_record(record.value).message
                continue
            control = decode_control_record(record.key, record.value)
            if isinstance(control, ControlRecord):
                self._quorum = self._quorum.with_control(control.message)


def _leader_change(node_id: int) -> KeyValue:
    voter = LeaderChangeMessage.Voter(node_id)
    return encode_control_record(
        ControlRecordType.LEADER_CHANGE, LeaderChangeMessage(0, node_id, (voter,), (voter,)), 0
    )


def _newest_whole_snapshot(snapshots: Sequence[SnapshotFile]) -> tuple[SnapshotFile | None, Snapshot]:
    """The newest snapshot that can be read; a damaged one is skipped, and the log must have its records."""
    damage: CorruptLogError | None = None
    for each in snapshots:
        try:
            return each, read_snapshot(each.path)
        except CorruptLogError as error:
            damage = error
            _log.warning("%s; it is skipped, and an older one and the log are read instead", error)
    if damage is not None:
        _log.warning("%s: no undamaged snapshot is left, so the log must be complete", snapshots[0].path.parent)
    return None, Snapshot()


def _warn_of_lost_redundancy(folder: Path, snapshots: Sequence[SnapshotFile], newest: SnapshotFile | None) -> None:
    older = next((each for each in snapshots if newest is not None and each.end_offset < newest.end_offset), None)
    if newest is None or older is None or has_all(list_segments(folder), older.end_offset, newest.end_offset):
        return
    _log.warning(
        "%s: records between %s and %s are missing or damaged. The state is complete, since the newer snapshot has "
        "them, but nothing can replace that snapshot; put the missing segment back, or make a backup of the directory",
        folder, older.path.name, newest.path.name,
    )  # fmt: skip


def _from_offset(starts: dict[int, int], offset: int) -> dict[int, int]:
    """The epochs from an offset on; the first one begins there."""
    last_below = max((epoch for epoch, start in starts.items() if start <= offset), default=-1)
    return {epoch: max(start, offset) for epoch, start in starts.items() if epoch >= last_below}
