"""Records in memory and on disk are those of a simple model, whatever is deleted or compacted, and over every crash."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, TypeVar

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.partitions.checked_batch import AppendRules
from kafkawire.broker.partitions.cleaner import RecordCleaner
from kafkawire.broker.partitions.file_store import FileRecordStore
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.segment import SegmentRules
from kafkawire.broker.partitions.topic_rules import CleaningRules, RulesOfTopics, TopicRules
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord, TopicRecord
from kafkawire.wire.batches import Record, RecordBatch, decode_records, encode_batch, read_batches
from kafkawire.wire.batches.batch import NO_PRODUCER_ID
from kafkawire.wire.compression import Codec

T = TypeVar("T")
TOPIC: Final = Uuid(b"t" * 16)
PRODUCER: Final = 5
SEGMENTS: Final = SegmentRules(9_000, 20_000)
TOMBSTONES_MS: Final = 30_000

KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
VALUES = st.one_of(st.none(), st.binary(max_size=100), st.integers(1000, 4000).map(bytes))
PAIRS = st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4)


class Rules(RulesOfTopics):
    """Of a topic whose policy changes, with segments smaller than Kafka allows."""

    def __init__(self, dynamic: DynamicConfiguration, configs: MetadataImage) -> None:
        super().__init__(dynamic, configs.configs)
        self.compacts = False
        self.retention_ms = self.retention_bytes = -1

    def of(self, topic: str) -> TopicRules:
        assert topic == "t"
        cleaning = CleaningRules(
            not self.compacts, self.compacts, self.retention_ms, self.retention_bytes, 0.5, TOMBSTONES_MS, 0
        )
        return TopicRules(AppendRules(), SEGMENTS, cleaning)


class Model:
    """The records that are there, and the first and the next offset."""

    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.start = self.end = 0
        self.sequence = 0
        self.horizons: dict[int, int] = {}

    def append(self, records: list[Record]) -> None:
        for record in records:
            self.records[self.end] = record
            self.end += 1

    def compact(self, now_ms: int) -> None:
        newest = {record.key: offset for offset, record in self.records.items()}
        kept = {at: record for at, record in self.records.items() if newest[record.key] == at}
        self.records = {
            at: record for at, record in kept.items() if record.value is not None or now_ms < self._horizon(at, now_ms)
        }

    def _horizon(self, offset: int, now_ms: int) -> int:
        return self.horizons.setdefault(offset, now_ms + TOMBSTONES_MS)


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
    def first_start(self) -> None:
        self.open()

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

    def batch(self, pairs: list[tuple[bytes, bytes | None]], codec: Codec, *, idempotent: bool) -> RecordBatch:
        now_ms = self.clock.now_ms()
        records = [Record(timestamp=now_ms, key=key, value=value) for key, value in pairs]
        producer_id, epoch, sequence = (PRODUCER, 0, self.model.sequence) if idempotent else (NO_PRODUCER_ID, -1, -1)
        encoded = encode_batch(
            records, codec=codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
        )
        return next(read_batches(encoded))

    @rule(pairs=PAIRS, codec=st.sampled_from([Codec.NONE, Codec.GZIP]), idempotent=st.booleans(), twice=st.booleans())
    def produce(self, pairs: list[tuple[bytes, bytes | None]], codec: Codec, *, idempotent: bool, twice: bool) -> None:
        batch = self.batch(pairs, codec, idempotent=idempotent)

        async def append() -> None:
            appended = self.store.append(TOPIC, 0, batch, 0, rules=SEGMENTS, now_ms=self.clock.now_ms())
            assert appended.base_offset == self.model.end
            if twice and idempotent:
                again = self.store.append(TOPIC, 0, batch, 0, rules=SEGMENTS, now_ms=self.clock.now_ms())
                assert again.base_offset == appended.base_offset
            await self.log.durable()

        self.run(append())
        self.model.append([*decode_records(batch)])
        self.model.sequence += len(pairs) if idempotent else 0

    @rule(seconds=st.sampled_from([1, 15, 40]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        offset = round(self.model.end * part)
        self.run(self.log.delete_before(offset))
        self.model.start = max(self.model.start, offset)

    @rule(retention_ms=st.sampled_from([-1, 10_000]), retention_bytes=st.sampled_from([-1, 10_000]))
    def retain(self, retention_ms: int, retention_bytes: int) -> None:
        """Which segments go is not in the model, but only whole beginnings may, and no more than the rules say."""
        self.topic_rules.retention_ms, self.topic_rules.retention_bytes = retention_ms, retention_bytes
        size, start = self.log.size, self.log.start_offset
        self.run(self.cleaner.clean("t"))
        self.topic_rules.retention_ms = self.topic_rules.retention_bytes = -1
        new_start = self.log.start_offset
        assert new_start >= start
        oldest_ms = self.clock.now_ms() - retention_ms
        gone = [record for at, record in self.model.records.items() if start <= at < new_start]
        if retention_bytes < 0:
            assert all(retention_ms >= 0 and record.timestamp < oldest_ms for record in gone)
        elif retention_ms < 0 and gone:
            assert self.log.size >= retention_bytes or size < retention_bytes
        self.model.start = new_start

    @rule()
    def compact(self) -> None:
        self.topic_rules.compacts = True
        self.run(self.cleaner.clean("t"))
        self.topic_rules.compacts = False
        self.forget_deleted()
        self.model.compact(self.clock.now_ms())

    def forget_deleted(self) -> None:
        """Deleted records may still be in a segment; the newest of a key counts all the same."""
        first = self.log.segments[0].base_offset if self.log.segments else 0
        self.model.records = {at: record for at, record in self.model.records.items() if at >= first}

    @precondition(lambda self: self.on_disk)
    @rule()
    def restart(self) -> None:
        self.run(self.store.close())
        self.open()

    @precondition(lambda self: self.on_disk)
    @rule(pairs=PAIRS, part=st.floats(0, 1), idempotent=st.booleans())
    def crash(self, pairs: list[tuple[bytes, bytes | None]], part: float, *, idempotent: bool) -> None:
        """The disk has all that was acknowledged, and any part of the batch that was being written."""
        batch = self.batch(pairs, Codec.NONE, idempotent=idempotent)
        written = batch.to_bytes()
        before = self.data
        self.generation += 1
        shutil.copytree(before, self.data, dirs_exist_ok=True)
        logs = sorted((self.data / "t-0").glob("*.log"))
        cut = round(len(written) * part)
        if logs:
            stored = self.model.end.to_bytes(8) + written[8:]
            logs[-1].write_bytes(logs[-1].read_bytes() + stored[:cut])
            (self.data / "t-0" / f"{0:020d}.log.cleaned").write_bytes(stored)
        self.run(self.store.close())
        self.open()
        if logs and cut == len(written):
            self.model.append([*decode_records(batch)])
            self.model.sequence += len(pairs) if idempotent else 0

    @invariant()
    def reads_are_those_of_the_model(self) -> None:
        if not hasattr(self, "store"):
            return
        log, model = self.log, self.model
        assert (log.start_offset, log.end_offset, log.high_watermark) == (model.start, model.end, model.end)
        expected = {at: record for at, record in model.records.items() if at >= model.start}
        for offset in {model.start, (model.start + model.end) // 2, max(model.end - 1, model.start)}:
            found: dict[int, Record] = {}
            at = offset
            while records := log.read(at, 1, at_least_one=True):
                for batch in read_batches(records):
                    found |= {record.offset: record for record in decode_records(batch) if record.offset >= at}
                    at = batch.last_offset + 1
            assert {at: (r.key, r.value, r.timestamp) for at, r in found.items()} == {
                at: (r.key, r.value, r.timestamp) for at, r in expected.items() if at >= offset
            }
        for timestamp in {record.timestamp for record in expected.values()}:
            first = min(at for at, record in expected.items() if record.timestamp >= timestamp)
            since = log.first_since(timestamp)
            assert since is not None
            assert since.offset == first

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.run(self.store.close())
        self.runner.close()
        shutil.rmtree(self.folder)


class MachineInMemory(Machine):
    """The same without a directory."""

    on_disk = False


TestOnDisk = Machine.TestCase
TestOnDisk.settings = settings(deadline=None, stateful_step_count=30, max_examples=60)
TestInMemory = MachineInMemory.TestCase
TestInMemory.settings = settings(deadline=None, stateful_step_count=30, max_examples=60)
