"""The records of all partitions in a data directory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.synced_paths import synced_paths
from tests.traced_memory import takes_less

from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.partitions.file_store import FileRecordStore
from kafkawire.broker.partitions.leader_epochs import end_of_epoch
from kafkawire.broker.partitions.segment import SegmentRules
from kafkawire.broker.storage.data_directory import METADATA_FOLDER
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.offset_checkpoints import RECOVERY_POINTS, START_OFFSETS, PartitionName, read_offsets
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord, RemoveTopicRecord, TopicRecord
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

TOPIC: Final = Uuid(b"t" * 16)
OTHER: Final = Uuid(b"o" * 16)
MIB: Final = 1024 * 1024


def controller_with(topic_id: Uuid = TOPIC, log: MetadataLog | None = None) -> Controller:
    controller = Controller(log or MetadataLog(), MetadataImage())
    controller.commit([TopicRecord("t", topic_id), PartitionRecord(0, topic_id), PartitionRecord(1, topic_id)])
    return controller


def store_on(data_dir: Path, controller: Controller | None = None) -> FileRecordStore:
    def fail(error: StorageError) -> None:
        raise AssertionError(str(error))

    return FileRecordStore(data_dir, controller or controller_with(), now_ms=0, producers_expire_ms=0, on_failure=fail)


def batch(size: int) -> RecordBatch:
    return next(read_batches(encode_batch([Record(timestamp=1000, key=b"k", value=bytes(size))])))


def folders(data_dir: Path) -> list[str]:
    return [path.name for path in data_dir.iterdir() if path.is_dir()]


def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    large = batch(100_000)

    async def write_and_read() -> None:
        store = store_on(tmp_path)
        log = store.log(TOPIC, 0)
        for _ in range(300):
            store.append(TOPIC, 0, large, 0, rules=SegmentRules(5 * MIB))
            await log.durable()
        assert log.size > 29_000_000
        at = log.start_offset
        while records := log.read(at, MIB, at_least_one=True):
            at = [*read_batches(records)][-1].last_offset + 1
        assert at == log.end_offset
        await store.close()

    assert takes_less(lambda: asyncio.run(write_and_read()), 8 * MIB)


async def test_appends_of_all_partitions_share_a_write(tmp_path: Path) -> None:
    store = store_on(tmp_path)
    for _ in range(10):
        for partition in (0, 1):
            store.append(TOPIC, partition, batch(10), 0)
    logs = [store.log(TOPIC, partition) for partition in (0, 1)]
    assert [log.high_watermark for log in logs] == [0, 0]
    await logs[0].durable()
    assert [log.high_watermark for log in logs] == [10, 10]
    await store.close()


async def test_folders_of_other_topics_are_set_aside(tmp_path: Path) -> None:
    store = store_on(tmp_path)
    store.append(TOPIC, 0, batch(10), 0)
    await store.close()
    await store_on(tmp_path, controller_with(OTHER)).close()
    (stray,) = folders(tmp_path)
    assert stray.startswith("t-0.")
    assert stray.endswith("-stray")


async def test_records_of_a_topic_that_was_deleted_before_a_crash_are_set_aside(tmp_path: Path) -> None:
    """Another topic of that name must not write after them."""
    store = store_on(tmp_path)
    store.append(TOPIC, 0, batch(10), 0)
    await store.close()
    (tmp_path / "backup-2").mkdir()
    (tmp_path / METADATA_FOLDER).mkdir()
    (tmp_path / METADATA_FOLDER / f"{0:020d}.log").touch()
    await store_on(tmp_path, Controller(MetadataLog(), MetadataImage())).close()
    kept, backup, stray = sorted(folders(tmp_path))
    assert (kept, backup) == (METADATA_FOLDER, "backup-2")
    assert stray.startswith("t-0.")
    assert stray.endswith("-stray")


async def test_a_partition_that_was_deleted_leaves_nothing(tmp_path: Path) -> None:
    controller = controller_with()
    store = store_on(tmp_path, controller)
    controller.subscribe(store.remove)
    store.append(TOPIC, 0, batch(10), 0)
    await store.log(TOPIC, 0).durable()
    waiting = asyncio.ensure_future(store.log(TOPIC, 0).durable())
    store.append(TOPIC, 1, batch(10), 0)
    controller.commit([RemoveTopicRecord(TOPIC)])
    await waiting
    await store.close()
    assert not folders(tmp_path)
    assert read_offsets(tmp_path / RECOVERY_POINTS) == {}


class SlowLog(MetadataLog):
    """A log of metadata whose records are not durable until its disk has written them, or has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.get_running_loop().create_future()

    async def durable(self, offset: int) -> None:
        await asyncio.shield(self.written)


