"""The metadata log in files: replay, epochs, transactions, snapshots."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.metadata_log.snapshots import list_snapshots, read_snapshot
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.storage.segments import list_segments
from kafkawire.protocol import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    NoOpRecord,
)
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.records.quorum_state import decode_quorum_state
from kafkawire.wire import EncodeError, Message
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

BY_DEFAULT = LogSettings()
SMALL_SNAPSHOTS = LogSettings(snapshot_bytes=2_000)


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of batches are written here, and no power is cut."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def config(number: int) -> ConfigRecord:
    return ConfigRecord(2, "orders", f"key-{number}", "x" * 20)


def end_checkpoint(folder: Path) -> Path:
    """Beside the folder, so that a folder that is gone is noticed too."""
    return folder.with_name(f"{folder.name}.end-offset-checkpoint")


def opened(folder: Path, settings: LogSettings = BY_DEFAULT) -> FileLog:
    return FileLog(folder, settings, ManualClock())


def logged(folder: Path) -> Iterator[Message]:
    """The metadata records of all segments."""
    for segment in list_segments(folder):
        for batch in read_batches(segment.path.read_bytes()):
            if not batch.is_control:
                yield from (decode_metadata_record(record.value).message for record in decode_records(batch))


async def keep(folder: Path, records: Sequence[Message], settings: LogSettings = BY_DEFAULT) -> None:
    log = opened(folder, settings)
    for _ in log.replay():
        pass
    log.lead(1)
    log.append(records)
    await log.durable(log.end_offset)
    await log.close()


async def fill(folder: Path, numbers: Iterable[int], settings: LogSettings = SMALL_SNAPSHOTS) -> None:
    """Set one key after the other, by default with a snapshot after every 2000 bytes."""
    log, image = opened(folder, settings), MetadataImage()
    for record in log.replay():
        image.apply(record)
    log.lead(1)
    for number in numbers:
        log.append([config(number)])
        image.apply(config(number))
        if log.snapshot_is_due:
            log.take_snapshot(image.records())
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))  # however busy the machine is
        await log.durable(log.end_offset)
    await log.close()


def replayed(folder: Path) -> MetadataImage:
    image = MetadataImage()
    for record in opened(folder).replay():
        image.apply(record)
    return image


async def test_appended_records_are_replayed(tmp_path: Path) -> None:
    await keep(tmp_path, [config(1), config(2)])
    await keep(tmp_path, [config(3)])
    assert [*opened(tmp_path).replay()] == [config(1), config(2), config(3)]


async def test_every_leader_has_an_epoch_of_its_own_which_files_and_batches_name(tmp_path: Path) -> None:
    for _ in range(3):
        await keep(tmp_path, [NoOpRecord()])
    assert (tmp_path / "leader-epoch-checkpoint").read_text() == "0\n3\n1 0\n2 2\n3 4\n"
    state, version = decode_quorum_state((tmp_path / "quorum-state").read_bytes())
    assert (state.leader_id, state.leader_epoch, version) == (1, 3, 0)
    (segment,) = list_segments(tmp_path)
    batches = read_batches(segment.path.read_bytes())
    assert [(batch.is_control, batch.partition_leader_epoch) for batch in batches] == [
        (control, epoch) for epoch in (1, 2, 3) for control in (True, False)
    ]
    assert (tmp_path / "partition.metadata").read_text() == "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


async def test_an_epoch_that_was_begun_is_not_used_again_though_the_log_does_not_have_it(tmp_path: Path) -> None:
    await keep(tmp_path, [NoOpRecord()])
    (segment,) = list_segments(tmp_path)
    segment.path.write_bytes(b"")
    end_checkpoint(tmp_path).unlink()
    log = opened(tmp_path)
    assert log.lead(1) == 2
    await log.close()


async def test_a_quorum_state_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    (tmp_path / "quorum-state").write_text("{")
    with pytest.raises(StorageError, match=r"quorum-state: QuorumStateData: .*restore it, or delete it"):
        opened(tmp_path).lead(1)


async def test_a_record_that_cannot_be_written_leaves_no_trace(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.lead(1)
    with pytest.raises(EncodeError):
        log.append([config(1), ConfigRecord(2, "orders", "x" * 40_000, "longer than any name")])
    await log.close()
    assert [*opened(tmp_path).replay()] == []


@pytest.mark.parametrize(
    ("records", "kept"),
    [
        ([BeginTransactionRecord("t"), config(1), EndTransactionRecord(), config(2)], [1, 2]),
        ([config(1), BeginTransactionRecord("t"), config(2), AbortTransactionRecord("no"), config(3)], [1, 3]),
        ([config(1), BeginTransactionRecord("t"), config(2)], [1]),
        ([BeginTransactionRecord("t"), config(1), BeginTransactionRecord("u"), config(2), EndTransactionRecord()], [2]),
    ],
    ids=["ended", "aborted", "open", "begun again"],
)
async def test_records_of_transactions_count_when_they_end(
    tmp_path: Path, records: Sequence[Message], kept: Sequence[int]
) -> None:
    await keep(tmp_path, records)
    assert [*opened(tmp_path).replay()] == [config(number) for number in kept]


async def test_a_transaction_without_end_is_aborted_by_the_next_leader(tmp_path: Path) -> None:
    await keep(tmp_path, [BeginTransactionRecord("t"), config(1)])
    await keep(tmp_path, [config(2), EndTransactionRecord()])
    assert [*opened(tmp_path).replay()] == [config(2)]
    aborts = [record for record in logged(tmp_path) if isinstance(record, AbortTransactionRecord)]
    assert aborts == [AbortTransactionRecord("the controller that began it is gone")]


async def test_snapshots_are_taken_and_the_log_before_them_is_deleted(tmp_path: Path) -> None:
    await fill(tmp_path, range(200))
    snapshots = list_snapshots(tmp_path)
    assert len(snapshots) == 2
    older, newer = sorted(snapshot.end_offset for snapshot in snapshots)
    segments = list_segments(tmp_path)
    assert segments[0].base_offset <= older < segments[1].base_offset <= newer
    assert [*replayed(tmp_path).records()] == [config(number) for number in range(200)]


async def test_the_newest_snapshot_may_be_damaged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    await fill(tmp_path, range(200))
    path = list_snapshots(tmp_path)[0].path
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert [*replayed(tmp_path).records()] == [config(number) for number in range(200)]
    assert f"{path}: " in caplog.text
    assert "it is skipped, and an older one and the log are read instead" in caplog.text


async def test_records_that_neither_a_snapshot_nor_the_log_has_are_missed(tmp_path: Path) -> None:
    await fill(tmp_path, range(200))
    for snapshot in list_snapshots(tmp_path):
        snapshot.path.write_bytes(b"")
    with pytest.raises(CorruptLogError, match=r"the log begins at offset \d+, and nothing has the records from 0 on"):
        opened(tmp_path)


async def test_a_snapshot_without_footer_is_not_whole(tmp_path: Path) -> None:
    await fill(tmp_path, range(50))
    path = list_snapshots(tmp_path)[0].path
    footer = [*read_batches(path.read_bytes())][-1]
    path.write_bytes(path.read_bytes()[: footer.position])
    with pytest.raises(CorruptLogError, match="no header or no footer"):
        read_snapshot(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorruptLogError, match="is truncated"):
        read_snapshot(path)


async def test_an_unfinished_snapshot_of_a_crash_is_deleted(tmp_path: Path) -> None:
    part = tmp_path / "00000000000000000010-0000000001.checkpoint.part"
    part.write_bytes(b"half")
    opened(tmp_path)
    assert not part.exists()


async def test_a_snapshot_that_cannot_be_written_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened(tmp_path, SMALL_SNAPSHOTS)
    log.lead(1)
    log.append([config(1)] * 100)
    real_open = os.open

    def full(path: Path, *arguments: int) -> int:
        if str(path).endswith(".checkpoint.part"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real_open(path, *arguments)

    monkeypatch.setattr(os, "open", full)
    log.take_snapshot([config(1)])
    assert not log.snapshot_is_due
    log.append([config(2)])
    await log.close()
    assert "no snapshot of offset 101" in caplog.text
    assert list_snapshots(tmp_path) == []
    assert len([*opened(tmp_path).replay()]) == 101


async def test_time_makes_a_snapshot_due_too(tmp_path: Path) -> None:
    clock = ManualClock()
    log = FileLog(tmp_path, LogSettings(snapshot_interval_ms=60_000), clock)
    log.lead(1)
    log.append([config(1)])
    due = [log.snapshot_is_due]
    clock.advance(60)
    due.append(log.snapshot_is_due)
    log.take_snapshot([config(1)])
    await log.close()
    assert [*due, log.snapshot_is_due] == [False, True, False]
    assert [snapshot.end_offset for snapshot in list_snapshots(tmp_path)] == [2]


async def test_a_snapshot_ends_where_a_batch_does(tmp_path: Path) -> None:
    """As Kafka demands it, though more records come before the writer has time."""
    log = opened(tmp_path)
    log.lead(1)
    log.append([config(1)])
    log.take_snapshot([config(1)])
    log.append([config(2)])
    await log.close()
    (snapshot,) = list_snapshots(tmp_path)
    batches = [batch for segment in list_segments(tmp_path) for batch in read_batches(segment.path.read_bytes())]
    assert snapshot.end_offset in {batch.base_offset for batch in batches}
    assert [*opened(tmp_path).replay()] == [config(1), config(2)]


async def test_a_log_whose_records_are_all_in_a_snapshot_goes_on_after_it(tmp_path: Path) -> None:
    await fill(tmp_path, range(100))
    newest = list_snapshots(tmp_path)[0]
    for segment in list_segments(tmp_path):
        segment.path.unlink()
    end_checkpoint(tmp_path).write_text(f"0\n{newest.end_offset}\n")
    log = opened(tmp_path)
    assert log.end_offset == newest.end_offset
    assert len([*log.replay()]) == len(read_snapshot(newest.path).records)
    assert log.lead(1) > newest.leader_epoch
    await log.close()


@pytest.mark.parametrize("gone", ["newest", "all", "folder"])
async def test_a_log_whose_end_is_gone_is_refused(tmp_path: Path, gone: str) -> None:
    folder = tmp_path / "log"
    await fill(folder, range(100))
    if gone == "folder":
        shutil.rmtree(folder)
    else:
        segments = list_segments(folder)
        newest = max(at for at, segment in enumerate(segments) if segment.path.stat().st_size)
        for segment in segments[newest if gone == "newest" else 0 :]:  # a snapshot at the end leaves an empty one
            segment.path.unlink()
    with pytest.raises(
        CorruptLogError, match=r"according to .* it had all records below 101, so its newest segment is missing"
    ):
        opened(folder)


async def test_a_missing_segment_before_the_newest_snapshot_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The state is whole, but nothing is left to fall back on."""
    await fill(tmp_path, range(100), LogSettings(snapshot_bytes=2_000, segment_bytes=500))
    older, newest = reversed(list_snapshots(tmp_path))
    between = [each for each in list_segments(tmp_path) if older.end_offset <= each.base_offset < newest.end_offset]
    between[0].path.unlink()
    with caplog.at_level(logging.WARNING):
        assert [*replayed(tmp_path).records()] == [config(number) for number in range(100)]
    (message,) = caplog.messages
    between_them = f"{tmp_path}: records between {older.path.name} and {newest.path.name} are missing or damaged."
    assert message.startswith(f"{between_them} The state is complete")


