"""Clients of a broker that may be killed: each does one thing at a time, and asks again after a kill."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from tests.embedded.driven_broker import DrivenClient
from tests.embedded.kept_records import Fate, KeptRecords, SentBatch, SentTransaction
from tests.embedded.mortal_broker import MortalBroker
from tests.embedded.partition_reading import Place, read

from kafkawire.protocol import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    ProduceRequest,
    ProduceResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch

Key = tuple[str, int]
"""Group and partition of an offset."""

OFFSETS_OF: Final = "a"
TIMEOUT_MS: Final = 60_000
_EXPIRATION_MS: Final = 86_400_000
_KEYS: Final = (b"x", b"y")
_PRODUCE: Final = 12
_PRODUCE_V0: Final = 11
_MOST_TRIES: Final = 200


class World:
    """What the clients of a life share.

    Attributes:
        chance: decides what they do.
        broker: that they use.
        records: that they have sent.
        offsets: key of an offset to the values that it may have; the first one is known.
        producers: all ids and epochs that were given out.
        is_writing: whether the writer waits for an answer.
    """

    def __init__(self, chance: random.Random, broker: MortalBroker, records: KeptRecords) -> None:
        self.chance = chance
        self.broker = broker
        self.records = records
        self.offsets: dict[Key, list[int]] = {}
        self.producers: dict[tuple[int, int], str] = {}
        self.number = 0
        self.is_writing = False
        self._time = 0

    def next_number(self) -> int:
        """A number that is higher than all before."""
        self.number += 1
        return self.number

    def next_time(self) -> int:
        """A timestamp for a record: segments end after a few of them."""
        self._time += self.chance.randint(0, 5)
        return self.broker.clock.now_ms() + self._time

    def note_producer(self, producer_id: int, epoch: int, name: str) -> None:
        """A producer was given an id; no other has it."""
        owners = {owner for (given, _), owner in self.producers.items() if given == producer_id}
        assert owners <= {name}, f"{name} gets the producer id {producer_id} of {owners}"
        assert (producer_id, epoch) not in self.producers, f"{name} gets epoch {epoch} of {producer_id} again"
        self.producers[producer_id, epoch] = name


class MortalClient(ABC):
    """Someone who uses the broker.

    Args:
        world: what clients share.
        name: of the client.
    """

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.chance = world.chance
        self._client: DrivenClient | None = None

    @property
    def client(self) -> DrivenClient:
        """The connection."""
        assert self._client is not None
        return self._client

    def connect(self) -> None:
        """Connect to a broker that has started."""
        self._client = self.world.broker.connected()

    @property
    def is_waiting(self) -> bool:
        """Whether something was not answered, so that it must ask again."""
        return False

    def waited(self, seconds: float) -> None:
        """So much time has passed that transactions have timed out, and members were removed."""
        return

    @abstractmethod
    async def act(self) -> None:
        """Do something."""


class Writer(MortalClient):
    """Produces without an id, and never again what was not answered."""

    def connect(self) -> None:
        super().connect()
        self.world.is_writing = False

    async def act(self) -> None:
        self.world.is_writing = True
        await self._produce()
        self.world.is_writing = False

    async def _produce(self) -> None:
        records = self.world.records
        places: list[Place] = [("a", 0), ("a", 1), ("c", 0), *[("d", 0)] * ("d" in records.incarnations)]
        sent = []
        for _ in range(self.chance.randint(1, 2)):
            place = self.chance.choice(places)
            is_compacted = place[0] in records.compacted
            count = 1 if is_compacted else self.chance.randint(1, 2)
            batch = records.made(place, count, key=self.chance.choice(_KEYS) if is_compacted else None)
            sent.append((batch, self.client.send(produce(self.world, batch), _PRODUCE, ProduceResponse)))
        for batch, answer in sent:
            (result,) = (await answer).responses[0].partition_responses
            if result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and batch.place[0] == "d":
                batch.fate = Fate.GONE  # it was deleted meanwhile
                continue
            assert not result.error_code, f"{batch}: error {result.error_code}"
            batch.acknowledged(result.base_offset)


class IdempotentProducer(MortalClient):
    """Sends each batch until it is answered, several at once."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self._id = -1
        self._sequences: Counter[Place] = Counter()
        self._unanswered: list[SentBatch] = []

    @property
    def is_waiting(self) -> bool:
        return bool(self._unanswered)

    async def act(self) -> None:
        if self._id < 0 or (not self._unanswered and self.chance.random() < 0.1):
            answer = await self.client.send(InitProducerIdRequest(None), 4, InitProducerIdResponse)
            assert not answer.error_code
            self.world.note_producer(answer.producer_id, answer.producer_epoch, f"{self.name} {answer.producer_id}")
            self._id, self._sequences = answer.producer_id, Counter()
            return
        if not self._unanswered:
            for _ in range(self.chance.randint(1, 3)):
                place, count = ("a", self.chance.randrange(2)), self.chance.randint(1, 2)
                batch = self.world.records.made(place, count, sequence=self._sequences[place])
                self._sequences[place] += count
                self._unanswered.append(batch)
        await produced(self.client, self.world, self._unanswered, (self._id, 0))


