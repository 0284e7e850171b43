"""All transactional ids, as recorded in ``__transaction_state``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.internal_topics.entries import RecordedState, TopicFormat, Written
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topic_names import TRANSACTIONS_TOPIC
from kafkawire.broker.transactions.transaction import Transaction
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol import TransactionLogKey, TransactionLogValue
from kafkawire.wire import Message
from kafkawire.wire.batches.batch import NO_PRODUCER_ID

_OWNER: Final[Callable[[Message], str]] = attrgetter("transactional_id")
_OWNERS: Final[Mapping[type[Message], Callable[[Message], str]]] = MappingProxyType({TransactionLogKey: _OWNER})
_FLEXIBLE: Final = 1
"""The version of values with tagged fields, from the first level of ``transaction.version`` on."""

_BYTES_OF_ID: Final = 500
_BYTES_OF_PARTITION: Final = 100


def records_of_transactions(version: Callable[[], int]) -> TopicFormat:
    """How transactions are in the records of ``__transaction_state``.

    Args:
        version: returns the level of ``transaction.version``, by which Kafka chooses the version of values.
    """
    return TopicFormat(
        TRANSACTIONS_TOPIC, _OWNERS, lambda value: None if value is None else min(version(), _FLEXIBLE), _in_version
    )


def _in_version(value: Message, version: int) -> Message:
    """The value without the fields that version 0 lacks; Kafka leaves them out too."""
    if version >= _FLEXIBLE or not isinstance(value, TransactionLogValue):
        return value
    return replace(
        value, previous_producer_id=NO_PRODUCER_ID, next_producer_id=NO_PRODUCER_ID, client_transaction_version=0
    )


class TransactionsState(RecordedState):
    """All transactional ids.

    Attributes:
        by_id: transactional id to transaction.
        ongoing: the ids with an open transaction, in the order of their last change.
        begun: set when a transaction is opened.
        bytes: about the memory for all.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Transaction] = {}
        self.ongoing: dict[str, None] = {}
        self.begun = asyncio.Event()
        self.bytes = 0

    @property
    def size(self) -> int:
        """How many records it takes to make it again."""
        return len(self.by_id)

    def apply(self, key: Message, value: Message | None, producer: Producer | None = None) -> None:
        """Apply a record; none of them is in a transaction itself."""
        if isinstance(key, TransactionLogKey):
            self.put(key.transactional_id, Transaction.of(value) if isinstance(value, TransactionLogValue) else None)

    def put(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Set the transaction of an id; None removes the id."""
        before = self.by_id.pop(transactional_id, None)
        if before is not None:
            self.bytes -= _bytes(transactional_id, before)
        self.ongoing.pop(transactional_id, None)
        if transaction is not None:
            self.by_id[transactional_id] = transaction
            self.bytes += _bytes(transactional_id, transaction)
            if transaction.state is TransactionState.ONGOING:
                self.ongoing[transactional_id] = None
                self.begun.set()

    def end(self, producer_id: int, owners: Iterable[str], *, committed: bool) -> None:
        """Nothing: no record of this topic is in a transaction."""

    def clear(self) -> None:
        """Forget all ids."""
        self.by_id.clear()
        self.ongoing.clear()
        self.bytes = 0

    def owners(self) -> Collection[str]:
        """See ``RecordedState``: the transactional ids."""
        return self.by_id.keys()

    def entries_of(self, owner: str) -> Sequence[Written]:
        """See ``RecordedState``."""
        transaction = self.by_id.get(owner)
        return () if transaction is None else (Written(TransactionLogKey(owner), transaction.value()),)


def _bytes(transactional_id: str, transaction: Transaction) -> int:
    return _BYTES_OF_ID + len(transactional_id) * 4 + len(transaction.partitions) * _BYTES_OF_PARTITION
