"""The transaction coordinator's records: the only place that changes transactions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.internal_topics.coordinator import RecordedCoordinator
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import BeforeWrite, at_once
from kafkawire.broker.transactions.state import TransactionsState, records_of_transactions
from kafkawire.broker.transactions.transaction import Transaction
from kafkawire.protocol import TransactionLogKey

_FEATURE: Final = "transaction.version"


class TransactionCoordinator(RecordedCoordinator[TransactionsState]):
    """The transactional ids, recorded in ``__transaction_state``."""

    @classmethod
    def opened(
        cls,
        data_dir: Path | None,
        topic: InternalTopic,
        controller: Controller,
        clock: Clock,
        on_failure: Callable[[StorageError], None] | None = None,
        *,
        store: RecordStore,
        before_write: BeforeWrite = at_once,
        in_memory: TransactionsState | None = None,
    ) -> Self:
        """The coordinator with the transactions in a data directory, or in memory.

        Args:
            data_dir: the directory.
            topic: the topic of the logs.
            controller: has the level of ``transaction.version``.
            clock: for timestamps.
            on_failure: called with the first error of a write.
            store: gets the logs, for clients that read them.
            before_write: awaited before each write, with the name of what is written.
            in_memory: the first transactions without a data directory; None for none.

        Raises:
            StorageError: a log is damaged.
            OSError: a file cannot be read or made.
        """
        records = records_of_transactions(lambda: transaction_version(controller))
        return cls.read(
            data_dir,
            topic,
            records,
            in_memory or TransactionsState(),
            store=store,
            clock=clock,
            on_failure=on_failure,
            before_write=before_write,
        )

    def record(self, transactional_id: str, transaction: Transaction | None) -> None:
        """Set the transaction of an id, None to remove the id; its log must be prepared, and it is durable later.

        Raises:
            EncodeError: it cannot be encoded.
            StorageError: a log has failed before.
        """
        value = None if transaction is None else transaction.value()
        self.commit([(TransactionLogKey(transactional_id), value)])
        self.state.put(transactional_id, transaction)  # with the epoch that is in no record

    def epoch_of(self, transactional_id: str) -> int:
        """The leader epoch of the partition of an id, which markers have."""
        return self._topic.made().partitions[self.partition_of(transactional_id)].leader_epoch


def transaction_version(controller: Controller) -> int:
    """The finalized level of ``transaction.version``."""
    return controller.image.features.levels.get(_FEATURE, 0)
