"""However much a broker has, no client waits for long."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from tests.embedded.connection import connected_to
from tests.embedded.groups import opened_groups
from tests.hostile.broker.test_attacks import longest_slice

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.share.group import ShareGroup
from kafkawire.broker.groups.state import Group, GroupsState
from kafkawire.broker.partitions.topic_rules import RulesOfTopics, TopicRules
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    OffsetCommitKey,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitValue,
    ProduceRequest,
    ProduceResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from kafkawire.wire.batches import Record, encode_batch

_PARTITIONS = 100


async def _commit(coordinator: GroupCoordinator, groups: Sequence[str], offset: int) -> None:
    await coordinator.prepare(groups)
    value = OffsetCommitValue(offset, -1, "", 0)
    for group in groups:
        coordinator.commit([(OffsetCommitKey(group, "t", number), value) for number in range(_PARTITIONS)])
        await asyncio.sleep(0)


def _first_segments(data_dir: Path) -> Sequence[Path]:
    """Those that go when the logs were rewritten."""
    return [*data_dir.glob("__consumer_offsets-*/00000000000000000000.log")]


class _Slices:
    """The time slices of an event loop, in seconds of the processor."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest, last = max(self.longest, now - last), now


@pytest.fixture
def no_earlier_garbage() -> Iterator[None]:
    """Python looks for cyclic garbage among what the test makes, not in all that earlier tests have left."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("no_earlier_garbage")
@pytest.mark.parametrize("partitions", [1, 50])
async def test_rewriting_many_commits_takes_no_long_slice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int
) -> None:
    """At one go, 60 000 take half a second."""
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._SUPERSEDED_FACTOR", 1)
    groups, slices = [f"g{number}" for number in range(600)], _Slices()
    async with opened_groups(tmp_path, partitions) as (coordinator, _):
        await _commit(coordinator, groups, 1)
        watching = asyncio.create_task(slices.watch())
        await _commit(coordinator, groups, 2)
        for _ in range(6_000):
            await asyncio.sleep(0.01)
            if not _first_segments(tmp_path):
                break
        watching.cancel()
    assert not _first_segments(tmp_path)
    assert slices.longest < longest_slice()


async def test_the_deletion_of_a_topic_takes_no_time_for_groups_that_do_not_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To find out the kinds of 20 000 groups takes a hundredth of a second."""
    kind, found = cast("property", Group.kind), []
    forget, forgotten = ShareGroup.forget_topics, asyncio.Event()

    def find(group: Group) -> object:
        found.append(group.group_id)
        return kind.__get__(group)

    def note(group: ShareGroup, topics: Collection[Uuid]) -> None:
        forget(group, topics)
        forgotten.set()

    async with EmbeddedBroker(topics=["t", "other"]) as broker, connected_to(broker) as client:
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(0, 1)
        topic = OffsetCommitRequest.OffsetCommitRequestTopic("t", partitions=(partition,))
        for number in range(300):
            await client.ask(OffsetCommitRequest(f"g{number}", topics=(topic,)), 8, OffsetCommitResponse)
        join = ShareGroupHeartbeatRequest("shared", "m", 0, subscribed_topic_names=("other",))
        assert not (await client.ask(join, 1, ShareGroupHeartbeatResponse)).error_code
        monkeypatch.setattr(Group, "kind", property(find))
        monkeypatch.setattr(ShareGroup, "forget_topics", note)
        delete = DeleteTopicsRequest((DeleteTopicsRequest.DeleteTopicState("other"),), timeout_ms=60_000)
        assert not (await client.ask(delete, 6, DeleteTopicsResponse)).responses[0].error_code
        async with asyncio.timeout(60):
            await forgotten.wait()
    assert len(found) < 30


@pytest.mark.parametrize("is_asked_for", [True, False])
async def test_others_have_turns_between_partitions_that_are_cleaned(
    monkeypatch: pytest.MonkeyPatch, *, is_asked_for: bool
) -> None:
    """At one go, 20 000 take more than a second."""
    names = [f"t{number}" for number in range(40)]
    async with EmbeddedBroker(topics=names, clock=ManualClock()) as broker, connected_to(broker) as client:
        records = encode_batch([Record(value=b"v", timestamp=1)])
        data = ProduceRequest.PartitionProduceData(0, records)
        for name in names:
            topic = ProduceRequest.TopicProduceData(name, partition_data=(data,))
            await client.ask(ProduceRequest(None, 1, 1000, (topic,)), 9, ProduceResponse)
        of, turns = RulesOfTopics.of, 0
        cleaned = Counter[int]()

        def note(rules: RulesOfTopics, name: str) -> TopicRules:
            cleaned[turns] += 1
            return of(rules, name)

        monkeypatch.setattr("kafkawire.broker.fair_slices.SLICE", -1)
        monkeypatch.setattr(RulesOfTopics, "of", note)
        cleaning = asyncio.ensure_future(broker.clean_records() if is_asked_for else broker.advance(400))
        while not cleaning.done():
            await asyncio.sleep(0)
            turns += 1
    assert cleaned.total() >= len(names)
    assert max(cleaned.values()) < 4, "partitions, in one turn"


async def test_a_commit_does_not_count_those_of_other_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To count those of 30 000 groups takes thousandths of a second."""
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 1_000)
    counted = []

    def count(state: GroupsState) -> int:
        counted.append(state)
        return sum(group.size for group in state.by_id.values())

    monkeypatch.setattr(GroupsState, "size", property(count))
    async with opened_groups(tmp_path) as (coordinator, _):
        await _commit(coordinator, [f"g{number}" for number in range(300)], 1)
    assert 0 < len(counted) < 10
