"""Transactions without a broker around them: in memory, at a time that tests move, with partitions and groups."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.producer_ids import ProducerIds
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.topic_rules import RulesOfTopics
from kafkawire.broker.partitions.verifications import TransactionalWrite
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from kafkawire.broker.topics.placement import Placement
from kafkawire.broker.transactions.coordinator import TransactionCoordinator
from kafkawire.broker.transactions.live_transactions import Answer, Transactions
from kafkawire.broker.transactions.markers import MarkerWriter
from kafkawire.broker.transactions.settings import TransactionSettings
from kafkawire.broker.transactions.transaction import V2, Ending, Initialization, Partition, Transaction, prepared
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    FeatureLevelRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionRecord,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

TOPIC = "out"
_ID = Uuid(b"id of the topic!")
_TURNS = 10
_CONFIGURATION = BrokerConfiguration({"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "2"})


class DrivenTransactions:
    """The coordinator of transactions, the partitions of a topic, and the offsets of groups.

    Args:
        level: of ``transaction.version``.
        partitions: of the topic.
        log: of the metadata; None for one that is always durable.

    Attributes:
        clock: moved by ``wait``.
        markers: writes markers to the partitions.
        transactions: takes requests.
    """

    def __init__(self, level: int = V2, partitions: int = 2, log: MetadataLog | None = None) -> None:
        self.clock = ManualClock()
        image = MetadataImage()
        self._controller = Controller(log or MetadataLog(), image)
        self._controller.commit([FeatureLevelRecord("transaction.version", level)])
        numbers = range(partitions)
        made = [PartitionRecord(number, _ID, (1,), (1,), leader=1) for number in numbers]
        self._controller.commit([TopicRecord(TOPIC, _ID), *made])
        placement = Placement(Nodes(Cluster("", 1, "", 0), Uuid(b"directory of log")))
        offsets = InternalTopic(OFFSETS_TOPIC, self._controller, _CONFIGURATION, placement)
        store = RecordStore()
        self._groups = GroupCoordinator.opened(None, offsets, self.clock, store=store)
        self._groups.follow(self._controller)
        states = InternalTopic(TRANSACTIONS_TOPIC, self._controller, _CONFIGURATION, placement)
        self._coordinator = TransactionCoordinator.opened(None, states, self._controller, self.clock, store=store)
        self._coordinator.follow(self._controller)
        self._logs = [store.log(_ID, number) for number in numbers]
        self._readers = [_Reader() for _ in numbers]
        rules = RulesOfTopics(DynamicConfiguration(_CONFIGURATION, image.configs), image.configs)
        self.markers = MarkerWriter(self._controller, store, self._groups, rules, self.clock)
        self._ids = ProducerIds(self._controller, 1)
        self._settings = TransactionSettings.of(_CONFIGURATION)
        self.transactions = self._made()

    def _made(self) -> Transactions:
        return Transactions(
            self._coordinator, self.markers, self._controller, self._ids, clock=self.clock, settings=self._settings
        )

    @property
    def logs(self) -> Sequence[PartitionLog]:
        """The partitions."""
        return self._logs

    def load(self) -> None:
        """Begin, in the event loop."""
        self.transactions.load()

    async def close(self) -> None:
        await self.transactions.close()

    async def use_up(self, transactional_id: str, epoch: int) -> None:
        """Let a transactional id have an epoch that it would have after many transactions."""
        await self._coordinator.prepare([transactional_id])
        self._coordinator.record(transactional_id, Transaction(self._ids.next(), epoch, 60_000))

    def take_producer_id(self) -> int:
        """Give a producer id to a client without transactions."""
        return self._ids.next()

    async def restart(self) -> None:
        """The broker comes back with its records, which lack the epoch before."""
        await self.close()
        for transactional_id, transaction in [*self._coordinator.state.by_id.items()]:
            self._coordinator.state.put(transactional_id, Transaction.of(transaction.value()))
        self.transactions = self._made()
        self.load()

    async def restart_when_decided(self, transactional_id: str, *, committed: bool, version: int) -> None:
        """The broker stops when the end of a transaction is decided, before there is a marker."""
        await self._coordinator.prepare([transactional_id])
        now_ms = self.clock.now_ms()
        transaction = self.transactions.by_id[transactional_id]
        decided = prepared(transaction, committed, version, self._ids.next, now_ms)
        self._coordinator.record(transactional_id, decided)
        await self.restart()

    async def wait(self, seconds: float) -> None:
        """Let time pass, and what is due be done."""
        await _turns()
        self.clock.advance(seconds)
        await _turns()
        await self.transactions.settled()

    async def offer_offset(self, producer: Producer, group: str, offset: int) -> None:
        """Write an offset that a group commits in a transaction."""
        await self._groups.prepare([group])
        value = OffsetCommitValue(offset, -1, "", self.clock.now_ms())
        self._groups.commit([(OffsetCommitKey(group, "in", 0), value)], producer)
        await self._groups.durable()

    def place_of(self, group: str) -> Partition:
        """The partition of the offsets of a group."""
        return OFFSETS_TOPIC, self._groups.partition_of(group)

    def committed_offset(self, group: str) -> int:
        """The offset of a group; -1 for none."""
        found = self._groups.state.by_id.get(group)
        value = None if found is None else found.commits.get(("in", 0))
        return -1 if value is None else value.offset

    def has_pending_offset(self, group: str) -> bool:
        """Whether an offset of a group is in an open transaction."""
        found = self._groups.state.by_id.get(group)
        return found is not None and bool(found.pending.get(("in", 0)))

    def records(self, partition: int) -> tuple[Sequence[bytes], Sequence[bytes]]:
        """The values in committed transactions, by their markers, and those that no marker has ended yet."""
        reader = self._readers[partition]
        reader.read(self._logs[partition])
        return reader.committed, [value for values in reader.is_open.values() for value in values]


class _Reader:
    """Reads a partition: what was committed, and what is open by producer id."""

    def __init__(self) -> None:
        self.committed: list[bytes] = []
        self.is_open: dict[int, list[bytes]] = defaultdict(list)
        self._next = 0

    def read(self, log: PartitionLog) -> None:
        """Read what is new."""
        for batch in log.batches(self._next) if self._next < log.end_offset else ():
            self._next = batch.last_offset + 1
            for record in decode_records(batch):
                if not batch.is_control:
                    self.is_open[batch.producer_id].append(bytes(record.value or b""))
                    continue
                control = decode_control_record(record.key, record.value)
                ended = self.is_open.pop(batch.producer_id, [])
                if isinstance(control, ControlRecord) and control.type is ControlRecordType.COMMIT:
                    self.committed += ended


async def _turns() -> None:
    """Let the timers of the coordinator run."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


