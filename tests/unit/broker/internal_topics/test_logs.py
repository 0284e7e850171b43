"""Logs in memory and in files have the same records, for clients that read them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.broker.internal_topics.test_file_logs import GROUPS, PARTITIONS, opened, topic

from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.groups.state import GroupsState
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.broker.internal_topics.logs import InternalLogs
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.wire.batches import RecordBatch, TimestampType, decode_records

PRODUCER = Producer(1 << 40, 1000)
TIMESTAMP = 1 << 40


def commit(group: str, offset: int) -> Change:
    return OffsetCommitKey(group, "t", 0), OffsetCommitValue(offset, -1, "", 1000)


def read(store: RecordStore, topic_id: Uuid) -> Sequence[tuple[int, Sequence[RecordBatch]]]:
    return [(partition, [*log.batches(log.start_offset)]) for partition, log in sorted(store.logs_of(topic_id).items())]


def seen(batch: RecordBatch) -> tuple[object, ...]:
    """What clients see of a batch."""
    return (
        batch.base_offset, batch.last_offset, batch.partition_leader_epoch, batch.producer_id, batch.producer_epoch,
        batch.is_control, batch.is_transactional, batch.timestamp_type, batch.max_timestamp,
        [(record.offset, record.timestamp, record.key, record.value) for record in decode_records(batch)],
    )  # fmt: skip


@pytest.mark.parametrize("leader_epoch", [0, 3])
async def test_logs_in_memory_have_the_records_of_logs_in_files(tmp_path: Path, leader_epoch: int) -> None:
    of = topic(leader_epoch=leader_epoch)
    stores = RecordStore(), RecordStore()
    for logs in (InternalLogs(GROUP_RECORDS, stores[0]), opened(tmp_path, of, stores[1])):
        state = GroupsState()
        assert (logs.size, logs.unregistered) == (0, False)
        await logs.open(of, range(PARTITIONS))
        assert logs.is_open(of, range(PARTITIONS))
        assert logs.is_open(topic(), range(PARTITIONS)), "as the metadata has it after another change"
        assert not logs.is_open(topic(b"x" * 16), range(PARTITIONS))
        for number, group in enumerate(GROUPS):
            for offset in range(number + 1):
                logs.append(number, [commit(group, offset), commit(f"{group}x", offset)], TIMESTAMP + offset)
                await logs.durable()
            state.apply(*commit(group, number))
            logs.append(number, [commit(group, 9)], TIMESTAMP + 8, PRODUCER)
            await logs.durable()
            committed = bool(number)
            logs.append_marker(number, PRODUCER, TIMESTAMP + 9, committed=committed, coordinator_epoch=number)
            await logs.durable()
        assert logs.size == 2 * (1 + 2 + 3) + PARTITIONS * 2
    for partition in range(PARTITIONS):
        each = [store.log(of.topic_id, partition) for store in stores]
        found = [[seen(batch) for batch in log.batches(0)] for log in each]
        assert found[0] == found[1]
        *_, marker = each[0].batches(0)
        assert marker.is_control
        assert (marker.timestamp_type, marker.partition_leader_epoch) == (TimestampType.CREATE_TIME, leader_epoch)
        assert [log.end_offset for log in each] == [2 * (partition + 1) + 2] * 2
        assert each[0].last_stable_offset == each[1].last_stable_offset == each[0].end_offset
    await logs.close()


async def test_rewritten_logs_in_memory_have_the_records_of_those_in_files(tmp_path: Path) -> None:
    """Those of a transaction that is open too; the offsets go on."""
    of, found = topic(), []
    for in_files in (False, True):
        store, state = RecordStore(), GroupsState()
        logs = opened(tmp_path, of, store) if in_files else InternalLogs(GROUP_RECORDS, store)
        await logs.open(of, {0, 1})
        changes = [(commit(group, offset), None) for group in GROUPS for offset in range(3)]
        for change, producer in (*changes, (commit(GROUPS[0], 7), PRODUCER)):
            logs.append(0, [change], TIMESTAMP, producer)
            await logs.durable()
            state.apply(*change, producer)
        await logs.rewrite(of, state, lambda: TIMESTAMP + 5)
        await logs.durable()
        assert logs.size == state.size == 4
        found.append({partition: [seen(batch) for batch in batches] for partition, batches in read(store, of.topic_id)})
        await logs.close()
    assert {partition: len(batches) for partition, batches in found[0].items()} == {0: 2, 1: 1, 2: 1}
    assert found[0] == found[1]


async def test_a_log_in_memory_is_open_with_its_topic_alone() -> None:
    logs, of = InternalLogs(GROUP_RECORDS, RecordStore()), topic()
    assert not logs.is_open(of, {0})
    with pytest.raises(AssertionError, match=r"^partition 0 of __consumer_offsets is not open$"):
        logs.append(0, [commit("g", 1)], TIMESTAMP)
    await logs.lead(of)
    logs.append(0, [commit("g", 1)], TIMESTAMP)
    assert (logs.is_open(of, {0}), logs.size) == (True, 1)

    async def allowed() -> None:
        pass

    logs.drop(allowed)
    assert (logs.is_open(of, {0}), logs.size) == (False, 0)


async def test_logs_in_memory_that_are_dropped_while_they_are_rewritten_are_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.logs._ENTRIES_AT_ONCE", 1)
    monkeypatch.setattr("kafkawire.broker.fair_slices.SLICE", -1)
    store, of, state = RecordStore(), topic(), GroupsState()
    logs = InternalLogs(GROUP_RECORDS, store)
    await logs.lead(of)
    for group in GROUPS:
        state.apply(*commit(group, 1))
    rewriting = asyncio.create_task(logs.rewrite(of, state, lambda: TIMESTAMP))
    for _ in range(100):
        await asyncio.sleep(0)
        if store.logs_of(of.topic_id):
            break

    async def allowed() -> None:
        pass

    logs.drop(allowed)
    await rewriting
    assert len(store.logs_of(of.topic_id)) == 1, "the rest was left out"
