"""Laws of the transaction coordinator in memory: old and new clients, zombies, lost answers, and crashes.

`test_transaction_laws` has the same laws for a whole broker, its files included.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import pytest
from tests.embedded.driven_transactions import DrivenProducer, DrivenTransactions

from kafkawire.broker.transactions.transaction import V2
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol.error_codes import ErrorCode

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "100"))
FIRST_SEED = int(os.environ.get("KAFKAWIRE_GROUP_FIRST_SEED", "0"))
STEPS = 40
TIMEOUT_MS = 60_000
LOOKS_EVERY = 10
LAST_EPOCH = (1 << 15) - 2
GROUPS = ("g", "h")
GONE = {ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING}


@dataclass(eq=False)
class Process:
    """One of the processes with a transactional id, and its open transaction.

    Attributes:
        name: the transactional id.
        client: asks the coordinator.
        values: written in the transaction, with their partitions.
        offsets: group to the offset in the transaction.
        began_at: when the transaction began.
        is_current: whether no other process has begun, and no transaction of it has timed out.
        is_timed_out: whether one has, and no other process has begun.
        unanswered: how it has ended a transaction without an answer; None if it has its answers.
    """

    name: str
    client: DrivenProducer
    values: list[tuple[int, bytes]] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    began_at: float = 0.0
    is_current: bool = False
    is_timed_out: bool = False
    unanswered: bool | None = None

    @property
    def is_open(self) -> bool:
        return bool(self.values or self.offsets)

    def clear(self) -> None:
        self.values, self.offsets = [], {}


class Life:
    """What happens to transactions, from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.level = level = self.chance.choice([0, V2, V2])
        self.driven = DrivenTransactions(level)
        self.processes: list[Process] = []
        for name in ("t", "u"):
            version = self.chance.choice([0, level])
            self.processes += [Process(name, DrivenProducer(self.driven, name, version)) for _ in range(2)]
        self.committed: tuple[list[bytes], list[bytes]] = ([], [])
        self.offsets = dict.fromkeys(GROUPS, -1)
        self.number = 0

    async def start(self) -> None:
        """Some transactional ids have used up most epochs of their producer id."""
        self.driven.load()
        for name in ("t", "u"):
            if self.chance.random() < 0.3:
                await self.driven.use_up(name, LAST_EPOCH - self.chance.randint(0, 5))
        for process in self.processes:
            await self.begin(process)

    async def happen(self) -> None:
        """One thing happens."""
        acts = {
            self.begin: 2,
            self.write: 10,
            self.commit_offset: 5,
            self.end: 6,
            self.lose_an_answer: 2,
            self.go_on: 1,
            self.wait: 2,
            self.restart: 1,
            self.stop_when_decided: 1,
        }
        await self.chance.choices([*acts], [*acts.values()])[0]()

    def process(self) -> Process:
        """Most things happen to processes that have the transactional id."""
        current = [each for each in self.processes if each.is_current]
        return self.chance.choice(current if current and self.chance.random() < 0.8 else self.processes)

    async def begin(self, process: Process | None = None) -> None:
        """A process begins: the others with its transactional id are zombies, and what they had open is aborted."""
        process = process or self.process()
        assert await process.client.begin(TIMEOUT_MS) is ErrorCode.NONE
        self.take_over(process)

    async def go_on(self) -> None:
        """A process wants another epoch after an error (KIP-360); a zombie gets none.

        An open transaction is aborted first, even if a zombie asks: as Apache Kafka, which only then compares epochs.
        """
        process = self.process()
        if process.client.producer.epoch < 0 or process.unanswered is not None:
            return
        is_fenced = self.is_fenced(process)
        may_go_on = process.is_current and (self.level >= V2 or not process.is_open)
        for each in self.processes:
            if each.name == process.name and each.is_open and not is_fenced:
                self.time_out(each)
        error = await process.client.begin(TIMEOUT_MS, goes_on=True)
        if error:
            assert error in GONE
            assert not may_go_on
        else:
            assert process.is_current or process.is_timed_out
            assert not is_fenced
            self.take_over(process)

    def is_fenced(self, process: Process) -> bool:
        """Whether the transactional id has another producer id than the one that follows after the last epoch."""
        transaction, (producer_id, epoch) = self.driven.transactions.by_id[process.name], process.client.producer
        is_before = producer_id == transaction.previous_producer_id and epoch >= LAST_EPOCH
        return producer_id != transaction.producer_id and not is_before

    def time_out(self, process: Process) -> None:
        """The coordinator aborts a transaction with an epoch that the process does not have."""
        process.clear()
        process.is_current, process.is_timed_out = False, True

    def take_over(self, process: Process) -> None:
        for each in self.processes:
            if each.name == process.name:
                self.lose(each)
        process.is_current = True

    def lose(self, process: Process) -> None:
        process.clear()
        process.is_current = process.is_timed_out = False
        process.unanswered = None

    async def write(self) -> None:
        process, partition = self.process(), self.chance.randrange(2)
        self.number += 1
        value = b"%d" % self.number
        if self.is_accepted(process, await process.client.write(partition, value)):
            process.values.append((partition, value))

    async def commit_offset(self) -> None:
        process, group = self.process(), self.chance.choice(GROUPS)
        self.number += 1
        if self.is_accepted(process, await process.client.commit_offset(group, self.number)):
            process.offsets[group] = self.number

    def is_accepted(self, process: Process, error: ErrorCode) -> bool:
        """Whether a write is in the transaction of a process; only those of the current one are."""
        if not process.is_current or (process.unanswered is not None and process.client.version >= V2):
            assert error in GONE
            return False
        assert error is ErrorCode.NONE
        process.unanswered = None  # an old client that goes on knows how its transaction ended
        if not process.is_open:
            process.began_at = self.driven.clock.seconds()
        return True

    async def end(self) -> None:
        process = self.process()
        committed = self.chance.random() < 0.6 if process.unanswered is None else process.unanswered
        was_open, is_again = process.is_open, process.unanswered is not None
        error = await process.client.end(committed=committed)
        if process.is_timed_out and process.client.version >= V2 and not committed:
            assert error is ErrorCode.NONE  # as if it had aborted the transaction itself (KIP-890)
            process.is_current, process.is_timed_out = True, False
        elif not process.is_current:
            assert error in {*GONE, ErrorCode.INVALID_TXN_STATE}
        elif is_again:
            assert error is ErrorCode.NONE
        elif was_open:
            assert error is ErrorCode.NONE
            self.ended(process, committed=committed)
        elif process.client.version >= V2:
            assert error is (ErrorCode.INVALID_TXN_STATE if committed else ErrorCode.NONE)
        else:
            assert error in {ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE}
        process.unanswered = None

    async def lose_an_answer(self) -> None:
        """A transaction is ended, and the client does not get the answer; it asks again before it goes on."""
        process = self.process()
        if process.is_current and process.is_open:
            committed = self.chance.random() < 0.6
            assert await process.client.end(committed=committed, is_answer_lost=True) is ErrorCode.NONE
            self.ended(process, committed=committed)
            process.unanswered = committed

    def ended(self, process: Process, *, committed: bool) -> None:
        if committed:
            for partition, value in process.values:
                self.committed[partition].append(value)
            for group, offset in process.offsets.items():
                self.offsets[group] = max(self.offsets[group], offset)  # the last one written counts
        process.clear()

    async def wait(self) -> None:
        """Transactions that are open for too long are aborted, as soon as the coordinator looks at them."""
        await self.driven.wait(self.chance.choice([5, 25, 80]))
        for process in self.processes:
            open_for = self.driven.clock.seconds() - process.began_at
            if process.is_open and open_for > TIMEOUT_MS / 1000:
                state = self.driven.transactions.by_id[process.name].state
                if open_for <= TIMEOUT_MS / 1000 + LOOKS_EVERY and state is TransactionState.ONGOING:
                    continue
                self.time_out(process)

    async def restart(self) -> None:
        await self.driven.restart()

    async def stop_when_decided(self) -> None:
        """The broker stops between the decision and the markers: the transaction ends as it was decided."""
        process = self.process()
        if process.is_current and process.is_open:
            committed = self.chance.random() < 0.6
            version = process.client.version
            await self.driven.restart_when_decided(process.name, committed=committed, version=version)
            await self.driven.wait(0)
            self.ended(process, committed=committed)
            process.unanswered = committed

    def check(self) -> None:
        """What always holds."""
        transactions = self.driven.transactions.by_id
        for partition, committed in enumerate(self.committed):
            found, is_open = self.driven.records(partition)
            assert sorted(found) == sorted(committed), "what is committed is there, once, and nothing else"
            values = [value for each in self.processes for at, value in each.values if at == partition]
            assert sorted(is_open) == sorted(values), "what is open has no marker, and all else has one"
            log = self.driven.logs[partition]
            assert (log.last_stable_offset == log.end_offset) == (not values)
        for group, offset in self.offsets.items():
            assert self.driven.committed_offset(group) == offset
            is_pending = any(group in process.offsets for process in self.processes)
            assert self.driven.has_pending_offset(group) == is_pending
        for process in self.processes:
            if process.is_open:
                assert transactions[process.name].state is TransactionState.ONGOING
        for name, transaction in transactions.items():
            are_open = any(each.is_open for each in self.processes if each.name == name)
            assert are_open == (transaction.state is TransactionState.ONGOING)
            assert are_open or not transaction.partitions
            assert not transaction.is_ending
        current = [each.client.producer for each in self.processes if each.is_current]
        assert len(current) == len({*current}), "no two processes have an epoch at once"

    async def close(self) -> None:
        await self.driven.close()


@pytest.mark.parametrize("part", range(4))
async def test_what_is_committed_is_there_once_and_nothing_else(part: int) -> None:
    """``KAFKAWIRE_GROUP_SEEDS`` says how many lives there are, ``KAFKAWIRE_GROUP_FIRST_SEED`` with which they begin."""
    for seed in range(FIRST_SEED + part, FIRST_SEED + SEEDS, 4):
        life = Life(seed)
        await life.start()
        try:
            for _ in range(STEPS):
                await life.happen()
                life.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        finally:
            await life.close()
