"""Records that were skipped when a state was recorded: they are delivered before later ones."""

from __future__ import annotations

import pytest

from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary, StateUpdate
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.shares.acknowledging import Acknowledgement, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

ACCEPT = 1


def batches(*bounds: tuple[int, int]) -> list[RecordBatch]:
    """Batches of the log, each with a first and a last offset."""
    return [
        batch
        for first, last in bounds
        for batch in read_batches(encode_batch([Record(offset=first)], base_offset=first, last_offset=last))
    ]


def restored(*recorded: StateBatch, start: int = 0) -> tuple[SharePartition, list[StateUpdate]]:
    """A share partition with a recorded state, and what it records."""
    rules, updates = ShareRules(), list[StateUpdate]()

    def write(update: StateUpdate) -> ErrorCode:
        updates.append(update)
        return ErrorCode.NONE

    state = ShareState(1, ShareSummary(0, 0, start, 0), recorded)
    return SharePartition(state, 0, start, rules=lambda: rules, now=lambda: 0.0, write=write), updates


def fetch(partition: SharePartition, read: list[RecordBatch], size: int = 5) -> list[tuple[int, int]]:
    offset = partition.next_offset()
    found = acquire(partition, Wanted("m", 100, size, is_strict=False), ReadRecords(offset, read))
    return [(each.first, each.last) for each in found]


@pytest.mark.parametrize("size", [1, 5, 6, 100])
@pytest.mark.parametrize("state", [RecordState.ACKNOWLEDGED, RecordState.ARCHIVED])
def test_the_start_offset_moves_over_all_that_was_acknowledged_of_a_gap(state: RecordState, size: int) -> None:
    """In however many batches its records are in flight."""
    partition, updates = restored(StateBatch(10, 19, state, 1), StateBatch(25, 29, RecordState.AVAILABLE, 1))
    assert (partition.next_offset(), partition.delivery_complete_count) == (0, 10)
    found = fetch(partition, batches((0, 4), (5, 9)), size)
    assert (found[0][0], found[-1][1]) == (0, 9)
    assert partition.next_offset() == 20
    acknowledge(partition, "m", [Acknowledgement(0, 9, (ACCEPT,))])
    assert [update.start_offset for update in updates] == [0]
    assert (partition.start_offset, partition.end_offset, partition.delivery_complete_count) == (10, 29, 10)
    assert fetch(partition, batches((20, 24)), size) == [(20, 24)]
    acknowledge(partition, "m", [Acknowledgement(20, 24, (ACCEPT,))])
    assert (partition.start_offset, partition.end_offset, partition.delivery_complete_count) == (25, 29, 0)
    assert fetch(partition, batches((25, 29)), size) == [(25, 29)]
    assert partition.active_gap is None
    assert partition.next_offset() == 30
