"""The logs of an internal topic in a data directory: which folders they have, and when these go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.internal_topics.file_logs import FileInternalLogs
from kafkawire.broker.internal_topics.partition_log import InternalPartitionLog
from kafkawire.broker.internal_topics.topic import partition_of
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.partition_files import read_topic_id
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue, PartitionRecord

OFFSETS = "__consumer_offsets"
PARTITIONS = 3
GROUPS = tuple(
    next(f"g-{number}" for number in range(100) if partition_of(f"g-{number}", PARTITIONS) == partition)
    for partition in range(PARTITIONS)
)
"""A group in each partition."""


def topic(topic_id: bytes = b"o" * 16, *, leader_epoch: int = 0) -> Topic:
    made = Topic(OFFSETS, Uuid(topic_id))
    for number in range(PARTITIONS):
        made.partitions[number] = PartitionRecord(
            number, made.topic_id, (1,), (1,), leader=1, leader_epoch=leader_epoch
        )
    return made


def opened(data_dir: Path, of: Topic | None, store: RecordStore | None = None) -> FileInternalLogs:
    return FileInternalLogs(data_dir, GROUP_RECORDS, store or RecordStore(), of)


def add(logs: FileInternalLogs, group: str, offset: int, *, partition: int | None = None, timestamp: int = 10) -> None:
    """Append a commit, in the partition of its group or in another one."""
    change = OffsetCommitKey(group, "t", 0), OffsetCommitValue(offset, -1, "", 1000)
    logs.append(partition_of(group, PARTITIONS) if partition is None else partition, [change], timestamp)


def read(logs: FileInternalLogs) -> tuple[bool, Mapping[str, int]]:
    """Whether each group is in its partition, and what the groups have committed."""
    state = GroupsState()
    in_place = logs.read(state)
    return in_place, {
        group_id: group.commits["t", 0].offset for group_id, group in state.by_id.items() if group.commits
    }


def folders(data_dir: Path) -> Sequence[str]:
    return sorted(path.name for path in data_dir.iterdir())


@pytest.mark.parametrize(
    ("name", "is_log"),
    [
        ("0", True),
        ("2", True),
        ("00", False),
        ("01", False),
        ("", False),
        ("x", False),
        ("1x", False),
        ("-1", False),
        ("12345678901", False),
        ("1.0123456789abcdef0123456789abcdef-delete", False),
    ],
)
async def test_only_folders_with_a_number_are_partitions(tmp_path: Path, name: str, *, is_log: bool) -> None:
    """Others are left as they are, also a folder of another topic whose name begins alike, and a file."""
    for each in (f"{OFFSETS}-{name}", f"{OFFSETS}x-0", f"x{OFFSETS}-0"):
        (tmp_path / each).mkdir()
    (tmp_path / f"{OFFSETS}-1").touch()
    before = folders(tmp_path)
    logs = opened(tmp_path, topic())
    assert folders(tmp_path) == before
    assert logs.is_open(topic(), ()) is True
    assert not logs.is_open(topic(), {0})
    assert logs.unregistered is False
    await logs.close()
    has_files = any((tmp_path / f"{OFFSETS}-{name}").iterdir())
    assert has_files is is_log


@pytest.mark.parametrize(
    ("partition", "topic_id", "stays"),
    [(0, None, True), (0, b"o", True), (2, b"o", True), (3, b"o", False), (3, None, False), (0, b"x", False)],
)
async def test_folders_of_no_partition_of_the_topic_are_set_aside(
    tmp_path: Path, partition: int, topic_id: bytes | None, *, stays: bool
) -> None:
    folder = tmp_path / f"{OFFSETS}-{partition}"
    folder.mkdir()
    if topic_id is not None:
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {Uuid(topic_id * 16)}")
    logs = opened(tmp_path, topic())
    assert folder.exists() is stays
    assert len(folders(tmp_path)) == 1
    assert logs.unregistered is False
    await logs.close()


@pytest.mark.parametrize(("partition", "topic_id", "stays"), [(0, None, True), (0, b"o", False), (1, None, False)])
async def test_without_a_topic_only_commits_of_an_earlier_version_stay(
    tmp_path: Path, partition: int, topic_id: bytes | None, *, stays: bool
) -> None:
    folder = tmp_path / f"{OFFSETS}-{partition}"
    folder.mkdir()
    if topic_id is not None:
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {Uuid(topic_id * 16)}")
    logs = opened(tmp_path, None)
    assert (folder.exists(), logs.unregistered) == (stays, stays)
    await logs.close()


async def test_logs_are_open_once_they_lead(tmp_path: Path) -> None:
    store, of = RecordStore(), topic()
    logs = opened(tmp_path, of, store)
    await logs.open(of, {0, 2})
    assert [logs.is_open(of, {number}) for number in range(PARTITIONS)] == [True, False, True]
    assert logs.is_open(of, {0, 2})
    assert not logs.is_open(of, {0, 1, 2})
    assert not logs.is_open(topic(b"x" * 16), {0})
    assert sorted(store.logs_of(of.topic_id)) == [0, 2]
    for number, group in enumerate(GROUPS):
        await logs.open(of, {number})
        for offset in range(number + 1):
            add(logs, group, offset)
    assert logs.size == 6
    await logs.durable()
    assert [store.log(of.topic_id, number).end_offset for number in range(PARTITIONS)] == [1, 2, 3]
    await logs.close()
    again = opened(tmp_path, of)
    assert again.size == 6
    assert read(again) == (True, {group: number for number, group in enumerate(GROUPS)})
    await again.lead(of)
    assert again.is_open(of, range(PARTITIONS))
    await again.close()


@pytest.mark.parametrize(
    ("times", "offset"),
    [
        (((0, 10, 1), (1, 20, 2)), 2),
        (((0, 20, 1), (1, 10, 2)), 1),
        (((0, 10, 1), (1, 20, 2), (0, 30, 3)), 3),
        (((0, 30, 1), (1, 20, 2), (0, 10, 3)), 3),  # the clock went back: the order within a log stays
        (((0, 30, 1), (0, 10, 3), (1, 29, 2)), 3),
        (((0, 30, 1), (0, 10, 3), (1, 31, 2)), 2),
        (((1, 10, 1), (1, 11, 2)), 2),
        (((1, 0, 1), (0, 1, 2)), 2),
        (((1, -1, 1), (0, 0, 2)), 2),  # without a timestamp
    ],
)
async def test_of_records_in_several_partitions_the_last_by_time_counts(
    tmp_path: Path, times: Sequence[tuple[int, int, int]], offset: int
) -> None:
    """``times`` has the partition, timestamp and offset of each commit of one group."""
    logs, of = opened(tmp_path, topic()), topic()
    await logs.open(of, range(PARTITIONS))
    for partition, timestamp, each in times:
        add(logs, GROUPS[0], each, partition=partition, timestamp=timestamp)
        await logs.durable()
    await logs.close()
    again = opened(tmp_path, of)
    assert read(again) == (False, {GROUPS[0]: offset})
    await again.close()


async def test_a_rewritten_log_has_each_group_in_its_partition(tmp_path: Path) -> None:
    logs, of, state = opened(tmp_path, topic()), topic(), GroupsState()
    await logs.open(of, {0})
    for number, group in enumerate(GROUPS):
        for offset in (0, number):
            change = OffsetCommitKey(group, "t", 0), OffsetCommitValue(offset, -1, "", 1000)
            logs.append(0, [change], 10)
            state.apply(*change)
    await logs.rewrite(of, state, lambda: 20)
    assert logs.size == 3
    assert logs.is_open(of, range(PARTITIONS))
    await logs.close()
    again = opened(tmp_path, of)
    assert read(again) == (True, {group: number for number, group in enumerate(GROUPS)})
    await again.close()


@pytest.mark.parametrize("is_safe", [True, False])
async def test_folders_of_a_deleted_topic_go_when_its_deletion_is_durable(tmp_path: Path, *, is_safe: bool) -> None:
    """They stay if it never will be, since the metadata log has failed."""
    logs, of, other = opened(tmp_path, topic()), topic(), topic(b"x" * 16)
    await logs.open(of, {0, 1})
    add(logs, GROUPS[0], 5)
    may_go = asyncio.Event()

    async def allowed() -> None:
        await may_go.wait()
        if not is_safe:
            raise StorageError("the metadata log has failed")

    logs.drop(allowed)
    assert logs.size == 0
    assert not logs.is_open(of, ())
    assert not logs.is_open(other, ())
    opening = asyncio.ensure_future(logs.open(other, {2}))
    for _ in range(20):
        await asyncio.sleep(0)
    assert folders(tmp_path) == [f"{OFFSETS}-0", f"{OFFSETS}-1"]
    may_go.set()
    await opening
    assert folders(tmp_path) == [*([] if is_safe else [f"{OFFSETS}-0", f"{OFFSETS}-1"]), f"{OFFSETS}-2"]
    assert logs.is_open(other, {2})
    await logs.close()


async def test_a_topic_that_is_deleted_twice_loses_both_its_logs(tmp_path: Path) -> None:
    logs = opened(tmp_path, topic())
    order: list[str] = []

    async def allowed(name: str) -> None:
        await asyncio.sleep(0)
        order.append(name)

    for name in ("first", "second"):
        logs.drop(partial(allowed, name))
    await logs.close()
    assert order == ["first", "second"]
    assert folders(tmp_path) == []


async def test_a_topic_that_is_deleted_while_a_log_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of a topic that is made afterwards is a new one."""
    made, may_go_on = threading.Event(), threading.Event()
    lead = InternalPartitionLog.lead

    def lead_slowly(log: InternalPartitionLog, topic_id: Uuid, leader_epoch: int) -> None:
        lead(log, topic_id, leader_epoch)
        made.set()
        assert may_go_on.wait(60)

    logs, of, other = opened(tmp_path, topic()), topic(), topic(b"x" * 16)
    with monkeypatch.context() as patched:
        patched.setattr(InternalPartitionLog, "lead", lead_slowly)
        opening = asyncio.create_task(logs.open(of, {1}))
        assert await asyncio.to_thread(made.wait, 60)
        logs.drop(_at_once)
        may_go_on.set()
        await opening
    assert (logs.is_open(of, ()), logs.size, folders(tmp_path)) == (False, 0, [])
    await logs.open(other, {1})
    assert logs.is_open(other, {1})
    assert read_topic_id(tmp_path / f"{OFFSETS}-1") == other.topic_id
    await logs.close()


async def test_a_topic_that_is_deleted_while_its_logs_are_rewritten_is_not_rewritten(tmp_path: Path) -> None:
    """Its deletion waits for the rewriting, which waits for nothing then."""
    logs, of, state = opened(tmp_path, topic()), topic(), GroupsState()
    await logs.open(of, range(PARTITIONS))
    for group in GROUPS:
        state.apply(OffsetCommitKey(group, "t", 0), OffsetCommitValue(1))
    rewriting = asyncio.create_task(logs.rewrite(of, state, lambda: 20))

    async def allowed() -> None:
        await rewriting

    await asyncio.sleep(0)
    logs.drop(allowed)
    async with asyncio.timeout(60):
        await logs.open(topic(b"x" * 16), {0})
    assert logs.size == 0
    assert folders(tmp_path) == [f"{OFFSETS}-0"]
    await logs.close()


async def _at_once() -> None:
    """Nothing has to be awaited."""
