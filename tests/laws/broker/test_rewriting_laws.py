"""The logs of an internal topic have the state of its coordinator, whatever changes while they are rewritten."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled

from kafkawire.broker import fair_slices
from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.internal_topics import file_logs, logs as memory_logs
from kafkawire.broker.internal_topics.entries import RecordedState, Written
from kafkawire.broker.internal_topics.file_logs import FileInternalLogs
from kafkawire.broker.internal_topics.logs import InternalLogs
from kafkawire.broker.internal_topics.topic import partition_of
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue, PartitionRecord

PARTITIONS = 2
GROUPS = "abcdef"

Step: TypeAlias = tuple[str, str, int]
"""What happens, in which group, and to which partition or producer."""

KINDS = ("commit", "delete", "member", "pending", "end", "abort")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(GROUPS), st.integers(0, 2)), max_size=25)


@contextmanager
def parts_of(fewest: int) -> Iterator[None]:
    """Parts have a few changes, and others have their turn after each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fair_slices, "SLICE", -1)
        for module in (file_logs, memory_logs):
            patch.setattr(module, "_ENTRIES_AT_ONCE", fewest)
        yield


def topic() -> Topic:
    made = Topic("__consumer_offsets", Uuid(b"o" * 16))
    for number in range(PARTITIONS):
        made.partitions[number] = PartitionRecord(number, made.topic_id, (1,), (1,), leader=1)
    return made


class Coordinated:
    """Logs and their state, which change together."""

    def __init__(self, logs: InternalLogs) -> None:
        self.logs = logs
        self.state = GroupsState()
        self.of = topic()
        self._times = count(1)

    def now_ms(self) -> int:
        return next(self._times)

    def take(self, step: Step) -> None:
        kind, group, number = step
        partition, producer = partition_of(group, PARTITIONS), Producer(number, 0)
        if kind in {"end", "abort"}:
            committed = kind == "end"
            owners = [each for each in self.state.groups_in(number) if partition_of(each, PARTITIONS) == partition]
            self.logs.append_marker(partition, producer, self.now_ms(), committed=committed, coordinator_epoch=0)
            self.state.end(number, owners, committed=committed)
            return
        now = self.now_ms()
        value = OffsetCommitValue(now, -1, "", 1000)
        in_transaction = producer if kind == "pending" else None
        changes = {
            "commit": (OffsetCommitKey(group, "t", number), value),
            "delete": (OffsetCommitKey(group, "t", number), None),
            "member": (GroupMetadataKey(group), GroupMetadataValue("consumer", now)),
            "pending": (OffsetCommitKey(group, "t", now % 3), value),
        }
        self.logs.append(partition, [changes[kind]], now, in_transaction)
        self.state.apply(*changes[kind], in_transaction)

    async def live(self, before: Sequence[Step], meanwhile: Sequence[Step]) -> None:
        """Take some steps, then rewrite the logs and take one each time that the rewriting lets others have a turn."""
        await self.logs.open(self.of, range(PARTITIONS))
        for step in before:
            self.take(step)
        rewriting = asyncio.create_task(self.logs.rewrite(self.of, self.state, self.now_ms))
        for step in meanwhile:
            await asyncio.sleep(0)
            self.take(step)
        await rewriting
        await self.logs.durable()


def entries_of(state: RecordedState) -> Collection[Written]:
    return {(each.key, each.producer): each for each in state.entries()}.values()


def read(folder: Path) -> GroupsState:
    state = GroupsState()
    assert FileInternalLogs(folder, GROUP_RECORDS, RecordStore(), topic()).read(state)
    return state


@settings(max_examples=scaled(100))
@given(before=STEPS, meanwhile=STEPS, fewest=st.integers(1, 4))
def test_files_have_the_state(before: Sequence[Step], meanwhile: Sequence[Step], fewest: int) -> None:
    with tempfile.TemporaryDirectory() as directory, parts_of(fewest):

        async def live() -> GroupsState:
            coordinated = Coordinated(FileInternalLogs(Path(directory), GROUP_RECORDS, RecordStore(), topic()))
            await coordinated.live(before, meanwhile)
            await coordinated.logs.close()
            return coordinated.state

        state = asyncio.run(live())
        assert sorted(map(str, entries_of(read(Path(directory))))) == sorted(map(str, entries_of(state)))


@settings(max_examples=scaled(100))
@given(before=STEPS, meanwhile=STEPS, fewest=st.integers(1, 4))
def test_memory_has_the_state(before: Sequence[Step], meanwhile: Sequence[Step], fewest: int) -> None:
    """As clients read it."""
    store = RecordStore()

    async def live() -> Coordinated:
        coordinated = Coordinated(InternalLogs(GROUP_RECORDS, store))
        await coordinated.live(before, meanwhile)
        return coordinated

    with parts_of(fewest):
        coordinated = asyncio.run(live())
    with tempfile.TemporaryDirectory() as directory:
        for partition, log in store.logs_of(coordinated.of.topic_id).items():
            folder = Path(directory) / f"__consumer_offsets-{partition}"
            folder.mkdir()
            batches = [*log.batches(log.start_offset)]
            first = batches[0].base_offset if batches else 0
            (folder / f"{first:020}.log").write_bytes(b"".join(batch.to_bytes() for batch in batches))
        state = read(Path(directory))
    assert sorted(map(str, entries_of(state))) == sorted(map(str, entries_of(coordinated.state)))
