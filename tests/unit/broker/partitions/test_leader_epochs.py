from __future__ import annotations

import pytest

from kafkawire.broker.partitions.leader_epochs import end_of_epoch
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.wire.batches import Record, encode_batch, read_batches

_BATCH = next(read_batches(encode_batch([Record(value=b"v")])))


@pytest.mark.parametrize(
    ("asked", "end"),
    [(-1, (-1, -1)), (0, (0, 0)), (2, (2, 2)), (3, (2, 2)), (5, (5, 3)), (8, (5, 3)), (9, (9, 3)), (10, (-1, -1))],
)
def test_an_epoch_ends_where_the_next_one_begins(asked: int, end: tuple[int, int]) -> None:
    log = PartitionLog()
    for epoch in (2, 2, 5):
        log.append(_BATCH, epoch)
    assert end_of_epoch(log, asked, 9) == end


async def test_deleted_epochs_end_at_the_first_record() -> None:
    log = PartitionLog()
    for epoch in (2, 5, 7):
        log.append(_BATCH, epoch)
    await log.delete_before(2)
    assert [end_of_epoch(log, epoch, 7) for epoch in (2, 5, 6, 7)] == [(2, 2), (5, 2), (6, 2), (7, 3)]
