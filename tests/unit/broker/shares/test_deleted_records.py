"""Records that were deleted before a share partition delivers them, where Apache Kafka's own goes wrong."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches


def partition(*batches: StateBatch, most_in_flight: int = 5) -> SharePartition:
    state = ShareState(1, ShareSummary(0, 0, 5, -1), batches)
    rules = ShareRules(most_in_flight=most_in_flight)
    return SharePartition(state, 0, 5, rules=lambda: rules, now=lambda: 0.0, write=lambda _: ErrorCode.NONE)


def log(first: int, last: int) -> Sequence[RecordBatch]:
    return [*read_batches(encode_batch([Record(offset=first)], base_offset=first, last_offset=last))]


def test_share_deleted_records_make_room() -> None:
    """Kafka 4.3.1 throws "inconsistent range" here, and acquires nothing more: as many are in flight as may be."""
    full = partition(StateBatch(5, 9, RecordState.AVAILABLE, 1))
    wanted = Wanted("m", 500, 100, is_strict=False)
    assert full.next_offset() == 5
    assert not acquire(full, wanted, ReadRecords(5, log(12, 14)))
    assert (full.start_offset, full.next_offset(), full.can_acquire) == (10, 10, True)
    (found,) = acquire(full, wanted, ReadRecords(10, log(12, 14)))
    assert (found.first, found.last, found.count) == (12, 14, 1)


def test_share_deleted_records_are_not_sought() -> None:
    """A batch may begin below the start, and a strict limit leaves its records available: Kafka seeks them."""
    deleted = partition(StateBatch(5, 7, RecordState.AVAILABLE, 1))
    deleted.note_log_start(14)
    (found,) = acquire(deleted, Wanted("m", 1, 100, is_strict=True), ReadRecords(14, log(12, 16)))
    assert (found.first, found.last) == (12, 12)
    assert deleted.next_offset() == 14
    deleted.note_log_start(19)
    acquire(deleted, Wanted("m", 500, 100, is_strict=False), ReadRecords(19, log(19, 20)))
    assert deleted.next_offset() == 21


def test_share_deleted_records_stay_below_the_start() -> None:
    """Kafka 4.3.1 goes back to the first record that its recorded state skipped."""
    skipping = partition(StateBatch(5, 6, RecordState.AVAILABLE, 1), StateBatch(10, 12, RecordState.ARCHIVED, 1))
    skipping.note_log_start(11)
    skipping.move_start()
    assert (skipping.start_offset, skipping.next_offset()) == (11, 11)


def test_share_deleted_records_cannot_be_acknowledged() -> None:
    """Kafka 4.3.1 ends with a NullPointerException, and what it has acknowledged before in the request stays locked."""
    skipping = partition(StateBatch(8, 9, RecordState.AVAILABLE, 1))
    with pytest.raises(AcknowledgementError) as refused:
        acknowledge(skipping, "m", [Acknowledgement(4, 9, [1])])
    assert refused.value.code == ErrorCode.INVALID_RECORD_STATE