@pytest.mark.parametrize("fails", [False, True])
async def test_records_of_a_deleted_topic_are_not_acknowledged_before_the_deletion_is_durable(
    tmp_path: Path, fails: bool
) -> None:
    """After a crash before that, the topic exists again, and lacks them."""
    log = SlowLog()
    controller, failures = controller_with(log=log), list[StorageError]()
    store = FileRecordStore(tmp_path, controller, now_ms=0, producers_expire_ms=0, on_failure=failures.append)
    controller.subscribe(store.remove)
    store.append(TOPIC, 0, batch(10), 0)
    waiting = asyncio.ensure_future(store.log(TOPIC, 0).durable())
    controller.commit([RemoveTopicRecord(TOPIC)])
    await asyncio.wait((waiting,), timeout=0.1)
    assert not waiting.done()
    if fails:
        log.written.set_exception(StorageError("the disk is full"))
        with pytest.raises(StorageError, match="full"):
            await waiting
    else:
        log.written.set_result(None)
        await waiting
    await store.close()
    assert bool(failures) == fails


async def test_checkpoints_of_internal_topics_stay(tmp_path: Path) -> None:
    (tmp_path / RECOVERY_POINTS).write_text("0\n2\n__consumer_offsets 3 17\ngone 0 5\n")
    store = store_on(tmp_path)
    store.append(TOPIC, 0, batch(10), 0)
    await store.log(TOPIC, 0).durable()
    await store.log(TOPIC, 0).delete_before(1)
    await store.close()
    assert read_offsets(tmp_path / RECOVERY_POINTS) == {
        PartitionName("__consumer_offsets", 3): 17,
        PartitionName("t", 0): 1,
    }
    assert read_offsets(tmp_path / START_OFFSETS) == {PartitionName("t", 0): 1}


async def test_a_write_that_fails_ends_all(tmp_path: Path) -> None:
    failures: list[StorageError] = []
    store = FileRecordStore(tmp_path, controller_with(), now_ms=0, producers_expire_ms=0, on_failure=failures.append)
    (tmp_path / "t-0").write_text("not a folder")
    store.append(TOPIC, 0, batch(10), 0)
    with pytest.raises(StorageError, match=r"writing failed: .*; the broker has stopped"):
        await store.log(TOPIC, 0).durable()
    with pytest.raises(StorageError):
        store.append(TOPIC, 1, batch(10), 0)
    with pytest.raises(StorageError):
        await store.log(TOPIC, 1).durable()
    assert len(failures) == 1
    await store.close()


async def test_leader_epochs_are_known_after_a_restart(tmp_path: Path) -> None:
    for epoch in (0, 4):
        store = store_on(tmp_path)
        store.append(TOPIC, 0, batch(10), epoch)
        await store.close()
    log = store_on(tmp_path).log(TOPIC, 0)
    assert [end_of_epoch(log, epoch, 6) for epoch in (0, 4, 6)] == [(0, 1), (4, 2), (6, 2)]


async def test_the_folder_of_a_partition_is_durable_with_its_first_record(tmp_path: Path) -> None:
    store = store_on(tmp_path)
    with synced_paths() as synced:
        store.append(TOPIC, 0, batch(10), 0)
        await store.log(TOPIC, 0).durable()
    assert {tmp_path, tmp_path / "t-0", tmp_path / "t-0" / f"{0:020d}.log"} <= synced
    await store.close()
