"""What happens to records does not depend on how large their offsets are, nor the ids, epochs and times."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import pytest

from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary, StateUpdate
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.protocol import EndTxnMarker
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

Seen: TypeAlias = tuple[object, ...]
LOCK_MS = 10_000
STEPS = 40
BATCHES = 60
MEMBERS = ("one", "two")
STEPS_OF_KIND = {"acquire": 8, "acknowledge": 8, "release": 1, "delete": 1, "wait": 2}
ABORT = encode_control_record(ControlRecordType.ABORT, EndTxnMarker(0), 0)


class Written(NamedTuple):
    """A batch of the log."""

    first: int
    last: int
    producer: int
    is_marker: bool


def log_of(dice: random.Random) -> Iterator[Written]:
    """Plain records, and transactions that are all aborted; some offsets have no record."""
    at, is_open = 0, False
    for _ in range(BATCHES):
        at += dice.choice((0, 0, 0, 3))
        kind = dice.choice(("plain", "plain", "data", "marker"))
        last = at if kind == "marker" else at + dice.choice((1, 1, 2, 5, 12)) - 1
        yield Written(at, last, -1 if kind == "plain" else 7, kind == "marker" and is_open)
        is_open = kind == "data" or (is_open and kind == "plain")
        at = last + 1


class Driven:
    """A share partition whose offsets, producer ids, epochs and times are all moved."""

    def __init__(self, seed: int, shift: int) -> None:
        self.shift = shift
        self.dice = dice = random.Random(seed)
        self.now = float(shift % 100_000)
        self.begun = self.now
        self.fails = False
        self.updates: list[StateUpdate] = []
        self.log = [*log_of(dice)]
        rules = ShareRules(LOCK_MS, dice.choice((1, 2, 3, 5, 8)), dice.choice((5, 20, 100)))
        start = dice.randrange(20)
        batches = tuple(self.recorded(start))
        state = ShareState(1, ShareSummary(self.moved(1), 0, self.moved(start), -1), batches)
        self.partition = SharePartition(
            state,
            self.moved(2),
            self.moved(start),
            rules=lambda: rules,
            now=lambda: self.now,
            write=self.write,
        )

    def moved(self, offset: int) -> int:
        return offset + self.shift

    def recorded(self, at: int) -> Iterator[StateBatch]:
        for _ in range(self.dice.choice((0, 0, 1, 2, 4))):
            at += self.dice.choice((0, 0, 1, 4))
            last = at + self.dice.randrange(6)
            state = self.dice.choice((RecordState.AVAILABLE, RecordState.ACKNOWLEDGED, RecordState.ARCHIVED))
            yield StateBatch(self.moved(at), self.moved(last), state, self.dice.randrange(1, 3))
            at = last + 1

    def write(self, update: StateUpdate) -> ErrorCode:
        self.updates.append(update)
        return ErrorCode.UNKNOWN_SERVER_ERROR if self.fails else ErrorCode.NONE

    def course(self) -> Iterator[Seen]:
        """What each step does, without the shift."""
        yield self.seen()
        for _ in range(STEPS):
            kind = self.dice.choices([*STEPS_OF_KIND], [*STEPS_OF_KIND.values()])[0]
            self.fails = self.dice.random() < 0.1
            try:
                outcome = getattr(self, kind)()
            except (AcknowledgementError, ShareStateError) as error:
                outcome = error.code
            yield kind, outcome, *self.seen()

    def seen(self) -> Seen:
        partition, shift = self.partition, self.shift
        gap = partition.gap
        updates, self.updates = self.updates, []
        return (
            partition.start_offset - shift,
            partition.end_offset - shift,
            partition.next_offset() - shift,
            partition.delivery_complete_count,
            partition.in_flight,
            partition.can_acquire,
            None if gap is None else (gap.start - shift, gap.end - shift),
            partition.active_gap is None,
            round(min(partition.look_at - self.begun, 1e9), 6),
            [
                (part.first - shift, part.last - shift, part.delivery.state, part.delivery.count,
                 part.delivery.member_id, round(min(part.delivery.locked_until - self.begun, 1e9), 6))
                for batch in partition.batches
                for part in batch.parts()
            ],
            [
                (each.state_epoch - shift, each.leader_epoch - shift, each.start_offset - shift,
                 each.delivery_complete_count,
                 [(batch.first_offset - shift, batch.last_offset - shift, batch.delivery_state, batch.delivery_count)
                  for batch in each.batches])
                for each in updates
            ],
        )  # fmt: skip

    def read(self, offset: int) -> tuple[list[RecordBatch], list[AbortedTransaction]]:
        found = [each for each in self.log if self.moved(each.last) >= offset][: self.dice.randrange(1, 5)]
        batches = list[RecordBatch]()
        for each in found:
            key, value = ABORT if each.is_marker else (None, b"")
            encoded = encode_batch(
                [Record(offset=self.moved(each.first), key=key, value=value)],
                base_offset=self.moved(each.first),
                last_offset=self.moved(each.last),
                producer_id=-1 if each.producer < 0 else self.moved(each.producer),
                transactional=each.producer >= 0,
                control=each.is_marker,
            )
            batches += read_batches(encoded)
        aborted, begun = list[AbortedTransaction](), None
        for each in self.log:
            if each.is_marker and begun is not None:
                if found and begun <= found[-1].last and offset <= self.moved(each.last):
                    bounds = (self.moved(begun), self.moved(each.last), self.moved(each.last + 1))
                    aborted.append(AbortedTransaction(self.moved(7), *bounds))
                begun = None
            elif each.producer >= 0 and begun is None:
                begun = each.first
        return batches, aborted

    def acquire(self) -> object:
        if not self.partition.can_acquire:
            return self.wait()
        offset = self.partition.next_offset()
        batches, aborted = self.read(offset)
        wanted = Wanted(
            self.dice.choice(MEMBERS),
            self.dice.choice((1, 3, 10, 500)),
            self.dice.choice((1, 4, 100)),
            self.dice.random() < 0.4,
        )
        read = ReadRecords(offset, batches, aborted if self.dice.random() < 0.5 else ())
        found = acquire(self.partition, wanted, read)
        return [(each.first - self.shift, each.last - self.shift, each.count, each.size) for each in found]

    def acknowledge(self) -> object:
        partition, dice = self.partition, self.dice
        member, asked = dice.choice(MEMBERS), list[Acknowledgement]()
        for batch in partition.batches:
            for part in batch.parts():
                if part.delivery.is_acquired_by(member) and dice.random() < 0.5:
                    asked.append(self.said_of(part.first - self.shift, part.last - self.shift))
        if not asked or dice.random() < 0.1:
            start, end = partition.start_offset - self.shift, partition.end_offset - self.shift
            first = dice.randrange(max(start - 1, 0), end + 4)
            asked.append(self.said_of(first, first + dice.randrange(5)))
        acknowledge(partition, "".join([*member]), asked)
        return 0

    def said_of(self, first: int, last: int) -> Acknowledgement:
        if self.dice.random() < 0.3:
            first = self.dice.randint(first, last)
            last = self.dice.randint(first, last)
        count = 1 if self.dice.random() < 0.6 else last - first + 1
        kinds = [self.dice.choice((0, 1, 1, 2, 2, 2, 3, 4)) for _ in range(count)]
        return Acknowledgement(self.moved(first), self.moved(last), kinds)

    def release(self) -> object:
        return self.partition.release("".join([*self.dice.choice(MEMBERS)]))

    def delete(self) -> object:
        start = self.partition.start_offset - self.shift
        self.partition.note_log_start(self.moved(max(start + self.dice.randrange(-2, 12), 0)))
        return 0

    def wait(self) -> object:
        self.now += self.dice.choice((LOCK_MS // 4, LOCK_MS)) / 1000
        return self.partition.end_due_locks()


@pytest.mark.parametrize("shift", [1_000_000, (1 << 40) + 1])
def test_a_share_partition_with_larger_offsets_does_the_same(shift: int) -> None:
    """Other tests compare the partition with Apache Kafka, at small offsets."""
    for seed in range(60):
        assert [*Driven(seed, shift).course()] == [*Driven(seed, 0).course()], seed
