"""Transactions of a partition: where they are open, which were aborted, and who may write."""

from __future__ import annotations

import pytest

from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.producers import ProducerState, ProducerStateError
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches


def batch(
    producer_id: int, sequence: int, *, epoch: int = 0, records: int = 1, transactional: bool = True
) -> RecordBatch:
    encoded = encode_batch(
        [Record(timestamp=1000 + sequence, value=b"v")] * records,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        transactional=transactional,
    )
    return next(read_batches(encoded))


def write(log: PartitionLog, producer_id: int, sequence: int, *, epoch: int = 0, records: int = 1) -> int:
    """Write in a transaction that the coordinator has confirmed; returns the offset."""
    written = batch(producer_id, sequence, epoch=epoch, records=records)
    verification = log.producers.to_verify(written, is_strict=False)
    return log.append(written, 0, verification=verification).base_offset


def end(
    log: PartitionLog,
    producer_id: int,
    *,
    committed: bool,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    bumps_epoch: bool = False,
) -> int:
    return log.append_marker(
        producer_id,
        epoch,
        committed=committed,
        coordinator_epoch=coordinator_epoch,
        leader_epoch=0,
        now_ms=5000,
        bumps_epoch=bumps_epoch,
    )


def test_the_last_stable_offset_is_the_first_of_an_open_transaction() -> None:
    log = PartitionLog()
    assert log.last_stable_offset == 0
    write(log, 7, 0, records=2)
    write(log, 8, 0)
    assert (log.last_stable_offset, log.high_watermark) == (0, 3)
    end(log, 7, committed=True)
    assert log.last_stable_offset == 2
    end(log, 8, committed=False)
    assert log.last_stable_offset == log.high_watermark == 5


def test_aborted_transactions_are_found_by_the_offsets_that_they_have() -> None:
    log = PartitionLog()
    write(log, 7, 0)
    write(log, 8, 0)
    end(log, 8, committed=False)
    end(log, 7, committed=False)
    write(log, 7, 1)
    end(log, 7, committed=True)
    write(log, 8, 1)
    end(log, 8, committed=False)
    first, second, third = (
        AbortedTransaction(8, 1, 2, 0),
        AbortedTransaction(7, 0, 3, 4),
        AbortedTransaction(8, 6, 7, 8),
    )
    assert [*log.aborted_in(0, 8)] == [first, second, third]
    assert [*log.aborted_in(0, 1)] == [second]
    assert [*log.aborted_in(3, 6)] == [second]
    assert [*log.aborted_in(4, 6)] == []
    assert [*log.aborted_in(7, 8)] == [third]


def test_a_marker_without_a_transaction_aborts_nothing() -> None:
    log = PartitionLog()
    assert end(log, 7, committed=False) == 0
    assert [*log.aborted_in(0, 1)] == []
    assert log.last_stable_offset == log.end_offset == 1


def test_the_state_of_producers() -> None:
    log = PartitionLog()
    write(log, 7, 0, epoch=3)
    write(log, 7, 1, epoch=3)
    write(log, 8, 0)
    end(log, 8, committed=True, epoch=1, coordinator_epoch=9)
    assert [*log.producers.states()] == [
        ProducerState(7, 3, 1, 1001, -1, 0),
        ProducerState(8, 1, -1, 5000, 9, None),
    ]
    assert log.producers.transactions.first_offset(7) == 0
    assert log.producers.transactions.first_offset(8) is None


def refused(log: PartitionLog, written: RecordBatch) -> ErrorCode:
    with pytest.raises(ProducerStateError) as error:
        log.append(written, 0)
    return error.value.code


def test_a_transactional_batch_needs_a_confirmed_transaction() -> None:
    log = PartitionLog()
    assert refused(log, batch(7, 0)) == ErrorCode.INVALID_TXN_STATE
    write(log, 7, 0)
    assert log.append(batch(7, 1), 0).base_offset == 1
    assert refused(log, batch(7, 2, transactional=False)) == ErrorCode.INVALID_TXN_STATE
    end(log, 7, committed=True)
    assert refused(log, batch(7, 2)) == ErrorCode.INVALID_TXN_STATE
    assert log.append(batch(7, 2, transactional=False), 0).base_offset == 3


def test_a_marker_voids_a_confirmation_that_came_before() -> None:
    log = PartitionLog()
    late = log.producers.to_verify(batch(7, 0), is_strict=False)
    end(log, 7, committed=False)
    with pytest.raises(ProducerStateError) as error:
        log.append(batch(7, 0), 0, verification=late)
    assert error.value.code == ErrorCode.INVALID_TXN_STATE


def test_the_first_batch_of_a_transaction_is_the_first_that_came() -> None:
    """The first one was refused, as by a coordinator that loads, and comes again; the second must not overtake it."""
    log = PartitionLog()
    log.producers.to_verify(batch(7, 4), is_strict=False)
    overtaking = batch(7, 5)
    with pytest.raises(ProducerStateError) as error:
        log.append(overtaking, 0, verification=log.producers.to_verify(overtaking, is_strict=False))
    assert error.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(log, 7, 4) == 0


def test_a_producer_that_bumps_its_epoch_begins_with_sequence_0() -> None:
    log = PartitionLog()
    with pytest.raises(ProducerStateError) as error:
        log.append(batch(7, 3), 0, verification=log.producers.to_verify(batch(7, 3), is_strict=True))
    assert error.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_go_on_after_a_marker_and_restart_with_an_epoch() -> None:
    log = PartitionLog()
    write(log, 7, 0)
    end(log, 7, committed=True)
    write(log, 7, 1)
    end(log, 7, committed=True, epoch=1, bumps_epoch=True)
    assert refused(log, batch(7, 2, epoch=0, transactional=False)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refused(log, batch(7, 2, epoch=1, transactional=False)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(log, 7, 0, epoch=1) == 4


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "bumps_epoch", "code"),
    [
        (1, 5, False, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, 4, False, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        (1, 5, True, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_a_marker_of_an_older_epoch_is_refused(
    epoch: int, coordinator_epoch: int, bumps_epoch: bool, code: ErrorCode
) -> None:
    log = PartitionLog()
    end(log, 7, committed=True, epoch=2, coordinator_epoch=5)
    with pytest.raises(ProducerStateError) as error:
        end(log, 7, committed=True, epoch=epoch, coordinator_epoch=coordinator_epoch, bumps_epoch=bumps_epoch)
    assert error.value.code == code
    assert log.end_offset == 1


def test_a_marker_with_the_next_epoch_may_come_again_but_none_with_the_epoch_of_the_batches() -> None:
    log = PartitionLog()
    write(log, 7, 0)
    with pytest.raises(ProducerStateError) as error:
        end(log, 7, committed=True, bumps_epoch=True)
    assert error.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    end(log, 7, committed=True, epoch=1, bumps_epoch=True)
    assert end(log, 7, committed=True, epoch=1, bumps_epoch=True) == 2


def test_producers_with_an_open_transaction_do_not_expire() -> None:
    log = PartitionLog()
    write(log, 7, 0)
    write(log, 8, 0)
    end(log, 8, committed=True)
    log.producers.expire(1 << 40)
    assert [state.producer_id for state in log.producers.states()] == [7]
