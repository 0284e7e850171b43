"""A transactional id and its transaction: a value that events turn into the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, Self, TypeAlias

from msgspec.structs import replace

from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.states import STATES, TABLE, Event, Step
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol import TransactionLogValue
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from kafkawire.wire.message import Struct

Partition: TypeAlias = tuple[str, int]
"""Topic and partition id."""

V2: Final = 2
"""The level of ``transaction.version`` from which each transaction has an epoch of its own (KIP-890)."""

_LAST_EPOCH: Final = (1 << 15) - 2
"""The highest epoch that a producer gets: the coordinator can fence it with the next one."""

_NOT_STARTED: Final = -1
_ENDINGS: Final[Mapping[tuple[bool, bool, bool], Event]] = MappingProxyType(
    {
        (False, False, False): Event.ABORT,
        (True, False, False): Event.COMMIT,
        (False, True, False): Event.ABORT_V2,
        (True, True, False): Event.COMMIT_V2,
        (False, True, True): Event.ABORT_V2_AGAIN,
        (True, True, True): Event.COMMIT_V2_AGAIN,
    }
)
"""Whether the transaction is committed, by version 2, with the epoch before, to the event."""


class Transaction(Struct, frozen=True):
    """A transactional id and its transaction.

    Attributes:
        producer_id, producer_epoch: of the producer that has it; epoch -1 before the first record.
        timeout_ms: how long a transaction may be open.
        state: of the transaction.
        partitions: those that take part.
        previous_producer_id: before the last change.
        next_producer_id: after this transaction, if the epochs are exhausted; else -1.
        last_epoch: before ``producer_epoch``, if a client may still have it; else -1. It is not in records.
        started_ms: when the transaction began, milliseconds since the epoch; -1 before the first.
        updated_ms: when it changed.
        client_version: the level of ``transaction.version`` that the client uses.
    """

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[Partition] = frozenset()
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    last_epoch: int = NO_PRODUCER_EPOCH
    started_ms: int = _NOT_STARTED
    updated_ms: int = 0
    client_version: int = 0

    @classmethod
    def of(cls, value: TransactionLogValue) -> Self | None:
        """The transaction in a record; None if its state is one that Kafka does not record."""
        if not 0 <= value.transaction_status < len(STATES):
            return None
        partitions = (
            (topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        )
        return cls(
            value.producer_id,
            value.producer_epoch,
            value.transaction_timeout_ms,
            STATES[value.transaction_status],
            frozenset(partitions),
            value.previous_producer_id,
            value.next_producer_id,
            started_ms=value.transaction_start_timestamp_ms,
            updated_ms=value.transaction_last_update_timestamp_ms,
            client_version=value.client_transaction_version,
        )

    def value(self) -> TransactionLogValue:
        """The record of the transaction."""
        return TransactionLogValue(
            producer_id=self.producer_id,
            previous_producer_id=self.previous_producer_id,
            next_producer_id=self.next_producer_id,
            producer_epoch=self.producer_epoch,
            transaction_timeout_ms=self.timeout_ms,
            transaction_status=STATES.index(self.state),
            transaction_partitions=None if self.state is TransactionState.EMPTY else self._by_topic(),
            transaction_last_update_timestamp_ms=self.updated_ms,
            transaction_start_timestamp_ms=self.started_ms,
            client_transaction_version=self.client_version,
        )

    def _by_topic(self) -> Sequence[TransactionLogValue.PartitionsSchema]:
        by_topic: dict[str, list[int]] = {}
        for topic, partition in sorted(self.partitions):
            by_topic.setdefault(topic, []).append(partition)
        return tuple(TransactionLogValue.PartitionsSchema(topic, tuple(ids)) for topic, ids in by_topic.items())

    @property
    def producer(self) -> Producer:
        """The producer id and epoch."""
        return Producer(self.producer_id, self.producer_epoch)

    @property
    def is_exhausted(self) -> bool:
        """Whether the producer id has no further epoch for a producer."""
        return self.producer_epoch >= _LAST_EPOCH

    @property
    def is_ending(self) -> bool:
        """Whether partitions still need the marker."""
        return self.state in {TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT}

    def step(self, event: Event) -> Step | ErrorCode:
        """What an event does."""
        return TABLE[event][self.state]

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether the transaction has been open for too long."""
        return self.state is TransactionState.ONGOING and self.started_ms + self.timeout_ms < now_ms

    def changed(
        self, state: TransactionState, now_ms: int, *, producer: Producer | None = None, last_epoch: int | None = None
    ) -> Self:
        """The transaction in another state, with another producer or epoch if one is given."""
        producer_id, epoch = producer or self.producer
        return replace(
            self,
            state=state,
            producer_id=producer_id,
            producer_epoch=epoch,
            previous_producer_id=self.producer_id,
            last_epoch=self.last_epoch if last_epoch is None else last_epoch,
            updated_ms=now_ms,
        )


class Initialization(NamedTuple):
    """What a producer asks for when it begins.

    Attributes:
        timeout_ms: of its transactions.
        expected: the id and epoch that it had; None for a new one.
    """

    timeout_ms: int
    expected: Producer | None = None


class Ending(NamedTuple):
    """How a client ends a transaction.

    Attributes:
        producer: the client's id and epoch.
        committed: whether it commits or aborts.
        client_version: the level of ``transaction.version`` that it uses.
    """

    producer: Producer
    committed: bool
    client_version: int


def new_transaction(producer_id: int, timeout_ms: int) -> Transaction:
    """A transactional id that was never used, for `initialized`."""
    return Transaction(producer_id, NO_PRODUCER_EPOCH, timeout_ms)


