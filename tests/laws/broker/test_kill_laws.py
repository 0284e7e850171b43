"""Laws of a whole broker over a directory that is killed at any moment, again and again, also while it starts.

In some lives the power fails as well.

The broker has no sockets, and threads take turns with its event loop, so that a seed decides all that happens: which
operation on a file is the last, and how much of it is done.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.kept_metadata import COMPACTED, Admin
from tests.embedded.kept_records import KeptRecords, SentTransaction
from tests.embedded.mortal_broker import MortalBroker, folder_in_memory
from tests.embedded.mortal_clients import (
    OFFSETS_OF,
    Committer,
    IdempotentProducer,
    Janitor,
    Key,
    MortalClient,
    Reader,
    Transactor,
    World,
    Writer,
)
from tests.embedded.mortal_disk import KilledError, MortalDisk
from tests.embedded.mortal_members import ClassicMember, ConsumerMember, Member, StreamsMember, rivals
from tests.embedded.partition_reading import Place, Reading, read
from tests.embedded.turning_loop import TurningLoop

from kafkawire.broker import fair_slices
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.internal_topics import coordinator, file_logs
from kafkawire.broker.listener import connection
from kafkawire.broker.topic_names import OFFSETS_TOPIC
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue, OffsetFetchRequest, OffsetFetchResponse
from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "100"))
FIRST_SEED = int(os.environ.get("KAFKAWIRE_GROUP_FIRST_SEED", "0"))
MOST_STEPS: Final = 40
FEWEST_TO_REWRITE: Final = 12
POWER_FAILURES: Final = 0.3
CONFIGURATIONS: Final = [
    BrokerConfiguration(
        {
            "transaction.state.log.num.partitions": "1",
            "offsets.topic.num.partitions": partitions,
            "metadata.log.max.record.bytes.between.snapshots": bytes_between,
            "offsets.retention.minutes": "1000000",
            "group.initial.rebalance.delay.ms": "0",
            "transactional.id.expiration.ms": "2147483647",
        }
    )
    for partitions in ("1", "2")
    for bytes_between in ("1500", "100000")
]


class Life:
    """What happens to brokers over a directory and to their clients, from a seed."""

    def __init__(self, seed: int, disk: MortalDisk) -> None:
        self.chance = random.Random(seed)
        disk.chance = self.chance
        self.loses_power = self.chance.random() < POWER_FAILURES
        disk.empty(may_lose_power=self.loses_power)
        self.broker = MortalBroker(disk, self.chance, self.chance.choice(CONFIGURATIONS))
        self.records = KeptRecords(COMPACTED)
        self.world = world = World(self.chance, self.broker, self.records)
        self.admin = Admin(world, "admin")
        self.transactors = [
            Transactor(world, name, number, is_v2=self.chance.random() < 0.7) for number, name in ((0, "t"), (1, "u"))
        ]
        both = rivals(world, "x")
        self.members: list[Member] = [
            ClassicMember(world, "m"),
            ConsumerMember(world, "n"),
            StreamsMember(world, "s"),
            *both,
        ]
        others: list[MortalClient] = [
            Writer(world, "writer"),
            IdempotentProducer(world, "producer"),
            Committer(world, "committer"),
            Reader(world, "reader"),
            Janitor(world, "janitor"),
            *self.members,
        ]
        self.member_keys = [*dict.fromkeys(member.key for member in self.members)]
        self.clients = [self.admin, *self.transactors, *others]
        samples = [self.chance.sample(self.clients, 3) for _ in range(2)]
        often: list[MortalClient] = [*self.chance.choice([both, *samples])]
        self.busy = [*self.clients, *self.transactors, *often * 3]
        self.tasks: dict[MortalClient, asyncio.Task[None]] = {}

    async def live(self) -> None:
        """Brokers come and go; the last one is not killed."""
        try:
            is_prepared = self.chance.random() < 0.8
            for _ in range(self.chance.choice([1, 1, 2, 3])):
                await self.reign(is_prepared=is_prepared)
                is_prepared = False
            await self.last_reign()
        finally:
            await self.broker.bury()

    async def reign(self, *, is_prepared: bool) -> None:
        """A broker starts, serves its clients and is killed, in any of which, except in what is prepared."""
        dies_early = not is_prepared and self.chance.random() < 0.3
        try:
            if dies_early:
                self.kill_within(40)
            await self.start()
            while is_prepared and not self.admin.is_ready:
                await self.step()
            if not dies_early:
                self.kill_within(self.chance.choice([30, 100, 300, 900]))
            for _ in range(self.chance.randint(5, MOST_STEPS)):
                await self.step()
            if self.chance.random() < 0.3:
                await self.quiet()
                await self.broker.stop()
        except KilledError:
            pass
        await self.broker.bury()
        if self.loses_power and self.chance.random() < 0.7:
            self.broker.disk.lose_power()

    def kill_within(self, operations: int) -> None:
        """The broker is killed at one of the next operations on its files."""
        last = self.chance.choice([None, None, "write", "write", "fsync"])
        self.broker.disk.kill_later(self.chance.randint(0, operations), last)

    async def last_reign(self) -> None:
        await self.start()
        for client in self.clients:
            while client.is_waiting:
                await self.broker.run(client.act())
        await self.idle(100)
        await self.check(is_at_rest=True)
        await self.broker.stop()

    async def start(self) -> None:
        """A broker starts, and what it has is read."""
        self.tasks.clear()
        await self.broker.start()
        for client in self.clients:
            client.connect()
        await self.check()
        for member in self.members:
            await self.broker.run(member.confirm())

    async def step(self) -> None:
        """A client does something; others may wait for answers meanwhile."""
        if self.chance.random() < 0.05:
            await self.pass_long_time()
        self.broker.clock.advance(self.chance.randint(0, 4) / 1000)
        client = self.admin if not self.admin.is_ready else self.chance.choice(self.busy)
        before = self.tasks.get(client)
        if before is not None:
            await self.broker.wait(before)
        self.tasks[client] = task = asyncio.get_running_loop().create_task(client.act())
        if self.chance.random() < 0.4 or not self.admin.is_ready:
            await self.broker.wait(task)
        else:
            await self.broker.turns(self.chance.choice([0, 1, 5, 20]))

    async def quiet(self) -> None:
        """All clients have their answers."""
        await self.broker.wait(*self.tasks.values())
        self.tasks.clear()

    async def pass_long_time(self) -> None:
        """Transactions time out, and two days later idle producers are forgotten."""
        await self.quiet()
        if not any(client.is_waiting for client in self.clients):
            await self.idle(self.chance.choice([100, 100, 172_800]))

    async def idle(self, seconds: float) -> None:
        """No client does anything for some time."""
        for client in self.clients:
            client.waited(seconds)
        self.broker.clock.advance(seconds)
        await self.broker.turns(20)
        await self.broker.run(self.broker.running.assembled.settled())

    async def check(self, *, is_at_rest: bool = False) -> None:
        """What a broker that has started must have."""
        assembled = self.broker.running.assembled
        await self.broker.run(assembled.transactions.settled())
        self.admin.check(assembled.state.controller.image)
        topics = assembled.state.controller.image.topics.by_name
        places = [(name, number) for name in self.records.incarnations for number in topics[name].partitions]
        client = self.broker.connected()
        every = await self.broker.run(read(client, places, committed=False))
        committed = await self.broker.run(read(client, places, committed=True))
        offsets = await self.offsets(is_stable=is_at_rest)
        self.records.check(every, committed)
        for transactor in self.transactors:
            self.check_transactions(transactor, offsets[transactor.key], committed)
        for key in (("g", 2), ("h", 0), *self.member_keys):
            values = self.world.offsets.setdefault(key, [-1])
            assert offsets[key] in values, f"{key} has the offset {offsets[key]} instead of one of {values}"
            self.world.offsets[key] = [offsets[key]]
        await self.check_readable(topics, offsets)
        if is_at_rest:
            for place, reading in every.items():
                assert committed[place].stable_offset == reading.end_offset, f"{place}: a transaction stays open"

    async def check_readable(self, topics: Mapping[str, Topic], offsets: Mapping[Key, int]) -> None:
        """Clients read in the topic of commits what the groups have committed."""
        if OFFSETS_TOPIC not in topics:
            return
        places = [(OFFSETS_TOPIC, number) for number in topics[OFFSETS_TOPIC].partitions]
        readings = await self.broker.run(read(self.broker.connected(), places, committed=True))
        if any(reading.stable_offset < reading.end_offset for reading in readings.values()):
            return  # commits after the begin of an open transaction have taken effect, and no reader gets them yet
        found = dict.fromkeys(offsets, -1)
        for batch in (batch for reading in readings.values() for batch in reading.batches):
            for key, value in zip(batch.keys, batch.values, strict=True):
                match decode_coordinator_record(OFFSETS_TOPIC, key, value or None):
                    case CoordinatorRecord(key=OffsetCommitKey(topic=topic) as of, value=last) if topic == OFFSETS_OF:
                        found[of.group, of.partition] = last.offset if isinstance(last, OffsetCommitValue) else -1
        assert {key: found[key] for key in offsets} == offsets, "readers of the topic of commits"

    async def offsets(self, *, is_stable: bool) -> Mapping[Key, int]:
        keys: list[Key] = [("g", 0), ("g", 1), ("g", 2), ("h", 0), *self.member_keys]
        if "a" not in self.records.incarnations:
            return dict.fromkeys(keys, -1)
        found: dict[Key, int] = {}
        client = self.broker.connected()
        for group in dict.fromkeys(group for group, _ in keys):
            numbers = tuple(number for name, number in keys if name == group)
            topic = OffsetFetchRequest.OffsetFetchRequestTopics(OFFSETS_OF, partition_indexes=numbers)
            asked = (OffsetFetchRequest.OffsetFetchRequestGroup(group, topics=(topic,)),)
            request = OffsetFetchRequest(groups=asked, require_stable=is_stable)
            answer = await self.broker.run(_awaited(client.send(request, 8, OffsetFetchResponse)))
            for one in answer.groups[0].topics[0].partitions:
                assert not one.error_code, f"{group}: error {one.error_code}"
                found[group, one.partition_index] = one.committed_offset
        return found

    def check_transactions(self, transactor: Transactor, found: int, committed: Mapping[Place, Reading]) -> None:
        """Transactions are committed as a whole, the offset of the group included, or not at all."""
        possible, unclear = {transactor.first_offset}, dict[int, SentTransaction]()
        for transaction in transactor.transactions:
            is_whole = self.records.is_whole(transaction, committed)
            if is_whole is not None:
                assert transaction.is_committed in {None, is_whole}, f"{transaction} is committed: {is_whole}"
                if is_whole or transaction.is_left:
                    transaction.is_committed = is_whole
            if transaction.offset is not None and transaction.may_be_seen:
                if transaction.is_committed:
                    possible, unclear = {transaction.offset}, {}
                elif is_whole is None:
                    possible.add(transaction.offset)
                    unclear[transaction.offset] = transaction
        assert found in possible, f"{transactor.key} has the offset {found} instead of one of {possible}"
        if found in unclear:
            unclear[found].is_committed = True
        transactor.first_offset = found
        for transaction in transactor.transactions:
            if transaction.is_committed is not None or transaction.is_left:
                transaction.offset = None  # it has had its effect


async def _awaited(answer: asyncio.Future[OffsetFetchResponse]) -> OffsetFetchResponse:
    return await answer


@contextmanager
def lives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """What lives a life, by its seed; no time slice of the broker ends, and logs of groups are rewritten often.

    Each group becomes a segment of its own then.
    """
    monkeypatch.setattr(coordinator, "_FEWEST_TO_REWRITE", FEWEST_TO_REWRITE)
    monkeypatch.setattr(file_logs, "_ENTRIES_AT_ONCE", 1)
    for module in (connection, fair_slices):
        monkeypatch.setattr(module, "perf_counter", lambda: 0.0)
    with tempfile.TemporaryDirectory(dir=folder_in_memory(folder)) as directory:
        disk = MortalDisk(Path(directory), random.Random(0))
        with disk.watched(), asyncio.Runner(loop_factory=TurningLoop) as runner:
            yield lambda seed: runner.run(Life(seed, disk).live())


def test_what_a_killed_broker_has_promised_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``KAFKAWIRE_GROUP_SEEDS`` says how many lives there are, ``KAFKAWIRE_GROUP_FIRST_SEED`` with which they begin."""
    failures = []
    with lives(tmp_path, monkeypatch) as live:
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
            try:
                live(seed)
            except AssertionError as error:
                failures.append(f"seed {seed}: {error}")
    assert failures == []
