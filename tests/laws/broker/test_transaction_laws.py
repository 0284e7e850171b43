"""Committed readers get what was committed and nothing else, over crashes, timeouts and zombies; offsets go along."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.transactional_producer import (
    TransactionalProducer,
    committed_offset,
    committed_values,
)

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.protocol import OffsetCommitRequest, OffsetCommitResponse
from kafkawire.protocol.error_codes import ErrorCode

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "5"))
"""How many brokers live; ``--hypothesis-seed`` says with which they begin."""

T = TypeVar("T")
PROPERTIES: Final = {
    "transaction.state.log.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "connections.max.idle.ms": "86400000",  # a client may wait for longer than ten minutes
}
TIMEOUT_MS: Final = 60_000
GONE: Final = {
    ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.INVALID_TXN_STATE,
}  # fmt: skip

INSTANCES = st.integers(0, 3)
PARTITIONS = st.integers(0, 1)
GROUPS = st.sampled_from(["g", "h"])


@dataclass
class Instance:
    """One of two processes with the same transactional id, and its open transaction.

    Attributes:
        producer: the client.
        values: written in the transaction, with their partitions.
        offsets: group to the number of the write and the offset.
        is_current: whether no other process has begun, and the transaction has not timed out.
        is_timed_out: whether it has timed out, and no other process has begun.
    """

    producer: TransactionalProducer
    values: list[tuple[int, bytes]] = field(default_factory=list)
    offsets: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_current: bool = False
    is_timed_out: bool = False
    began_at: float = 0.0

    @property
    def is_open(self) -> bool:
        return bool(self.values or self.offsets)

    def clear(self) -> None:
        self.values, self.offsets = [], {}


class Machine(RuleBasedStateMachine):
    """A broker, two transactional ids with two processes each, and a reader."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = ManualClock()
        self.instances: list[Instance] = []
        self.committed: dict[int, list[bytes]] = {0: [], 1: []}
        self.offsets: dict[str, tuple[int, int]] = {}
        self.numbers = 0
        self.starts = 0

    def run(self, awaitable: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await awaitable

        return self.runner.run(awaited())

    @initialize()
    def begin(self) -> None:
        self.run(self._start(self.folder / "0"))
        for number in range(4):
            self.instances.append(Instance(TransactionalProducer(self.client, f"t{number // 2}")))
        for number in (1, 0, 3, 2):
            self.begin_producer(number)

    async def _start(self, data_dir: Path) -> None:
        self.resources = AsyncExitStack()
        broker = EmbeddedBroker(PROPERTIES, data_dir=data_dir, clock=self.clock, topics=["in", "out", "out2"])
        await self.resources.enter_async_context(broker)
        self.client: BrokerConnection = await self.resources.enter_async_context(connected_to(broker))
        for instance in self.instances:
            instance.producer.client = self.client

    @rule(number=INSTANCES)
    def another_begins(self, number: int) -> None:
        self.begin_producer(number)

    def begin_producer(self, number: int) -> None:
        instance, other = self.instances[number], self.instances[number ^ 1]
        self.run(instance.producer.begun(TIMEOUT_MS))
        instance.is_current, other.is_current = True, False
        instance.is_timed_out = other.is_timed_out = False
        instance.clear()
        other.clear()

    @rule(number=INSTANCES, partition=PARTITIONS)
    def write(self, number: int, partition: int) -> None:
        instance = self.instances[number]
        self.numbers += 1
        value = b"%d" % self.numbers
        topic = "out2" if partition else "out"
        error = self.run(instance.producer.write(value, topic))
        if self._is_accepted(instance, error):
            self._open(instance)
            instance.values.append((partition, value))

    @rule(number=INSTANCES, group=GROUPS)
    def commit_offset(self, number: int, group: str) -> None:
        instance = self.instances[number]
        self.numbers += 1
        error = self.run(instance.producer.commit_offset(group, self.numbers))
        if self._is_accepted(instance, error):
            self._open(instance)
            instance.offsets[group] = (self.numbers, self.numbers)

    @rule(group=GROUPS)
    def commit_offset_without_a_transaction(self, group: str) -> None:
        self.numbers += 1
        one = OffsetCommitRequest.OffsetCommitRequestPartition(0, self.numbers)
        topics = (OffsetCommitRequest.OffsetCommitRequestTopic("in", partitions=(one,)),)
        answer = self.run(self.client.ask(OffsetCommitRequest(group, topics=topics), 9, OffsetCommitResponse))
        assert not answer.topics[0].partitions[0].error_code
        self.offsets[group] = (self.numbers, self.numbers)

    @rule(number=INSTANCES, committed=st.booleans())
    def end(self, number: int, committed: bool) -> None:
        instance = self.instances[number]
        is_open = instance.is_open
        error = self.run(instance.producer.end(committed=committed))
        if instance.is_timed_out and not committed:
            assert error == 0  # as if it had aborted the transaction itself (KIP-890)
            instance.is_current, instance.is_timed_out = True, False
        elif not instance.is_current:
            assert error in GONE
        elif committed and not is_open:
            assert error == ErrorCode.INVALID_TXN_STATE
        else:
            assert error == 0
            if committed:
                self._commit(instance)
            instance.clear()

    @rule(seconds=st.sampled_from([10, 35, 80]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)
        self.run(self._aborted())
        for instance in self.instances:
            if instance.is_open and self.clock.seconds() - instance.began_at > TIMEOUT_MS / 1000:
                instance.clear()
                instance.is_current, instance.is_timed_out = False, True

    async def _aborted(self) -> None:
        """Let the timer of the broker do its work."""
        for _ in range(20):
            await asyncio.sleep(0.002)

    @rule()
    def crash(self) -> None:
        """A copy of the directory as it is, without a clean end."""
        before, after = self.folder / str(self.starts), self.folder / str(self.starts + 1)
        shutil.copytree(before, after)
        self.starts += 1
        self.run(self.resources.aclose())
        shutil.rmtree(before)
        self.run(self._start(after))

    @rule(partition=PARTITIONS)
    def read(self, partition: int) -> None:
        found = self.run(committed_values(self.client, "out2" if partition else "out"))
        assert set(found) <= set(self.committed[partition])
        assert len(found) == len(set(found))

    @rule(group=GROUPS)
    def read_offset(self, group: str) -> None:
        expected = self.offsets.get(group, (0, -1))[1]
        assert self.run(committed_offset(self.client, group)) == (0, expected)
        is_pending = any(group in instance.offsets for instance in self.instances)
        error, _ = self.run(committed_offset(self.client, group, is_stable=True))
        assert (error == ErrorCode.UNSTABLE_OFFSET_COMMIT) == is_pending

    def teardown(self) -> None:
        if self.instances:
            for number in (0, 2):  # abort what is open, so that all that is committed can be read
                self.run(TransactionalProducer(self.client, self.instances[number].producer.transactional_id).begun())
            for partition, topic in enumerate(("out", "out2")):
                assert sorted(self.run(committed_values(self.client, topic))) == sorted(self.committed[partition])
            for group, (_, offset) in self.offsets.items():
                assert self.run(committed_offset(self.client, group, is_stable=True)) == (0, offset)
            self.run(self.resources.aclose())
        self.runner.close()
        shutil.rmtree(self.folder)

    def _is_accepted(self, instance: Instance, error: int) -> bool:
        if instance.is_current:
            assert error == 0
            return True
        assert error in GONE
        return False

    def _open(self, instance: Instance) -> None:
        if not instance.is_open:
            instance.began_at = self.clock.seconds()

    def _commit(self, instance: Instance) -> None:
        for partition, value in instance.values:
            self.committed[partition].append(value)
        for group, (number, offset) in instance.offsets.items():
            if number > self.offsets.get(group, (0, -1))[0]:  # as with plain commits, the last one written counts
                self.offsets[group] = (number, offset)


TestTransactions = Machine.TestCase
TestTransactions.settings = settings(max_examples=SEEDS, stateful_step_count=20, deadline=None)
