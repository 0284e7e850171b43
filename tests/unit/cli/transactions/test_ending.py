"""What a dry run of ``terminate`` and ``fence`` says about each state of a transactional id."""

from __future__ import annotations

import pytest

from kafkawire.admin import TopicPartition, TransactionDescription, TransactionState
from kafkawire.cli.transactions.ending import simulated_end
from kafkawire.protocol.errors import TransactionalIdAuthorizationFailedError, TransactionalIdNotFoundError
from kafkawire.wire.kafka_errors import KafkaError

OPEN = TransactionDescription(1, TransactionState.ONGOING, 7, 0, 60_000, 5, frozenset({TopicPartition("orders", 0)}))
CLOSED = TransactionDescription(1, TransactionState.EMPTY, 7, 0, 60_000, None, frozenset())


@pytest.mark.parametrize(
    ("described", "status", "reason"),
    [
        (OPEN, "would be done", "simulated: the transaction is Ongoing, in 1 partition, and would be aborted"),
        (CLOSED, "would be done", "simulated: no transaction is open; producer 7 would be fenced"),
        (TransactionalIdNotFoundError(), "would be done", "simulated: there is no such id; the brokers would make it"),
        (TransactionalIdAuthorizationFailedError("no"), "failed", "no"),
    ],
)
def test_the_transaction_that_is_open_now_is_shown(
    described: TransactionDescription | KafkaError, status: str, reason: str
) -> None:
    row = simulated_end("payments", described, "producer", "fence")
    assert (row.item, row.status, row.reason) == ("payments", status, reason)
