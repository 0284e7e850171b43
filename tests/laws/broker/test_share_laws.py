"""Laws of share partitions, whatever members do and when, with failed writes and restarts."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kafkawire.broker.share_coordinator.state import (
    SharePartitionKey,
    SharesState,
    ShareState,
    ShareSummary,
    StateUpdate,
    snapshot,
    update_value,
)
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, AcknowledgeType, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.layout import Uuid
from kafkawire.protocol import ShareSnapshotKey, ShareUpdateKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

SEEDS = int(os.environ.get("KAFKAWIRE_GROUP_SEEDS", "60"))
"""How many share partitions live; ``--hypothesis-seed`` says with which they begin."""

RULES = ShareRules(lock_ms=10_000, most_deliveries=4, most_in_flight=12)
KEY = SharePartitionKey("g", Uuid(b"0123456789abcdef"), 0)
MEMBERS = ("one", "two", "three")
MEMBER, OFFSET = st.sampled_from(MEMBERS), st.integers(0, 40)
TYPES = st.lists(st.integers(0, 4), min_size=1, max_size=6)


@dataclass
class Known:
    """What is known of a record.

    Attributes:
        count: how often it was delivered.
        written: the same, as far as it is recorded.
        holder, until: who has it, and until when; empty if no member has it.
        done: whether it may never come again.
    """

    count: int = 0
    written: int = 0
    holder: str = ""
    until: float = 0
    done: bool = False


class SharePartitionMachine(RuleBasedStateMachine):
    """A share partition, its members, and what they have been given."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.fails = False
        self.log: list[RecordBatch] = []
        self.known: list[Known] = []
        self.stays_at = -1
        """Where the partition starts although the record is done with: it was recorded, and records may be missing
        before it. Apache Kafka goes on when a later one was delivered and acknowledged."""
        self.recorded = SharesState()
        first = ShareState(0, ShareSummary(0, 0, 0, 0))
        self.recorded.apply(ShareSnapshotKey(*KEY), snapshot(first))
        self.partition = self.read()

    def read(self) -> SharePartition:
        state = self.recorded.by_key[KEY]
        return SharePartition(
            state, 0, state.summary.start_offset, rules=lambda: RULES, now=lambda: self.now, write=self.write
        )

    def write(self, update: StateUpdate) -> ErrorCode:
        if self.fails:
            return ErrorCode.INVALID_REQUEST
        self.recorded.apply(ShareUpdateKey(*KEY), update_value(self.recorded.by_key[KEY], update, 0))
        for batch in update.batches:
            for offset in range(batch.first_offset, batch.last_offset + 1):
                self.known[offset].written = batch.delivery_count
        return ErrorCode.NONE

    @rule(counts=st.lists(st.integers(1, 5), min_size=1, max_size=3))
    def produce(self, counts: list[int]) -> None:
        for count in counts if len(self.known) < 40 else ():
            encoded = encode_batch([Record(value=b"")] * count, base_offset=len(self.known))
            self.log += read_batches(encoded)
            self.known += [Known() for _ in range(count)]

    @rule(member=MEMBER, most=st.integers(1, 9), size=st.integers(1, 9), strict=st.booleans(), read=st.integers(1, 3))
    def fetch(self, member: str, most: int, size: int, strict: bool, read: int) -> None:
        offset = self.partition.next_offset()
        batches = [batch for batch in self.log if batch.last_offset >= offset][:read]
        if not batches or not self.partition.can_acquire:
            return
        acquired = acquire(self.partition, Wanted(member, most, size, strict), ReadRecords(offset, batches))
        assert not strict or sum(each.size for each in acquired) <= most
        for each in acquired:
            for record in self.known[each.first : each.last + 1]:
                assert not record.done
                assert not record.holder
                record.count += 1
                assert record.count == each.count <= RULES.most_deliveries
                record.holder, record.until = member, self.now + RULES.lock_ms / 1000

    @rule(pick=st.integers(0, 50), types=TYPES, length=st.integers(1, 8), fails=st.sampled_from([False, False, True]))
    def acknowledge_what_is_held(self, pick: int, types: list[int], length: int, fails: bool) -> None:
        held = [offset for offset, record in enumerate(self.known) if record.holder]
        if held:
            first = held[pick % len(held)]
            holder, end = self.known[first].holder, first
            while end < len(self.known) and self.known[end].holder == holder:
                end += 1
            self.acknowledge(holder, first, types[: end - first], min(length, end - first), fails)

    @rule(member=MEMBER, first=OFFSET, types=TYPES, length=st.integers(1, 8), fails=st.booleans())
    def acknowledge(self, member: str, first: int, types: list[int], length: int, fails: bool) -> None:
        last = first + (len(types) if len(types) > 1 else length) - 1
        meant = self.known[first : last + 1]
        each_type = types if len(types) > 1 else types * len(meant)
        may = len(meant) == last - first + 1 and all(record.holder == member for record in meant)
        self.fails = fails
        try:
            acknowledge(self.partition, member, [Acknowledgement(first, last, types)])
        except AcknowledgementError:
            below = last >= self.partition.start_offset > first
            assert not may or below
            self.renewed(meant, each_type, member)
            return
        except ShareStateError:
            assert fails
            self.renewed(meant, each_type, member)
            return
        finally:
            self.fails = False
        if last < self.partition.start_offset and not may:
            return  # all of it was done with before
        if self.partition.active_gap is None and AcknowledgeType.RENEW not in each_type:
            self.stays_at = -1
        for record, kind in zip(meant, each_type, strict=False):
            if record.holder == member:
                self.acknowledged(record, kind)

    def renewed(self, meant: list[Known], types: list[int], member: str) -> None:
        """Locks before the refused record are renewed nevertheless."""
        offsets = {id(record): offset for offset, record in enumerate(self.known)}
        for record in meant[: len(types)]:
            if record.holder == member:
                batch = self.partition.batches.floor(offsets[id(record)])
                delivery = None if batch is None else batch.delivery_at(offsets[id(record)])
                record.until = record.until if delivery is None else delivery.locked_until

    def acknowledged(self, record: Known, kind: int) -> None:
        if kind == AcknowledgeType.RENEW:
            record.until = self.now + RULES.lock_ms / 1000
            return
        record.holder = ""
        is_used_up = kind == AcknowledgeType.RELEASE and record.count >= RULES.most_deliveries
        record.done = kind != AcknowledgeType.RELEASE or is_used_up

    @rule(member=MEMBER, fails=st.booleans())
    def leave(self, member: str, fails: bool) -> None:
        self.fails = fails
        try:
            self.partition.release(member)
        except ShareStateError:
            return
        finally:
            self.fails = False
        for record in self.known:
            if record.holder == member:
                self.acknowledged(record, AcknowledgeType.RELEASE)

    @rule(seconds=st.integers(1, 11))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        assert self.partition.look_at <= min((each.until for each in self.known if each.holder), default=float("inf"))
        self.partition.end_due_locks()
        for record in self.known:
            if record.holder and record.until <= self.now:
                self.acknowledged(record, AcknowledgeType.RELEASE)

    @rule()
    def restart(self) -> None:
        self.partition = self.read()
        for record in self.known:
            record.holder = ""
            record.count = record.count if record.done else record.written

    @invariant()
    def what_is_in_flight_is_what_members_have(self) -> None:
        held = {
            offset: part.delivery.member_id
            for batch in self.partition.batches
            for part in batch.parts()
            for offset in range(part.first, part.last + 1)
            if part.delivery.member_id
        }
        assert held == {offset: record.holder for offset, record in enumerate(self.known) if record.holder}
        start, gap = self.partition.start_offset, self.partition.active_gap
        assert all(record.done for record in self.known[:start])
        if gap is not None and start >= gap.start:
            self.stays_at = start
        assert start in {self.stays_at, len(self.known)} or not self.known[start].done

    @invariant()
    def as_many_are_counted_as_are_done_with(self) -> None:
        start, end = self.partition.start_offset, self.partition.end_offset
        in_flight = self.known[start : end + 1] if self.partition.batches else []
        assert self.partition.delivery_complete_count == sum(record.done for record in in_flight)

    def teardown(self) -> None:
        """Nothing is lost: in the end one member gets all that is left."""
        self.wait(11)
        for _ in range(500):
            self.fetch("one", 9, 9, strict=False, read=3)
            for offset, record in enumerate(self.known):
                if record.holder:
                    self.acknowledge("one", offset, [AcknowledgeType.ACCEPT], 1, fails=False)
        assert all(record.done for record in self.known)


TestSharePartitions = SharePartitionMachine.TestCase
TestSharePartitions.settings = settings(max_examples=SEEDS, stateful_step_count=40, deadline=None)
