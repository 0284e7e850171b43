"""What is recorded of share partitions: updates, snapshots after many of them, and where a restart begins."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from tests.embedded.connection import connected_to
from tests.embedded.share_fetching import ACCEPT, GROUP, RELEASE, Member, create, produce

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.share_coordinator.state import SharePartitionKey, SharesState, snapshot
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch, combined
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
)
from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import decode_records, read_batches

KEY = SharePartitionKey("g", Uuid(b"0123456789abcdef"), 3)


def test_the_owner_is_kafkas_key_of_the_coordinator() -> None:
    assert KEY.owner == "g:MDEyMzQ1Njc4OWFiY2RlZg:3"


def test_at_each_offset_the_higher_delivery_count_wins() -> None:
    available, acknowledged = RecordState.AVAILABLE, RecordState.ACKNOWLEDGED
    before = (StateBatch(0, 9, available, 2), StateBatch(20, 29, acknowledged, 1))
    assert combined(before, (StateBatch(5, 22, acknowledged, 1), StateBatch(3, 3, acknowledged, 2)), 1) == (
        StateBatch(1, 2, available, 2),
        StateBatch(3, 3, acknowledged, 2),
        StateBatch(4, 9, available, 2),
        StateBatch(10, 29, acknowledged, 1),
    )


@pytest.mark.parametrize("by", [0, 1000, 1 << 40])
def test_batches_that_begin_at_the_same_offset_are_combined_wherever_that_is(by: int) -> None:
    available, acknowledged = RecordState.AVAILABLE, RecordState.ACKNOWLEDGED

    def batch(first: int, last: int, state: int, count: int) -> StateBatch:
        return StateBatch(first + by, last + by, state, count)

    earlier = (batch(5, 9, available, 1), batch(12, 12, available, 3))
    new = (batch(5, 7, acknowledged, 2), batch(5, 6, available, 3), batch(12, 14, acknowledged, 3))
    assert combined(earlier, new, 5 + by) == (
        batch(5, 6, available, 3),
        batch(7, 7, acknowledged, 2),
        batch(8, 9, available, 1),
        batch(12, 14, acknowledged, 3),
    )


def test_an_update_without_a_start_offset_or_leader_keeps_them() -> None:
    shares = SharesState()
    shares.apply(ShareSnapshotKey(*KEY), ShareSnapshotValue(4, 2, 7, 5, 0))
    shares.apply(ShareUpdateKey(*KEY), ShareUpdateValue(4, -1, -1, 1, (ShareUpdateValue.StateBatch(6, 6, 2, 1),)))
    state = shares.by_key[KEY]
    assert (state.summary.start_offset, state.summary.leader_epoch, state.updates) == (5, 7, 1)
    again = SharesState()
    for written in shares.entries():
        again.apply(*written)
    assert snapshot(again.by_key[KEY]) == snapshot(state)
    shares.apply(ShareSnapshotKey(*KEY), None)
    assert not shares.by_key
    assert shares.highest_epochs(KEY) == (-1, -1)


def test_an_update_whose_snapshot_was_deleted_begins_a_state_without_times() -> None:
    """As in Apache Kafka (``ShareGroupOffset.fromRecord``)."""
    shares = SharesState()
    batch = ShareUpdateValue.StateBatch(6, 6, 2, 1)
    shares.apply(ShareUpdateKey(*KEY), ShareUpdateValue(4, 7, 5, 1, (batch,)))
    whole = ShareSnapshotValue(4, 0, 7, 5, 1, 0, 0, (ShareSnapshotValue.StateBatch(6, 6, 2, 1),))
    assert snapshot(shares.by_key[KEY]) == whole
    assert shares.highest_epochs(KEY) == (7, -1)


def written(folder: Path) -> list[Message]:
    """The values of the records in ``__share_group_state``."""
    segments = sorted(folder.glob("__share_group_state-*/*.log"))
    batches = [batch for path in segments for batch in read_batches(path.read_bytes())]
    found = (
        decode_coordinator_record("__share_group_state", record.key, record.value)
        for batch in batches
        for record in decode_records(batch)
    )
    return [record.value for record in found if isinstance(record, CoordinatorRecord) and record.value is not None]


async def test_a_snapshot_is_written_after_many_updates(tmp_path: Path) -> None:
    properties = {
        "share.coordinator.snapshot.update.records.per.snapshot": "2",
        "share.coordinator.state.topic.num.partitions": "1",
    }
    async with EmbeddedBroker(properties, data_dir=tmp_path) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 8)
        member = Member(client, topic_id)
        await member.fetch()
        for offset in range(5):
            assert not await member.acknowledge((offset, offset, [ACCEPT]))
    update, whole, values = ShareUpdateValue, ShareSnapshotValue, written(tmp_path)
    kinds = [whole, update, update, whole, update, update, whole]  # the last as the connection ends
    assert [type(value) for value in values] == kinds
    epochs = [value.snapshot_epoch for value in values if isinstance(value, (ShareUpdateValue, ShareSnapshotValue))]
    assert epochs == [0, 0, 0, 1, 1, 1, 2]
    async with EmbeddedBroker(properties, data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await Member(client, topic_id).fetch() == [(5, 7, 2)]


async def test_records_that_were_skipped_before_a_crash_are_delivered_before_later_ones(tmp_path: Path) -> None:
    running, crashed = tmp_path / "running", tmp_path / "crashed"
    async with EmbeddedBroker({}, data_dir=running) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 2, 2, 2)
        member = Member(client, topic_id)
        assert await member.fetch(batch_size=1) == [(0, 1, 1), (2, 3, 1), (4, 5, 1)]
        assert not await member.acknowledge((0, 1, [RELEASE]), (4, 5, [ACCEPT]))
        await asyncio.to_thread(shutil.copytree, running, crashed)
    async with EmbeddedBroker({}, data_dir=crashed) as broker, connected_to(broker) as client:
        member = Member(client, topic_id)
        await produce(client, 2)
        assert await member.fetch() == [(0, 1, 2), (2, 3, 1), (6, 7, 1)]
        assert not await member.acknowledge((0, 3, [ACCEPT]))
        assert not await member.acknowledge((6, 7, [RELEASE]))
        assert await start_offset(member) == 6


async def start_offset(member: Member) -> int:
    """The start offset as it is recorded."""
    asked = ReadShareGroupStateRequest
    data = (asked.ReadStateData(member.topic_id, (asked.PartitionData(0, -1),)),)
    answer = await member.client.ask(asked(GROUP, data), 0, ReadShareGroupStateResponse)
    return answer.results[0].partitions[0].start_offset


async def test_a_copy_of_the_state_has_what_was_acknowledged() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 4)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 3, 1)]
        assert not await member.acknowledge((0, 1, [ACCEPT]))
        state = await broker.copy_state()
    async with EmbeddedBroker(state=state) as copy, connected_to(copy) as client:
        assert await Member(client, topic_id).fetch() == [(2, 3, 1)]


def test_what_an_owner_has_is_found_by_its_name() -> None:
    """The id of a group may have colons."""
    shares, keys = SharesState(), [SharePartitionKey(group, KEY[1], 12) for group in ("g", "g:h", ":")]
    for key in keys:
        shares.apply(ShareSnapshotKey(*key), ShareSnapshotValue(4, 2, 7, 5, 0))
    assert [*shares.owners()] == [f"{group}:{KEY[1]}:12" for group in ("g", "g:h", ":")]
    assert [each.key for owner in shares.owners() for each in shares.entries_of(owner)] == [
        ShareSnapshotKey(*key) for key in keys
    ]
    assert not shares.entries_of(SharePartitionKey("g", KEY[1], 1).owner)
