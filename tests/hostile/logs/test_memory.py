"""No segment makes the reading gather batches without end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.log_segments import OFFSETS
from tests.memory_store import MemoryStore

from kafkawire.logs import Accounts, FileRange, find_log_files
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.record_groups import scan_groups
from kafkawire.wire.batches import RecordBatch, seal


@pytest.mark.parametrize(("octets", "count"), [(0, 40_000), (9 << 20, 4)], ids=["many", "large"])
def test_batches_without_records_are_gathered_as_others_are(octets: int, count: int) -> None:
    """Compaction leaves a header where it took all records; and nobody looks at bytes behind such a header."""
    sizes = gathered(empty_batch(bytes(octets)) * count)
    assert sum(sizes) == count
    assert len(sizes) > 1
    assert all(size == following for size, following in pairwise(sizes[:-1]))


def gathered(content: bytes) -> list[int]:
    """How many batches are held at a time."""
    store = MemoryStore({f"{OFFSETS}/{0:020}.log": content})
    (file,) = find_log_files((OFFSETS,), store=store)
    groups = scan_groups(FileRange(file, 0, file.size), DEFAULT_OPTIONS, Accounts(), store)
    return [len(group.batches) for group in groups if not isinstance(group, Flaw)]


def empty_batch(payload: bytes) -> bytes:
    batch = RecordBatch(
        base_offset=0,
        partition_leader_epoch=0,
        crc=0,
        attributes=0,
        last_offset_delta=0,
        base_timestamp=0,
        max_timestamp=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        records_count=0,
        payload=payload,
    )
    return seal(batch).to_bytes()
