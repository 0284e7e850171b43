"""``transaction_history``: a row for each state of a transactional id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import pyarrow as pa

from kafkawire.logs.folding.coordinator_states import Cells, StatesReducer, state_history
from kafkawire.logs.times import TIMESTAMP
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol import TransactionLogKey, TransactionLogValue
from kafkawire.wire import Message

TRANSACTION_STATE: Final = "__transaction_state"
"""The topic of the transaction coordinators."""

_STATES: Final[Mapping[int, TransactionState]] = {
    0: TransactionState.EMPTY,
    1: TransactionState.ONGOING,
    2: TransactionState.PREPARE_COMMIT,
    3: TransactionState.PREPARE_ABORT,
    4: TransactionState.COMPLETE_COMMIT,
    5: TransactionState.COMPLETE_ABORT,
    6: TransactionState.DEAD,
    7: TransactionState.PREPARE_EPOCH_FENCE,
}
"""The states by their number in a record."""

_PARTITIONS: Final[Mapping[str, pa.DataType]] = {"topic": pa.string(), "partitions": pa.list_(pa.int32())}
_KEYS: Final[Mapping[str, pa.DataType]] = {"transactional_id": pa.string()}
_VALUES: Final[Mapping[str, pa.DataType]] = {
    "state": pa.string(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int16(),
    "previous_producer_id": pa.int64(),
    "next_producer_id": pa.int64(),
    "next_producer_epoch": pa.int16(),
    "timeout_ms": pa.int32(),
    "client_transaction_version": pa.int16(),
    "partitions": pa.list_(pa.struct(pa.schema(_PARTITIONS))),
    "start_time": TIMESTAMP,
    "update_time": TIMESTAMP,
}


class _Transactions(StatesReducer):
    """The states of transactional ids. Each record has the whole state of its id."""

    RECORDS: ClassVar[frozenset[str]] = frozenset({"TransactionLog"})

    def key_of(self, key: Message) -> Cells:
        """See ``StatesReducer``."""
        return (key.transactional_id,) if isinstance(key, TransactionLogKey) else (None,)

    def change(self, key: Message, value: Message | None) -> Cells | None:
        """See ``StatesReducer``."""
        return _cells(value) if isinstance(value, TransactionLogValue) else None

    def forget(self, key: Message) -> None:
        """See ``StatesReducer``."""


def _cells(value: TransactionLogValue) -> Cells:
    status = value.transaction_status
    listed = value.transaction_partitions
    partitions = None if listed is None else tuple(sorted((each.topic, tuple(each.partition_ids)) for each in listed))
    return (
        _STATES.get(status, f"UNKNOWN({status})"),
        value.producer_id,
        value.producer_epoch,
        _known(value.previous_producer_id),
        _known(value.next_producer_id),
        _known(value.next_producer_epoch),
        value.transaction_timeout_ms,
        value.client_transaction_version,
        partitions,
        _known(value.transaction_start_timestamp_ms),
        _known(value.transaction_last_update_timestamp_ms),
    )


def _known(number: int) -> int | None:
    """None for -1, which means no producer and no time."""
    return None if number < 0 else number


HISTORY: Final = state_history(
    "transaction_history",
    "transactional ids, the states of their transactions and the partitions in them",
    TRANSACTION_STATE,
    _Transactions,
    keys=_KEYS,
    values=_VALUES,
    details=("previous_producer_id", "next_producer_id", "next_producer_epoch", "client_transaction_version"),
)
