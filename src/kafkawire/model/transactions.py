"""Transactions and their producers (KIP-664)."""

from __future__ import annotations

import msgspec

from kafkawire.model.partitions import TopicPartition
from kafkawire.model.tolerant_enums import TolerantText


class TransactionState(TolerantText):
    """The state of a transaction."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    DEAD = "Dead"


class TransactionListing(msgspec.Struct, frozen=True):
    """A transactional id in a list.

    Attributes:
        transactional_id: the id.
        producer_id: of the producer that has it.
        state: the state of its transaction.
    """

    transactional_id: str
    producer_id: int
    state: TransactionState


class TransactionDescription(msgspec.Struct, frozen=True):
    """A transactional id and its transaction.

    Attributes:
        coordinator: id of the node that coordinates it.
        state: the state of its transaction.
        producer_id, producer_epoch: of the producer that has it.
        timeout_ms: how long its transactions may be open, in milliseconds.
        start_time_ms: when the transaction began, in milliseconds since 1970; None if none is open.
        partitions: those that take part.
    """

    coordinator: int
    state: TransactionState
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_time_ms: int | None
    partitions: frozenset[TopicPartition]


class ProducerState(msgspec.Struct, frozen=True):
    """A producer in the state of a partition.

    Attributes:
        producer_id, producer_epoch: its id and epoch.
        last_sequence: number of its last record; None if there is none.
        last_timestamp_ms: when it last wrote, in milliseconds since 1970; None if it has not.
        coordinator_epoch: of the coordinator that last ended one of its transactions here; None if none has.
        transaction_start_offset: where its open transaction begins; None if none is open.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int | None
    last_timestamp_ms: int | None
    coordinator_epoch: int | None
    transaction_start_offset: int | None


class AbortTransactionSpec(msgspec.Struct, frozen=True):
    """A transaction that hangs in a partition, as `describe_producers` shows it.

    Attributes:
        partition: the partition.
        producer_id, producer_epoch: of its producer.
        coordinator_epoch: of the transaction coordinator; 0 if `describe_producers` returns none.
    """

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int = 0


class HangingTransaction(msgspec.Struct, frozen=True):
    """A transaction that is open in a partition although its coordinator will never end it.

    Attributes:
        partition: the partition.
        producer_id, producer_epoch: of its producer.
        coordinator_epoch: of the coordinator that last ended a transaction of the producer here; None if none has.
        start_offset: where the transaction begins.
        last_timestamp_ms: when the producer last wrote here, in milliseconds since 1970; None if it is not known.
    """

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int | None
    start_offset: int
    last_timestamp_ms: int | None

    def abort_spec(self) -> AbortTransactionSpec:
        """The argument of `abort_transaction` that ends it.

        Example:
            ```python
            for transactions in (await admin.find_hanging_transactions(["orders"])).all().values():
                for transaction in transactions:
                    await admin.abort_transaction(transaction.abort_spec())
            ```
        """
        return AbortTransactionSpec(self.partition, self.producer_id, self.producer_epoch, self.coordinator_epoch or 0)


class FencedProducer(msgspec.Struct, frozen=True):
    """The state of a transactional id after its producers were fenced.

    Attributes:
        producer_id, producer_epoch: newer than those of any fenced producer.
    """

    producer_id: int
    producer_epoch: int
