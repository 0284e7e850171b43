"""When the logs of a coordinator are rewritten, and what a state is made of again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.embedded.groups import DIRECTORY_ID, committed_offsets, opened_groups
from tests.unit.broker.groups.test_coordinator import commit, commit_all, folders, make_topic

from kafkawire.broker import ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.internal_topics.partition_log import InternalPartitionLog
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from kafkawire.broker.topics.placement import Placement
from kafkawire.broker.transactions.coordinator import TransactionCoordinator
from kafkawire.broker.transactions.transaction import Transaction
from kafkawire.protocol import PartitionRecord, RemoveTopicRecord, TransactionLogKey

IDLE = Transaction(7, 3, 60_000)


class Recorded:
    """A coordinator in memory, and the only log that it has."""

    def __init__(self, coordinator: TransactionCoordinator, store: RecordStore, topic: InternalTopic) -> None:
        self.coordinator = coordinator
        self._store = store
        self._topic = topic

    @property
    def log(self) -> PartitionLog:
        return self._store.log(self._topic.made().topic_id, 0)

    def write(self, *transactional_ids: str) -> None:
        """A record for each, all at once."""
        self.coordinator.commit([(TransactionLogKey(each), IDLE.value()) for each in transactional_ids])

    async def first_offset(self) -> int:
        """Of the first record that is left, once what is going on is over."""
        await self.coordinator.close()
        return self.log.segments[0].base_offset


@pytest.fixture
async def recorded(tmp_path: Path) -> AsyncIterator[Recorded]:
    async with opened_groups(tmp_path) as (_, controller):
        configuration = BrokerConfiguration({"transaction.state.log.num.partitions": "1"})
        placement = Placement(Nodes(Cluster("", 1, "", 0), DIRECTORY_ID))
        topic, store = InternalTopic(TRANSACTIONS_TOPIC, controller, configuration, placement), RecordStore()
        coordinator = TransactionCoordinator.opened(None, topic, controller, ManualClock(), store=store)
        await coordinator.prepare(("a",))
        yield Recorded(coordinator, store, topic)


@pytest.mark.parametrize(("count", "first_offset"), [(20_000, 0), (20_001, 20_001)])
async def test_a_log_is_rewritten_when_it_has_more_than_twenty_thousand_records(
    recorded: Recorded, count: int, first_offset: int
) -> None:
    recorded.write(*["a"] * count)
    assert await recorded.first_offset() == first_offset
    assert recorded.log.end_offset == count + (1 if first_offset else 0)


@pytest.mark.parametrize(("count", "first_offset"), [(9, 0), (10, 13)])
async def test_a_log_is_rewritten_when_more_than_three_in_four_records_are_superseded(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, count: int, first_offset: int
) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 10)
    recorded.write("a", "b", "c")
    recorded.write(*["a"] * count)
    assert await recorded.first_offset() == first_offset
    assert recorded.coordinator.state.size == 3


async def test_a_rewritten_log_is_rewritten_again_as_soon_as_it_has_grown_again(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 10)
    recorded.write(*["a"] * 11)
    assert await recorded.first_offset() == 11
    recorded.write(*["a"] * 9)
    assert await recorded.first_offset() == 11
    recorded.write("a")
    assert await recorded.first_offset() == 22


async def test_nothing_is_written_without_changes(recorded: Recorded) -> None:
    recorded.write()
    assert recorded.log.end_offset == 0


@pytest.mark.parametrize("failure", [StorageError("the disk is full"), OSError("the disk is full")])
async def test_a_log_that_cannot_be_rewritten_grows_from_then_on(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    monkeypatch.setattr("kafkawire.broker.internal_topics.coordinator._FEWEST_TO_REWRITE", 10)
    attempts = []

    async def fail(*_arguments: object) -> None:
        attempts.append(failure)
        raise failure

    monkeypatch.setattr("kafkawire.broker.internal_topics.logs.InternalLogs.rewrite", fail)
    for _ in range(2):
        recorded.write(*["a"] * 11)
        assert await recorded.first_offset() == 0
    assert attempts == [failure]
    assert caplog.messages == [
        f"The logs of {TRANSACTIONS_TOPIC} could not be rewritten, and grow from now on: {failure}"
    ]


async def test_a_topic_that_is_deleted_while_its_logs_are_rewritten_goes_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, delete_before = asyncio.Event(), InternalPartitionLog.delete_before

    async def delete_later(log: InternalPartitionLog, offset: int) -> None:
        await gate.wait()
        await delete_before(log, offset)

    monkeypatch.setattr(InternalPartitionLog, "delete_before", delete_later)
    async with opened_groups(tmp_path) as (coordinator, controller):
        await make_topic(controller)
        await commit_all(coordinator, commit("a", 0, 1))
        topic_id = controller.image.topics.by_name[OFFSETS_TOPIC].topic_id
        controller.commit([PartitionRecord(1, topic_id, (1,), (1,), leader=1)])  # groups may move
        for _ in range(50):
            await asyncio.sleep(0.001)
        controller.commit([RemoveTopicRecord(topic_id)])
        assert committed_offsets(coordinator) == {}
        for _ in range(20):
            await asyncio.sleep(0.001)
        assert folders(tmp_path)
        gate.set()
        await commit_all(coordinator, commit("b", 0, 2))
        assert committed_offsets(coordinator) == {"b": {0: 2}}
    async with opened_groups(tmp_path) as (coordinator, controller):
        assert controller.image.topics.by_name[OFFSETS_TOPIC].topic_id != topic_id
        assert committed_offsets(coordinator) == {"b": {0: 2}}