class DrivenProducer:
    """A transactional producer as its client sees it.

    Attributes:
        version: the level of ``transaction.version`` that it uses.
        producer: its id and epoch.
    """

    def __init__(self, driven: DrivenTransactions, transactional_id: str, version: int = V2) -> None:
        self._driven = driven
        self._transactional_id, self.version = transactional_id, version
        self.producer = Producer(-1, -1)
        self._sequences: Counter[int] = Counter()

    async def begin(self, timeout_ms: int = 60_000, *, goes_on: bool = False) -> ErrorCode:
        """Ask for an epoch, also while a transaction is ended; one that goes on says which it has (KIP-360)."""
        asked = Initialization(timeout_ms, self.producer if goes_on else None)
        answer = await self._driven.transactions.initialize(self._transactional_id, asked)
        if answer.error is ErrorCode.CONCURRENT_TRANSACTIONS:
            answer = await self._driven.transactions.initialize(self._transactional_id, asked)
        return self._take(answer)

    async def write(self, partition: int, value: bytes) -> ErrorCode:
        """Write a record in a transaction, as the broker handles a produce request."""
        if error := await self._confirmed((TOPIC, partition)):
            return error
        encoded = encode_batch(
            [Record(value=value)],
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.epoch,
            base_sequence=self._sequences[partition],
            transactional=True,
        )
        (batch,) = read_batches(encoded)
        log = self._driven.logs[partition]
        log.append(batch, 0, verification=log.producers.to_verify(batch, is_strict=self.version >= V2))
        self._sequences[partition] += 1
        return ErrorCode.NONE

    async def commit_offset(self, group: str, offset: int) -> ErrorCode:
        """Commit an offset of a group in a transaction."""
        if error := await self._confirmed(self._driven.place_of(group)):
            return error
        await self._driven.offer_offset(self.producer, group, offset)
        return ErrorCode.NONE

    async def end(self, *, committed: bool, is_answer_lost: bool = False) -> ErrorCode:
        """End the transaction."""
        ending = Ending(self.producer, committed, self.version)
        answer = await self._driven.transactions.end(self._transactional_id, ending)
        return answer.error if is_answer_lost or self.version < V2 else self._take(answer)

    def _take(self, answer: Answer) -> ErrorCode:
        if not answer.error and answer.producer != self.producer:
            self.producer, self._sequences = answer.producer, Counter()
        return answer.error

    async def _confirmed(self, place: Partition) -> ErrorCode:
        transactions, adds = self._driven.transactions, self.version >= V2
        if not adds:
            error = await transactions.add_partitions(self._transactional_id, self.producer, [place], self.version)
            if error:
                return error
        write = TransactionalWrite(self._transactional_id, *self.producer, [place], adds=adds)
        return (await transactions.confirm(write)).get(place, ErrorCode.NONE)
