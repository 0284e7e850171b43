"""When the locks of a share partition end, by itself."""

from __future__ import annotations

from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.in_flight import UNLOCKED
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch, read_batches

LOCK_MS = 30_001


def test_a_lock_ends_to_the_millisecond() -> None:
    """Each at its own time, and the partition has the next of these times."""
    seconds, rules = 7.0, ShareRules(lock_ms=LOCK_MS)
    partition = SharePartition(
        ShareState(1, ShareSummary(0, 0, 5, -1)),
        0,
        5,
        rules=lambda: rules,
        now=lambda: seconds,
        write=lambda _: ErrorCode.NONE,
    )
    for first in (5, 7):
        records = [*read_batches(encode_batch([Record(offset=first)], base_offset=first, last_offset=first + 1))]
        (found,) = acquire(partition, Wanted("m", 2, 2, is_strict=False), ReadRecords(first, records))
        assert (found.first, found.last) == (first, first + 1)
        seconds += 1
    earlier, later = (begun + LOCK_MS / 1000 for begun in (7, 8))
    for at, is_locked, look_at in (
        (earlier - 0.001, [True, True], earlier),
        (earlier, [False, True], later),
        (later - 0.001, [False, True], later),
        (later, [False, False], UNLOCKED),
    ):
        seconds = at
        assert partition.end_due_locks() is (at in {earlier, later})
        assert [batch.whole is not None and batch.whole.is_acquired_by("m") for batch in partition.batches] == is_locked
        assert partition.look_at == look_at