async def test_the_newest_snapshot_may_be_missing(tmp_path: Path) -> None:
    await fill(tmp_path, range(100))
    list_snapshots(tmp_path)[0].path.unlink()
    assert [*replayed(tmp_path).records()] == [config(number) for number in range(100)]


async def test_a_record_of_a_newer_kafka_is_refused(tmp_path: Path) -> None:
    unknown = encode_batch([Record(value=b"\x01\xff\x01\x00")], base_offset=0)
    (tmp_path / "00000000000000000000.log").write_bytes(unknown)
    with pytest.raises(CorruptLogError, match=r"batch of offset 0 holds a record that cannot be read: .*newer Kafka"):
        [*opened(tmp_path).replay()]


async def test_the_voters_of_a_dynamic_quorum_are_in_our_snapshots_too(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    shutil.copytree(FIXTURES / "logs" / "__cluster_metadata-0", folder, copy_function=shutil.copyfile)
    real = read_snapshot(folder / "00000000000000000202-0000000001.checkpoint")
    log, image = opened(folder), MetadataImage()
    for record in log.replay():
        image.apply(record)
    assert log.lead(1) == 3
    log.append([NoOpRecord()])
    log.take_snapshot(image.records())
    await log.close()
    ours = read_snapshot(list_snapshots(folder)[0].path)
    assert ours.quorum == real.quorum
    assert ours.quorum.kraft_version == 1
    assert [*ours.records] == [*image.records()]
    assert decode_quorum_state((folder / "quorum-state").read_bytes())[1] == 1
