"""A committed reader gets each committed record once and no aborted one, whatever happens to the log meanwhile."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Final, TypeVar

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.laws.broker.test_record_store_laws import Rules

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.partitions.cleaner import RecordCleaner
from kafkawire.broker.partitions.file_store import FileRecordStore
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.segment import SegmentRules
from kafkawire.broker.partitions.transaction_markers import Marker
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord, TopicRecord
from kafkawire.wire.batches import Record, RecordBatch, decode_records, encode_batch, read_batches

T = TypeVar("T")
TOPIC: Final = Uuid(b"t" * 16)
SEGMENTS: Final = SegmentRules(2000, 20_000)
TOMBSTONES_MS: Final = 30_000

PRODUCERS = st.integers(1, 3)
PAIRS = st.lists(
    st.tuples(st.sampled_from([b"a", b"b", b"c"]), st.one_of(st.none(), st.integers(1, 400).map(bytes))),
    min_size=1,
    max_size=3,
)


@dataclass
class Written:
    """A record, and whether it is committed; None in an open transaction."""

    record: Record
    is_committed: bool | None


@dataclass
class Producer:
    """What a producer knows of itself."""

    epoch: int = 0
    sequence: int = 0
    open_since: int | None = None


class Model:
    """The records that a reader may get, and the producers."""

    def __init__(self) -> None:
        self.written: dict[int, Written] = {}
        self.producers = {number: Producer() for number in (1, 2, 3)}
        self.transactions: dict[int, list[int]] = {}
        self.horizons: dict[int, int] = {}
        self.start = self.end = 0

    @property
    def last_stable_offset(self) -> int:
        begins = [one.open_since for one in self.producers.values() if one.open_since is not None]
        return max(self.start, min(begins, default=self.end))

    def committed(self, start: int) -> dict[int, Record]:
        """The records that a committed reader gets from an offset on."""
        stable = self.last_stable_offset
        return {at: one.record for at, one in self.written.items() if one.is_committed and start <= at < stable}

    def compact(self, begin: int, end: int, now_ms: int) -> None:
        there = {at: one.record for at, one in self.written.items() if one.is_committed and begin <= at < end}
        newest = {record.key: offset for offset, record in sorted(there.items())}
        for at, record in there.items():
            is_kept = newest[record.key] == at
            if is_kept and record.value is None:
                is_kept = now_ms < self.horizons.setdefault(at, now_ms + TOMBSTONES_MS)
            if not is_kept:
                del self.written[at]


class Machine(RuleBasedStateMachine):
    """One partition."""

    on_disk = True

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.model = Model()
        self.generation = 0

    def run(self, awaitable: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await awaitable

        return self.runner.run(awaited())

    @initialize()
    def open(self) -> None:
        image = MetadataImage()
        controller = Controller(MetadataLog(), image)
        controller.commit([TopicRecord("t", TOPIC), PartitionRecord(0, TOPIC)])
        self.store: RecordStore = RecordStore()
        if self.on_disk:
            self.store = FileRecordStore(
                self.data,
                controller,
                now_ms=self.clock.now_ms(),
                producers_expire_ms=20_000,
                on_failure=self.on_failure,
            )
        dynamic = DynamicConfiguration(BrokerConfiguration({}), image.configs)
        self.topic_rules = Rules(dynamic, image)
        self.cleaner = RecordCleaner(self.store, image.topics, self.topic_rules, dynamic, self.clock)

    @property
    def data(self) -> Path:
        path = self.folder / str(self.generation)
        path.mkdir(exist_ok=True)
        return path

    def on_failure(self, error: StorageError) -> None:
        raise AssertionError(str(error))

    @property
    def log(self) -> PartitionLog:
        return self.store.log(TOPIC, 0)

    @rule(number=PRODUCERS, batches=st.lists(PAIRS, min_size=1, max_size=3), committed=st.booleans())
    def transaction(self, number: int, batches: list[list[tuple[bytes, bytes | None]]], *, committed: bool) -> None:
        """A whole one, so that the last stable offset moves now and then."""
        for pairs in batches:
            self.write(number, pairs, transactional=True)
        self.end(number, committed=committed, bumps=False)

    @rule(number=PRODUCERS, pairs=PAIRS, transactional=st.booleans())
    def write(self, number: int, pairs: list[tuple[bytes, bytes | None]], *, transactional: bool) -> None:
        producer = self.model.producers[number]
        transactional = transactional or producer.open_since is not None
        records = [Record(timestamp=self.clock.now_ms(), key=key, value=value) for key, value in pairs]
        batch = self.batch(number, producer, records, transactional=transactional)

        async def append() -> None:
            verification = self.log.producers.to_verify(batch, is_strict=False)
            appended = self.store.append(
                TOPIC, 0, batch, 0, rules=SEGMENTS, now_ms=self.clock.now_ms(), verification=verification
            )
            assert appended.base_offset == self.model.end
            await self.log.durable()

        self.run(append())
        producer.sequence += len(records)
        if transactional and producer.open_since is None:
            producer.open_since = self.model.end
        for record in records:
            self.model.written[self.model.end] = Written(record, None if transactional else True)
            if transactional:
                self.model.transactions.setdefault(number, []).append(self.model.end)
            self.model.end += 1

    def batch(self, number: int, producer: Producer, records: list[Record], *, transactional: bool) -> RecordBatch:
        encoded = encode_batch(
            records,
            producer_id=number,
            producer_epoch=producer.epoch,
            base_sequence=producer.sequence,
            transactional=transactional,
        )
        return next(read_batches(encoded))

    @rule(number=PRODUCERS, committed=st.booleans(), bumps=st.booleans())
    def end(self, number: int, *, committed: bool, bumps: bool) -> None:
        producer = self.model.producers[number]
        is_forgotten = number not in {state.producer_id for state in self.log.producers.states()}
        # Where a producer is forgotten, a client begins with a new epoch. With the old one its next sequence would be 0
        # after this marker, but another one after a crash, by which all its batches are read again.
        bumps = bumps or is_forgotten
        if bumps:
            producer.epoch += 1
            producer.sequence = 0

        async def append() -> None:
            offset = self.log.append_marker(
                number,
                producer.epoch,
                committed=committed,
                coordinator_epoch=0,
                leader_epoch=0,
                now_ms=self.clock.now_ms(),
                rules=SEGMENTS,
                bumps_epoch=bumps,
            )
            assert offset == self.model.end
            await self.log.durable()

        self.run(append())
        self.model.end += 1
        producer.open_since = None
        for at in self.model.transactions.pop(number, []):
            if at in self.model.written:
                self.model.written[at].is_committed = committed

    @rule(seconds=st.sampled_from([1, 15, 40]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        offset = round(self.model.end * part)
        self.run(self.log.delete_before(offset))
        self.model.start = max(self.model.start, offset)

    @rule()
    def retain(self) -> None:
        self.topic_rules.retention_bytes = 3000
        self.run(self.cleaner.clean("t"))
        self.topic_rules.retention_bytes = -1
        assert self.log.start_offset >= self.model.start
        self.model.start = self.log.start_offset

    @rule()
    def compact(self) -> None:
        self.topic_rules.compacts = True
        self.run(self.cleaner.clean("t"))
        self.topic_rules.compacts = False
        begin = self.log.segments[0].base_offset if self.log.segments else 0
        self.model.compact(begin, self.log.cleaned_offset, self.clock.now_ms())
        found = {
            record.offset
            for batch in self.log.batches(begin)
            if batch.last_offset < self.log.cleaned_offset and not batch.is_control
            for record in decode_records(batch)
            if record.offset >= self.model.start  # what is deleted already is not compacted, as in Kafka
        }
        assert found <= self.model.written.keys() - self.aborted()

    def aborted(self) -> set[int]:
        return {at for at, one in self.model.written.items() if one.is_committed is False}

    @precondition(lambda self: self.on_disk)
    @rule(is_crash=st.booleans())
    def restart(self, *, is_crash: bool) -> None:
        before = self.data
        if is_crash:
            self.generation += 1
            shutil.copytree(before, self.data, dirs_exist_ok=True)
        self.run(self.store.close())
        self.open()

    @invariant()
    def readers_get_what_is_committed(self) -> None:
        if not hasattr(self, "store"):
            return
        log, model = self.log, self.model
        assert (log.start_offset, log.end_offset) == (model.start, model.end)
        assert log.last_stable_offset == model.last_stable_offset
        for number, producer in model.producers.items():
            assert log.producers.transactions.first_offset(number) == producer.open_since
        for begin in {model.start, (model.start + model.end) // 2}:
            for most in (1, 300, 100_000):
                found = [*self.read_committed(begin, most)]
                assert [at for at, _ in found] == sorted(model.committed(begin))
                assert dict(found) == {at: (r.key, r.value) for at, r in model.committed(begin).items()}

    def read_committed(self, offset: int, most: int) -> Iterator[tuple[int, tuple[bytes | None, bytes | None]]]:
        """The records, as clients get them: each fetch begins without knowledge of the one before."""
        log = self.log
        while records := log.read(offset, most, at_least_one=True, end=log.last_stable_offset):
            coming = sorted(log.aborted_by_read(offset, len(records)), key=attrgetter("first_offset"), reverse=True)
            aborting: set[int] = set()
            for batch in read_batches(records):
                while coming and coming[-1].first_offset <= batch.last_offset:
                    aborting.add(coming.pop().producer_id)
                if batch.is_control:
                    marker = Marker.of(batch)
                    if marker is not None and not marker.committed:
                        aborting.discard(batch.producer_id)
                elif not (batch.is_transactional and batch.producer_id in aborting):
                    for record in decode_records(batch):
                        if record.offset >= offset:
                            yield record.offset, (record.key, record.value)
                offset = batch.last_offset + 1

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.run(self.store.close())
        self.runner.close()
        shutil.rmtree(self.folder)


class MachineInMemory(Machine):
    """The same without a directory."""

    on_disk = False


TestOnDisk = Machine.TestCase
TestOnDisk.settings = settings(deadline=None, stateful_step_count=30, max_examples=40)
TestInMemory = MachineInMemory.TestCase
TestInMemory.settings = settings(deadline=None, stateful_step_count=30, max_examples=40)
