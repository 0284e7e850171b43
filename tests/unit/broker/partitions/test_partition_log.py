from __future__ import annotations

import pytest

from kafkawire.broker.partitions.partition_log import FoundOffset, PartitionLog
from kafkawire.broker.partitions.producers import Appended, ProducerStateError
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches


def batch(*timestamps: int, producer_id: int = -1, epoch: int = 0, sequence: int = -1) -> RecordBatch:
    records = [Record(timestamp=timestamp, value=b"v") for timestamp in timestamps]
    idempotent = producer_id >= 0
    encoded = encode_batch(
        records, producer_id=producer_id, producer_epoch=epoch if idempotent else -1, base_sequence=sequence
    )
    return next(read_batches(encoded))


@pytest.fixture
def log() -> PartitionLog:
    """Offsets 0 and 1, 2, 3 to 5."""
    log = PartitionLog()
    for timestamps in ((10, 30), (20,), (5, 40, 40)):
        log.append(batch(*timestamps), 7)
    return log


def test_batches_get_their_offsets_and_the_epoch_of_the_leader(log: PartitionLog) -> None:
    read = list(read_batches(log.read(0, 10_000, at_least_one=False)))
    assert [(one.base_offset, one.last_offset, one.partition_leader_epoch) for one in read] == [
        (0, 1, 7),
        (2, 2, 7),
        (3, 5, 7),
    ]
    assert log.end_offset == 6


@pytest.mark.parametrize(("offset", "first"), [(0, 0), (1, 0), (2, 2), (3, 3), (4, 3), (5, 3)])
def test_reading_begins_with_the_batch_that_has_the_offset(log: PartitionLog, offset: int, first: int) -> None:
    assert next(read_batches(log.read(offset, 10_000, at_least_one=True))).base_offset == first


def test_there_is_nothing_at_the_end(log: PartitionLog) -> None:
    assert log.read(6, 10_000, at_least_one=True) == b""


def test_a_read_is_cut_where_the_room_ends(log: PartitionLog) -> None:
    first = batch(10, 30).size
    assert len(log.read(0, first + 5, at_least_one=False)) == first + 5
    assert log.read(0, first - 1, at_least_one=False) == b""
    assert len(log.read(0, 1, at_least_one=True)) == first


def test_the_first_record_since_a_time(log: PartitionLog) -> None:
    assert [log.first_since(time) for time in (0, 11, 31, 40, 41)] == [
        FoundOffset(0, 10, 7),
        FoundOffset(1, 30, 7),
        FoundOffset(4, 40, 7),
        FoundOffset(4, 40, 7),
        None,
    ]


def test_the_newest_record(log: PartitionLog) -> None:
    assert log.newest() == FoundOffset(4, 40, 7)
    assert PartitionLog().newest() is None


def test_a_batch_that_comes_again_keeps_its_place() -> None:
    log = PartitionLog()
    assert [log.append(batch(1, 2, producer_id=5, sequence=at), 0) for at in (0, 2, 4, 2, 0)] == [
        Appended(0),
        Appended(2),
        Appended(4),
        Appended(2, 2),
        Appended(0, 2),
    ]
    assert log.end_offset == 6


def test_sequences_go_on_after_the_largest() -> None:
    log = PartitionLog()
    log.append(batch(1, producer_id=5, sequence=2**31 - 1), 0)
    assert log.append(batch(1, producer_id=5, sequence=0), 0) == Appended(1)


@pytest.mark.parametrize(
    ("epoch", "sequence", "code"),
    [
        (3, 9, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (4, 1, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (2, 1, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_a_batch_that_does_not_follow_is_refused(epoch: int, sequence: int, code: ErrorCode) -> None:
    log = PartitionLog()
    log.append(batch(1, producer_id=5, epoch=3, sequence=0), 0)
    with pytest.raises(ProducerStateError) as refused:
        log.append(batch(1, producer_id=5, epoch=epoch, sequence=sequence), 0)
    assert refused.value.code == code
    assert log.end_offset == 1


def test_a_new_epoch_restarts_the_sequence() -> None:
    log = PartitionLog()
    log.append(batch(1, producer_id=5, epoch=3, sequence=7), 0)
    assert log.append(batch(1, producer_id=5, epoch=4, sequence=0), 0) == Appended(1)