def initialized(
    transaction: Transaction, asked: Initialization, new_id: Callable[[], int], now_ms: int
) -> Transaction | ErrorCode:
    """The transaction for a producer that begins, with its next epoch (KIP-360); the step must be NEXT_EPOCH.

    Args:
        transaction: as it is.
        asked: by the producer.
        new_id: returns a producer id that was never used.
        now_ms: milliseconds since the epoch.
    """
    expected = asked.expected
    if transaction.is_exhausted and (expected is None or expected.epoch == transaction.producer_epoch):
        last = NO_PRODUCER_EPOCH if expected is None else transaction.producer_epoch
        producer = Producer(new_id(), 0)
    elif expected is None:
        last, producer = NO_PRODUCER_EPOCH, _next(transaction)
    elif transaction.producer_epoch in {NO_PRODUCER_EPOCH, expected.epoch}:
        last, producer = transaction.producer_epoch, _next(transaction)
    elif expected.epoch == transaction.last_epoch:  # a retry, after an answer that the client did not get
        last, producer = transaction.last_epoch, transaction.producer
    else:
        return ErrorCode.PRODUCER_FENCED
    begun = transaction.changed(TransactionState.EMPTY, now_ms, producer=producer, last_epoch=last)
    return replace(begun, timeout_ms=asked.timeout_ms, partitions=frozenset(), started_ms=_NOT_STARTED)


def is_fenced(transaction: Transaction, expected: Producer | None) -> bool:
    """Whether a producer that wants to go on has lost the transactional id to another one."""
    if expected is None or transaction.producer_epoch == NO_PRODUCER_EPOCH:
        return False
    is_retry = expected.producer_id == transaction.previous_producer_id and expected.epoch >= _LAST_EPOCH
    return expected.producer_id != transaction.producer_id and not is_retry


def producer_error(transaction: Transaction, producer: Producer) -> ErrorCode:
    """The error for a producer id and epoch that are not the current ones."""
    if producer.producer_id != transaction.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if producer.epoch == transaction.producer_epoch else ErrorCode.PRODUCER_FENCED


def with_partitions(
    transaction: Transaction, partitions: Iterable[Partition], client_version: int, now_ms: int
) -> Transaction:
    """The open transaction with further partitions; the step must be ADD."""
    is_open = transaction.state is TransactionState.ONGOING
    return replace(
        transaction.changed(TransactionState.ONGOING, now_ms),
        partitions=transaction.partitions.union(partitions),
        started_ms=transaction.started_ms if is_open else now_ms,
        client_version=client_version,
    )


def ending_event(transaction: Transaction, ending: Ending) -> Event | ErrorCode:
    """The event of an ending; an error for a producer that does not have the transaction."""
    producer, is_v2 = ending.producer, ending.client_version >= V2
    is_repeated = is_v2 and _is_before(producer, transaction)
    if not is_repeated and (error := producer_error(transaction, producer)):
        return error
    return _ENDINGS[ending.committed, is_v2, is_repeated]


def prepared(
    transaction: Transaction,
    committed: bool,
    client_version: int,
    new_id: Callable[[], int],
    now_ms: int,
) -> Transaction:
    """The transaction when its end is decided, and its markers are still to be written.

    With version 2, the markers have the next epoch. If that is the last one, the transaction has the next producer id.
    """
    state = TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT
    is_v2 = client_version >= V2
    producer, last = (_next(transaction), transaction.producer_epoch) if is_v2 else (None, None)
    is_open = transaction.state is TransactionState.ONGOING
    return replace(
        transaction.changed(state, now_ms, producer=producer, last_epoch=last),
        started_ms=transaction.started_ms if is_open else now_ms,
        next_producer_id=new_id() if is_v2 and transaction.is_exhausted else NO_PRODUCER_ID,
        client_version=client_version,
    )


def fenced(transaction: Transaction, server_version: int, new_id: Callable[[], int], now_ms: int) -> Transaction:
    """The open transaction when it is aborted with an epoch that its producer does not have."""
    if server_version >= V2:
        return prepared(transaction, committed=False, client_version=server_version, new_id=new_id, now_ms=now_ms)
    aborted = transaction.changed(
        TransactionState.PREPARE_ABORT, now_ms, producer=_next(transaction), last_epoch=NO_PRODUCER_EPOCH
    )
    return replace(aborted, client_version=0)


def completed(transaction: Transaction, now_ms: int) -> Transaction:
    """The transaction when all its partitions have the marker; the step must be COMPLETE."""
    is_committed = transaction.state is TransactionState.PREPARE_COMMIT
    has_next = transaction.client_version >= V2 and transaction.next_producer_id != NO_PRODUCER_ID
    ended = transaction.changed(
        TransactionState.COMPLETE_COMMIT if is_committed else TransactionState.COMPLETE_ABORT,
        now_ms,
        producer=Producer(transaction.next_producer_id, 0) if has_next else None,
    )
    return replace(ended, partitions=frozenset(), next_producer_id=NO_PRODUCER_ID)


def _next(transaction: Transaction) -> Producer:
    return Producer(transaction.producer_id, transaction.producer_epoch + 1)


def _is_before(producer: Producer, transaction: Transaction) -> bool:
    """Whether a producer has the epoch before the current one, which may be that of another id."""
    if producer == (transaction.producer_id, transaction.producer_epoch - 1):
        return True
    is_exhausted = producer == (transaction.previous_producer_id, _LAST_EPOCH)
    return is_exhausted and transaction.producer_epoch == 0
