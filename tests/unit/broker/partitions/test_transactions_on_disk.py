"""Files of transactions beside segments: when they are made, read, replaced and deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.unit.broker.partitions.test_file_store import TOPIC, controller_with
from tests.unit.broker.partitions.test_transactions_of_a_log import batch

from kafkawire.broker.partitions.file_store import FileRecordStore
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.producers import ProducerState
from kafkawire.broker.partitions.segment import SegmentRules
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.transaction_index import AbortedTransaction

ONE_BATCH = SegmentRules(100)
DAY = 86_400_000


def store_on(data_dir: Path, *, now_ms: int = 0) -> FileRecordStore:
    def fail(error: StorageError) -> None:
        raise AssertionError(str(error))

    return FileRecordStore(data_dir, controller_with(), now_ms=now_ms, producers_expire_ms=DAY, on_failure=fail)


def write(log: PartitionLog, producer_id: int, sequence: int) -> None:
    written = batch(producer_id, sequence)
    log.append(written, 0, ONE_BATCH, verification=log.producers.to_verify(written, is_strict=False))


def end(log: PartitionLog, producer_id: int, *, committed: bool) -> None:
    log.append_marker(
        producer_id, 0, committed=committed, coordinator_epoch=3, leader_epoch=0, now_ms=5000, rules=ONE_BATCH
    )


@asynccontextmanager
async def opened(data_dir: Path, *, now_ms: int = 0) -> AsyncIterator[PartitionLog]:
    store = store_on(data_dir, now_ms=now_ms)
    yield store.log(TOPIC, 0)
    await store.close()


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A segment for each offset: 7 aborts 0 at 2; 8 has 1 open; 9 writes 3, so that no end is in the last segment."""
    async with opened(tmp_path) as log:
        write(log, 7, 0)
        write(log, 8, 0)
        end(log, 7, committed=False)
        write(log, 9, 0)
        await log.durable()
    return tmp_path / "t-0"


def names(folder: Path, suffix: str) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob(f"*{suffix}"))


ABORTED = AbortedTransaction(7, 0, 2, 1)


async def test_files_are_made_when_a_segment_ends(folder: Path) -> None:
    assert names(folder, ".txnindex") == [2]
    assert names(folder, ".snapshot") == [1, 2, 3]


async def test_deleted_segments_leave_no_files(folder: Path) -> None:
    async with opened(folder.parent) as log:
        await log.delete_segments(3)
        assert log.aborted_in(0, 4) == []
        assert log.last_stable_offset == 3
    assert names(folder, ".txnindex") == []
    assert names(folder, ".snapshot") == [3]


async def test_deleted_segments_leave_the_transactions_that_are_open_after_them(folder: Path) -> None:
    """All segments may be deleted: the one that follows them has no record yet."""
    async with opened(folder.parent) as log:
        log.roll(0)
        await log.delete_segments(4)
    assert names(folder, ".snapshot") == [4]
    async with opened(folder.parent) as log:
        assert [log.producers.transactions.first_offset(each) for each in (7, 8, 9)] == [None, 1, 3]


async def test_the_state_at_the_end_of_a_segment_does_not_wait_for_the_next_record(folder: Path) -> None:
    async with opened(folder.parent) as log:
        log.roll(0)
    assert names(folder, ".snapshot") == [1, 2, 3, 4]


@pytest.mark.parametrize("now_ms", [0, 30 * DAY], ids=["read", "not read"])
async def test_a_restart_changes_nothing(folder: Path, now_ms: int) -> None:
    """After a month the segments before the last are not read: what matters of them is in the files."""
    async with opened(folder.parent, now_ms=now_ms) as log:
        assert log.aborted_in(0, 4) == [ABORTED]
        assert log.last_stable_offset == 1
        states = {state.producer_id: state for state in log.producers.states()}
    assert states[8] == ProducerState(8, 0, 0, 1000, -1, 1)
    assert (7 in states) is (now_ms == 0)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("change", [Path.unlink, truncate])
@pytest.mark.parametrize("now_ms", [0, 30 * DAY])
async def test_snapshots_that_are_missing_or_damaged_are_made_from_the_records(
    folder: Path, change: Callable[[Path], None], now_ms: int
) -> None:
    paths = [folder / f"{offset:020d}.snapshot" for offset in (1, 2, 3)]
    before = [path.read_bytes() for path in paths]
    for path in paths:
        change(path)
    for _ in range(2):
        async with opened(folder.parent, now_ms=now_ms) as log:
            assert log.aborted_in(0, 4) == [ABORTED]
            assert log.last_stable_offset == 1
        assert [path.read_bytes() for path in paths] == before


@pytest.mark.parametrize("now_ms", [0, 30 * DAY])
async def test_a_damaged_list_is_made_from_the_records(folder: Path, now_ms: int) -> None:
    path = folder / f"{2:020d}.txnindex"
    before = path.read_bytes()
    truncate(path)
    async with opened(folder.parent, now_ms=now_ms) as log:
        assert log.aborted_in(0, 4) == [ABORTED]
    assert path.read_bytes() == before


async def test_a_list_in_a_file_counts_for_more_than_the_records_that_are_left(folder: Path) -> None:
    """The transaction began in a segment that is deleted."""
    async with opened(folder.parent) as log:
        await log.delete_segments(1)
    (folder / f"{1:020d}.snapshot").unlink()
    async with opened(folder.parent) as log:
        assert log.aborted_in(0, 4) == [ABORTED]


async def test_a_cut_removes_snapshots_after_it(folder: Path) -> None:
    (folder.parent / "recovery-point-offset-checkpoint").unlink()
    truncate(folder / f"{2:020d}.log")
    async with opened(folder.parent) as log:
        assert log.end_offset == 2
        assert names(folder, ".snapshot") == [1, 2]
        assert log.producers.transactions.first_offset(7) == 0


async def test_a_segment_that_replaces_others_has_their_list(folder: Path) -> None:
    """The first of them had none."""
    async with opened(folder.parent) as log:
        kept = [one for one in log.batches(0) if one.base_offset < 3]
        await log.rewrite(log.segments[:3], iter(kept), [ABORTED])
        assert log.aborted_in(0, 4) == log.aborted_by_read(0, 10) == [ABORTED]
    assert names(folder, ".txnindex") == [0]
    async with opened(folder.parent) as log:
        assert log.aborted_in(0, 4) == [ABORTED]
