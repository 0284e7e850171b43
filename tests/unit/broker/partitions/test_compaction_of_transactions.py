"""Compaction of transactions: aborted records go, and markers once nothing is left that they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kafkawire.broker.partitions.cleaned_transactions import CleanedTransactions
from kafkawire.broker.partitions.compaction import Round, compacted, note_keys
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.wire.batches import Record, RecordBatch, decode_records, encode_batch, read_batches

NOW = 1_000_000
WAIT = 1000


def write(log: PartitionLog, producer_id: int, sequence: int, key: bytes) -> None:
    record = Record(timestamp=1000, key=key, value=b"v")
    encoded = encode_batch(
        [record], producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=True
    )
    batch = next(read_batches(encoded))
    log.append(batch, 0, verification=log.producers.to_verify(batch, is_strict=False))


def end(log: PartitionLog, producer_id: int, *, committed: bool) -> None:
    log.append_marker(producer_id, 0, committed=committed, coordinator_epoch=0, leader_epoch=0, now_ms=5000)


def cleaned(
    batches: Sequence[RecordBatch], aborted: Sequence[AbortedTransaction], *, now_ms: int
) -> tuple[list[RecordBatch], Sequence[AbortedTransaction]]:
    """The batches after a round, and the aborted transactions that are left."""

    def following() -> CleanedTransactions:
        transactions = CleanedTransactions(lambda _offset, _end: aborted)
        transactions.expect(0, 1000)
        return transactions

    newest: dict[bytes, int] = {}
    note_keys(batches, following(), newest)
    transactions = following()
    known = Round(newest, 1000, {}, now_ms, WAIT)
    return [*compacted(batches, transactions, known)], transactions.aborted


def shown(batches: Sequence[RecordBatch]) -> list[tuple[int, bool, int]]:
    return [(batch.base_offset, batch.is_control, len(decode_records(batch))) for batch in batches]


@pytest.fixture
def log() -> PartitionLog:
    """Of two producers: 0 and 2 are aborted at 3; 1 is committed at 4, and superseded by 5, committed at 6."""
    log = PartitionLog()
    write(log, 7, 0, b"a")
    write(log, 8, 0, b"b")
    write(log, 7, 1, b"b")
    end(log, 7, committed=False)
    end(log, 8, committed=True)
    write(log, 8, 1, b"b")
    end(log, 8, committed=True)
    return log


def test_aborted_records_go_and_hide_no_others(log: PartitionLog) -> None:
    left, aborted = cleaned([*log.batches(0)], log.aborted_in(0, 7), now_ms=NOW)
    assert shown(left) == [(3, True, 1), (4, True, 1), (5, False, 1), (6, True, 1)]
    assert aborted == [AbortedTransaction(7, 0, 3, 1)]
    assert all(batch.delete_horizon_ms is None for batch in left)


def test_a_marker_goes_a_while_after_the_last_record_of_its_transaction(log: PartitionLog) -> None:
    left, aborted = cleaned([*log.batches(0)], log.aborted_in(0, 7), now_ms=NOW)
    left, aborted = cleaned(left, aborted, now_ms=NOW)
    assert not aborted
    assert [(batch.base_offset, batch.delete_horizon_ms) for batch in left] == [
        (3, NOW + WAIT),
        (4, NOW + WAIT),
        (5, None),
        (6, None),
    ]
    assert shown(cleaned(left, (), now_ms=NOW + WAIT - 1)[0]) == shown(left)
    assert shown(cleaned(left, (), now_ms=NOW + WAIT)[0]) == [(5, False, 1), (6, True, 1)]


@pytest.mark.parametrize("change", [lambda _log: None, lambda log: end(log, 9, committed=True)])
def test_the_last_batch_of_a_producer_stays_without_its_records(
    log: PartitionLog, change: Callable[[PartitionLog], None]
) -> None:
    """The last data batch of a producer has its sequence; without one, the marker has its epoch."""
    change(log)
    transactions = CleanedTransactions(log.aborted_in)
    transactions.expect(0, log.end_offset)
    known = Round({}, 1000, log.producers.last_batches(), NOW, WAIT)
    left = shown([*compacted(log.batches(0), transactions, known)])
    assert (2, False, 0) in left
    assert log.end_offset == 7 or left[-1] == (7, True, 1)
