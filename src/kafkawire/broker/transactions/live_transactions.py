"""The transactions of a broker: passes events to them, records what follows, writes markers, and keeps time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, NamedTuple

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.partitions.producer_ids import ProducerIds
from kafkawire.broker.partitions.verifications import TransactionalWrite
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.coordinator import TransactionCoordinator, transaction_version
from kafkawire.broker.transactions.markers import EndMarker, MarkerWriter
from kafkawire.broker.transactions.settings import TransactionSettings
from kafkawire.broker.transactions.states import Event, Step
from kafkawire.broker.transactions.transaction import (
    V2,
    Ending,
    Initialization,
    Partition,
    Transaction,
    completed,
    ending_event,
    fenced,
    initialized,
    is_fenced,
    new_transaction,
    prepared,
    producer_error,
    with_partitions,
)
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

_log = logging.getLogger(__name__)
_NOBODY: Final = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


class Answer(NamedTuple):
    """The answer to a producer.

    Attributes:
        error: NONE if it may go on.
        producer: the id and epoch that it has now; -1 after an error.
    """

    error: ErrorCode
    producer: Producer = _NOBODY


class Transactions:
    """The transactions of a broker.

    A change is durable before it is answered, and before anything follows from it. The end of a transaction is answered
    when its partitions have the marker, so that clients then read what is committed.

    Args:
        coordinator: has the records of all transactions, and writes new ones.
        markers: writes markers to partitions.
        controller: has the level of ``transaction.version``.
        producer_ids: allocates ids.
        clock: the broker's.
        settings: of all transactions.
    """

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        markers: MarkerWriter,
        controller: Controller,
        producer_ids: ProducerIds,
        *,
        clock: Clock,
        settings: TransactionSettings,
    ) -> None:
        self._coordinator = coordinator
        self._markers = markers
        self._controller = controller
        self._producer_ids = producer_ids
        self._clock = clock
        self._settings = settings
        self._completing: dict[str, asyncio.Task[None]] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._turn = asyncio.Lock()

    def load(self) -> None:
        """Complete the transactions whose end was decided before the broker stopped, and begin to keep time."""
        for transactional_id, transaction in self._coordinator.state.by_id.items():
            if transaction.is_ending:
                self._completing[transactional_id] = self._complete_soon(transactional_id)
        loop, settings, coordinator = asyncio.get_running_loop(), self._settings, self._coordinator
        self._keepers = [
            loop.create_task(self._every(settings.look_every_ms, self._abort_timed_out, after=coordinator.state.begun)),
            loop.create_task(self._every(settings.remove_every_ms, self._remove_unused)),
        ]

    async def close(self) -> None:
        """Stop the timers, and write the markers that are due."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, *self._completing.values(), return_exceptions=True)

    async def settled(self) -> None:
        """Wait until what was due is done: timed out transactions are aborted, with their markers."""
        async with self._turn:
            pass
        await asyncio.gather(*self._completing.values(), return_exceptions=True)

    @property
    def by_id(self) -> Mapping[str, Transaction]:
        """Transactional id to transaction."""
        return self._coordinator.state.by_id

    def expect(self) -> None:
        """Make the topic of transactions if there is none, as Kafka does when a client looks for the coordinator.

        Raises:
            StorageError: the metadata log has failed before.
        """
        self._coordinator.expect()

    async def durable(self) -> None:
        """Wait for all records, and for the producer ids in them: no other producer may get one after a crash.

        Raises:
            StorageError: one could not be written.
        """
        await self._controller.log.durable(self._controller.end_offset)
        await self._coordinator.durable()

    # Requests.

    async def initialize(self, transactional_id: str, asked: Initialization) -> Answer:
        """Give a producer the next epoch of its transactional id.

        An open transaction is aborted first, and the producer asks again.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if not 0 < asked.timeout_ms <= self._settings.longest_ms:
            return Answer(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        await self._prepare(transactional_id)
        transaction = self._coordinator.state.by_id.get(transactional_id)
        if transaction is None:
            if self._coordinator.state.bytes > self._settings.most_bytes:
                return Answer(ErrorCode.POLICY_VIOLATION)
            transaction = new_transaction(self._producer_ids.next(), asked.timeout_ms)
        if is_fenced(transaction, asked.expected):
            return Answer(ErrorCode.PRODUCER_FENCED)
        match transaction.step(Event.INITIALIZE):
            case Step.FENCE:
                await self._fence(transactional_id, transaction)
                return Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
            case ErrorCode() as error:
                return Answer(error)
        begun = initialized(transaction, asked, self._producer_ids.next, self._clock.now_ms())
        if isinstance(begun, ErrorCode):
            return Answer(begun)
        await self._record(transactional_id, begun)
        return Answer(ErrorCode.NONE, begun.producer)

    async def add_partitions(
        self, transactional_id: str, producer: Producer, partitions: Collection[Partition], client_version: int = 0
    ) -> ErrorCode:
        """Add partitions to the transaction of a producer, which begins with the first.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        if transactional_id in self._coordinator.state.by_id:
            await self._coordinator.prepare([transactional_id])
        transaction = self._coordinator.state.by_id.get(transactional_id)
        if transaction is None:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if error := producer_error(transaction, producer):
            return error
        step = transaction.step(Event.ADD_PARTITIONS)
        if isinstance(step, ErrorCode):
            return step
        is_open = transaction.state is TransactionState.ONGOING
        if not is_open or not transaction.partitions.issuperset(partitions):
            added = with_partitions(transaction, partitions, client_version, self._clock.now_ms())
            if self._is_too_large(transaction, added):
                return ErrorCode.POLICY_VIOLATION
            self._coordinator.record(transactional_id, added)
        await self.durable()
        return ErrorCode.NONE

    def errors(
        self, transactional_id: str, producer: Producer, partitions: Collection[Partition]
    ) -> Mapping[Partition, ErrorCode]:
        """The error of each partition that is not in the open transaction of a producer."""
        transaction = self._coordinator.state.by_id.get(transactional_id)
        if not transactional_id:
            return dict.fromkeys(partitions, ErrorCode.INVALID_REQUEST)
        if transaction is None:
            return dict.fromkeys(partitions, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if error := producer_error(transaction, producer):
            return dict.fromkeys(partitions, error)
        step = transaction.step(Event.VERIFY)
        if isinstance(step, ErrorCode):
            return dict.fromkeys(partitions, step)
        others = (partition for partition in partitions if partition not in transaction.partitions)
        return dict.fromkeys(others, ErrorCode.TRANSACTION_ABORTABLE)

    async def confirm(self, write: TransactionalWrite) -> Mapping[Partition, ErrorCode]:
        """The errors of partitions to which a producer may not write; new ones are added if the client wants that.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        producer = Producer(write.producer_id, write.producer_epoch)
        if not write.adds:
            return self.errors(write.transactional_id, producer, write.partitions)
        await self.completed(write.transactional_id)
        error = await self.add_partitions(write.transactional_id, producer, write.partitions, V2)
        return dict.fromkeys(write.partitions, error) if error else {}

    async def end(self, transactional_id: str, ending: Ending) -> Answer:
        """Commit or abort the transaction of a producer.

        Raises:
            StorageError, OSError: a record could not be written.
        """
        if not transactional_id:
            return Answer(ErrorCode.INVALID_REQUEST)
        if transactional_id in self._coordinator.state.by_id:
            await self._prepare(transactional_id)
        transaction = self._coordinator.state.by_id.get(transactional_id)
        if transaction is None:
            return Answer(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        event = ending_event(transaction, ending)
        step = event if isinstance(event, ErrorCode) else transaction.step(event)
        is_v2 = ending.client_version >= V2
        if isinstance(step, ErrorCode):
            await self.durable()
            return Answer(step) if step or not is_v2 else Answer(step, transaction.producer)
        decided = prepared(
            transaction, ending.committed, ending.client_version, self._producer_ids.next, now_ms=self._clock.now_ms()
        )
        await self._end(transactional_id, decided)
        return Answer(ErrorCode.NONE, completed(decided, 0).producer if is_v2 else _NOBODY)

    async def completed(self, transactional_id: str) -> None:
        """Wait until a transaction whose end is decided has ended."""
        completing = self._completing.get(transactional_id)
        if completing is not None:
            await asyncio.wait([completing])

    # What follows from events.

    async def _prepare(self, transactional_id: str) -> None:
        """Prepare the log of an id; where the next record may have a new producer id, also that one.

        Nothing else runs between the end of this and the record, unless there is another ``await``.
        """
        await self._coordinator.prepare([transactional_id])
        while self._may_need_id(transactional_id) and not self._producer_ids.is_durable:
            await self._producer_ids.prepare()
            await self._coordinator.prepare([transactional_id])

    def _may_need_id(self, transactional_id: str) -> bool:
        transaction = self._coordinator.state.by_id.get(transactional_id)
        return transaction is None or transaction.is_exhausted

    def _is_too_large(self, before: Transaction, after: Transaction) -> bool:
        grows = len(after.partitions) > len(before.partitions)
        is_full = self._coordinator.state.bytes > self._settings.most_bytes
        return grows and (is_full or len(after.partitions) > self._settings.most_partitions)

    async def _record(self, transactional_id: str, transaction: Transaction | None) -> None:
        self._coordinator.record(transactional_id, transaction)
        await self.durable()

    async def _fence(self, transactional_id: str, transaction: Transaction) -> None:
        version = transaction_version(self._controller)
        await self._end(transactional_id, fenced(transaction, version, self._producer_ids.next, self._clock.now_ms()))

    async def _end(self, transactional_id: str, decided: Transaction) -> None:
        self._coordinator.record(transactional_id, decided)
        self._completing[transactional_id] = completing = self._complete_soon(transactional_id)
        await asyncio.shield(completing)

    def _complete_soon(self, transactional_id: str) -> asyncio.Task[None]:
        """Complete a transaction in a task of its own, which goes on if its client is gone."""
        task = asyncio.get_running_loop().create_task(self._complete(transactional_id))
        task.add_done_callback(lambda _: self._completed(transactional_id, task))
        return task

    def _completed(self, transactional_id: str, task: asyncio.Task[None]) -> None:
        if self._completing.get(transactional_id) is task:
            del self._completing[transactional_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("Transactional id %r: its transaction could not be completed: %s", transactional_id, error)

    async def _complete(self, transactional_id: str) -> None:
        """Write the markers once the end of the transaction is durable, and then that it is complete."""
        await self.durable()
        transaction = self._coordinator.state.by_id.get(transactional_id)
        if transaction is None or not transaction.is_ending:
            return
        marker = EndMarker(
            transaction.producer,
            transaction.state is TransactionState.PREPARE_COMMIT,
            self._coordinator.epoch_of(transactional_id),
            transaction.client_version >= V2,
        )
        await self._markers.write(marker, sorted(transaction.partitions))  # the same requests write the same files
        await self._coordinator.prepare([transactional_id])
        if self._coordinator.state.by_id.get(transactional_id) == transaction:
            self._coordinator.record(transactional_id, completed(transaction, self._clock.now_ms()))

    # Time.

    async def _every(
        self, interval_ms: int, work: Callable[[], Awaitable[None]], after: asyncio.Event | None = None
    ) -> None:
        while True:
            if after is not None:
                await after.wait()
            await self._clock.sleep(interval_ms / 1000)
            try:
                async with self._turn:
                    await work()
            except (StorageError, OSError) as error:
                _log.warning("A transaction could not be ended: %s", error)

    async def _abort_timed_out(self) -> None:
        async for transactional_id in in_slices(tuple(self._coordinator.state.ongoing)):
            await self._prepare(transactional_id)
            transaction = self._coordinator.state.by_id.get(transactional_id)
            if transaction is not None and transaction.is_timed_out(self._clock.now_ms()):
                _log.info("Transactional id %r: its transaction has timed out and is aborted", transactional_id)
                await self._fence(transactional_id, transaction)
        if not self._coordinator.state.ongoing:
            self._coordinator.state.begun.clear()

    async def _remove_unused(self) -> None:
        oldest = self._clock.now_ms() - self._settings.expire_after_ms
        async for transactional_id in in_slices(tuple(self._coordinator.state.by_id)):
            transaction = self._coordinator.state.by_id.get(transactional_id)
            if transaction is None or transaction.updated_ms > oldest:
                continue
            await self._coordinator.prepare([transactional_id])
            is_same = self._coordinator.state.by_id.get(transactional_id) is transaction
            if is_same and transaction.step(Event.UNUSED) is Step.REMOVE:
                self._coordinator.record(transactional_id, None)