class Committer(MortalClient):
    """Commits offsets of groups outside of transactions."""

    async def act(self) -> None:
        key: Key = self.chance.choice([("g", 2), ("h", 0)])
        sent = []
        for _ in range(self.chance.randint(1, 2)):
            offset = self.world.next_number()
            one = OffsetCommitRequest.OffsetCommitRequestPartition(key[1], offset)
            topics = (OffsetCommitRequest.OffsetCommitRequestTopic(OFFSETS_OF, partitions=(one,)),)
            self.world.offsets.setdefault(key, [-1]).append(offset)
            sent.append((offset, self.client.send(OffsetCommitRequest(key[0], topics=topics), 8, OffsetCommitResponse)))
        for offset, answer in sent:
            assert not (await answer).topics[0].partitions[0].error_code
            values = self.world.offsets[key]
            self.world.offsets[key] = [value for value in values if value >= offset]


class Reader(MortalClient):
    """Reads what is committed, while others write."""

    async def act(self) -> None:
        places = [("a", 0), ("a", 1)]
        self.world.records.note_seen(await read(self.client, places, committed=True))


class Janitor(MortalClient):
    """Deletes and compacts records."""

    async def act(self) -> None:
        if self.chance.random() < 0.4:
            await self._delete_records()
        else:
            await self.world.broker.running.assembled.cleaner.clean(self.chance.choice(["a", "c", "c"]))

    async def _delete_records(self) -> None:
        records = self.world.records
        place: Place = ("a", self.chance.randrange(2))
        starts = records.starts.setdefault(place, [0])
        known = [batch for batch in {*records.by_value.values()} if batch.place == place and batch.fate is Fate.KEPT]
        ends = sorted({batch.offset + len(batch.values) for batch in known} | {starts[-1]})
        offset = self.chance.choice(ends[: len(ends) // 2 + 1])
        if offset <= starts[-1]:
            return
        starts.append(offset)
        one = DeleteRecordsRequest.DeleteRecordsPartition(place[1], offset)
        request = DeleteRecordsRequest((DeleteRecordsRequest.DeleteRecordsTopic(place[0], (one,)),), 1000)
        answer = await self.client.send(request, 2, DeleteRecordsResponse)
        assert not answer.topics[0].partitions[0].error_code
        records.starts[place] = [offset]


class Transactor(MortalClient):
    """Has a transactional id, and writes and commits offsets in transactions.

    Args:
        world: what clients share.
        name: the transactional id.
        number: the partition of its offsets.
        is_v2: whether it is a client of version 2 of transactions (KIP-890).
    """

    def __init__(self, world: World, name: str, number: int, *, is_v2: bool) -> None:
        super().__init__(world, name)
        self.key: Key = ("g", number)
        self.transactions: list[SentTransaction] = []
        self.first_offset = -1
        self._is_v2 = is_v2
        self._producer: tuple[int, int] | None = None
        self._sequences: Counter[Place] = Counter()
        self._unanswered: list[SentBatch] = []
        self._offset: int | None = None
        self._added: set[Place | Key] = set()
        self._open: SentTransaction | None = None

    def connect(self) -> None:
        super().connect()
        self._added.clear()

    @property
    def is_waiting(self) -> bool:
        return self._open is not None and (self._open.ends is not None or bool(self._unanswered))

    def waited(self, seconds: float) -> None:
        if self._open is not None:
            self._open.is_committed = False
        if self._open is not None or seconds * 1000 > _EXPIRATION_MS:
            # A marker that is written again after the producer was forgotten begins its sequences at 0, as in Kafka.
            self._leave()

    async def act(self) -> None:
        if self._producer is None or self.chance.random() < 0.06:
            await self._begin()
        elif self._open is not None and self._open.ends is not None:
            await self._end(committed=self._open.ends)
        elif self._unanswered or self._offset is not None:
            await self._ask_again()
        else:
            wanted = [self._write, self._write, self._commit_offset]
            is_open = self._open is not None and bool(self._open.batches or self._open.offset is not None)
            if is_open:
                wanted += [self._commit, self._commit, self._abort]
            await self.chance.choice(wanted)()

    async def _begin(self) -> None:
        """Begin as another process does."""
        self._leave()
        request = InitProducerIdRequest(self.name, TIMEOUT_MS)
        answers: list[InitProducerIdResponse] = []

        async def error() -> int:
            answers.append(await self.client.send(request, 4, InitProducerIdResponse))
            return answers[-1].error_code

        await self._accepted(error)
        self._take(answers[-1].producer_id, answers[-1].producer_epoch)
        self.world.note_producer(answers[-1].producer_id, answers[-1].producer_epoch, self.name)

    def _leave(self) -> None:
        """No one goes on with what is open."""
        if self._open is not None:
            self._open.is_left = True
            if not self._open.ends:
                self._open.is_committed = False
        self._open = self._producer = self._offset = None
        self._unanswered.clear()
        self._added.clear()

    def _take(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != self._producer:
            self._producer, self._sequences = (producer_id, epoch), Counter()

    def _transaction(self) -> SentTransaction:
        if self._open is None:
            self._open = SentTransaction(self.name)
            self.transactions.append(self._open)
        return self._open

    async def _write(self) -> None:
        transaction = self._transaction()
        for _ in range(self.chance.randint(1, 2)):
            place: Place = self.chance.choice([("a", 0), ("a", 1), ("c", 0)])
            count, key = (1, self.chance.choice(_KEYS)) if place[0] == "c" else (self.chance.randint(1, 2), None)
            sequence = self._sequences[place]
            batch = self.world.records.made(place, count, key=key, transaction=transaction, sequence=sequence)
            self._sequences[place] += count
            self._unanswered.append(batch)
        await self._ask_again()

    async def _commit_offset(self) -> None:
        self._transaction()
        self._offset = self.world.next_number()
        await self._ask_again()

    async def _ask_again(self) -> None:
        """Send what has no answer yet."""
        assert self._producer is not None
        if self._unanswered:
            await self._add([batch.place for batch in self._unanswered])
            version = _PRODUCE if self._is_v2 else _PRODUCE_V0
            await produced(self.client, self.world, self._unanswered, self._producer, name=self.name, version=version)
        if self._offset is not None:
            if not self._is_v2 and self.key not in self._added:
                await self._accepted(self._add_group)
                self._added.add(self.key)
            one = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition(self.key[1], self._offset)
            topics = (TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic(OFFSETS_OF, partitions=(one,)),)
            request = TxnOffsetCommitRequest(self.name, self.key[0], *self._producer, topics=topics)
            answer = await self.client.send(request, 5 if self._is_v2 else 3, TxnOffsetCommitResponse)
            assert not answer.topics[0].partitions[0].error_code
            self._transaction().offset, self._offset = self._offset, None

    async def _add(self, places: Sequence[Place]) -> None:
        """Add partitions as old clients do."""
        for place in dict.fromkeys(places):
            if not self._is_v2 and place not in self._added:
                await self._accepted(partial(self._add_partition, place))
                self._added.add(place)

    async def _add_partition(self, place: Place) -> int:
        assert self._producer is not None
        topics = (AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(place[0], (place[1],)),)
        request = AddPartitionsToTxnRequest((), self.name, *self._producer, topics)
        answer = await self.client.send(request, 3, AddPartitionsToTxnResponse)
        return answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code

    async def _add_group(self) -> int:
        assert self._producer is not None
        request = AddOffsetsToTxnRequest(self.name, *self._producer, group_id=self.key[0])
        return (await self.client.send(request, 3, AddOffsetsToTxnResponse)).error_code

    async def _accepted(self, ask: Callable[[], Awaitable[int]]) -> None:
        """Ask until the transaction before has ended."""
        error: int = ErrorCode.CONCURRENT_TRANSACTIONS
        for _ in range(_MOST_TRIES):
            error = await ask()
            if error != ErrorCode.CONCURRENT_TRANSACTIONS:
                break
            await self.world.broker.turns(3)
        assert not error, f"{self.name}: error {error}"

    async def _commit(self) -> None:
        await self._end(committed=True)

    async def _abort(self) -> None:
        await self._end(committed=False)

    async def _end(self, *, committed: bool) -> None:
        transaction = self._transaction()
        transaction.ends = committed
        assert self._producer is not None
        request = EndTxnRequest(self.name, *self._producer, committed)
        ended: list[EndTxnResponse] = []

        async def error() -> int:
            answer = await self.client.send(request, 5 if self._is_v2 else 3, EndTxnResponse)
            ended.append(answer)
            return answer.error_code

        await self._accepted(error)
        transaction.is_committed = committed
        self._open = None
        self._added.clear()
        if self._is_v2:
            self._take(ended[-1].producer_id, ended[-1].producer_epoch)


def produce(
    world: World, batch: SentBatch, producer: tuple[int, int] = (-1, -1), name: str | None = None
) -> ProduceRequest:
    """The request with a batch."""
    records = encode_batch(
        [Record(timestamp=world.next_time(), key=batch.key, value=value) for value in batch.values],
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=batch.sequence,
        transactional=name is not None,
    )
    data = ProduceRequest.PartitionProduceData(batch.place[1], records)
    return ProduceRequest(name, -1, 1000, (ProduceRequest.TopicProduceData(batch.place[0], partition_data=(data,)),))


async def produced(
    client: DrivenClient,
    world: World,
    unanswered: list[SentBatch],
    producer: tuple[int, int],
    *,
    name: str | None = None,
    version: int = _PRODUCE,
) -> None:
    """Send batches at once; each leaves the list with its answer."""
    sent = []
    for batch in [*unanswered]:
        if batch.fate is Fate.GONE:
            batch.fate = Fate.SENT
        sent.append((batch, client.send(produce(world, batch, producer, name), version, ProduceResponse)))
    for batch, answer in sent:
        (result,) = (await answer).responses[0].partition_responses
        assert not result.error_code, f"{batch}: error {result.error_code} {result.error_message}"
        batch.acknowledged(result.base_offset)
        unanswered.remove(batch)
