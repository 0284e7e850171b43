"""No segment makes the reading gather batches without end, and no index makes it read bytes over and over."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest
from tests.kafka_logs.memory_store import MemoryFile, MemoryStore
from tests.made.segments import OFFSETS, batches_of, index_entries

from kafkawire.logs import Accounts, FileRange, ReadMode, ReadOptions, find_log_files, read_table
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.logs.records.scanning import scan_groups
from kafkawire.wire.batches import RecordBatch, seal


@pytest.mark.parametrize(("octets", "count"), [(0, 40_000), (9 << 20, 4)], ids=["many", "large"])
def test_batches_without_records_are_gathered_as_others_are(octets: int, count: int) -> None:
    """Compaction leaves a header without records; bytes after such a header are ignored."""
    sizes = gathered(empty_batch(bytes(octets)) * count)
    assert sum(sizes) == count
    assert len(sizes) > 1
    assert all(size == following for size, following in pairwise(sizes[:-1]))


class CountedFile(MemoryFile):
    """A file that notes how many bytes are read at a time."""

    def __init__(self, content: bytes, sizes: list[int]) -> None:
        super().__init__(content)
        self._sizes = sizes

    def read_at(self, offset: int, size: int) -> bytes:
        octets = super().read_at(offset, size)
        self._sizes.append(len(octets))
        return octets


class CountedStore(MemoryStore):
    """Files of which it is noted how many bytes are read of segments."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(files)
        self.sizes: list[int] = []

    def open(self, path: str) -> MemoryFile:
        return CountedFile(self.files[path], self.sizes) if path.endswith(".log") else super().open(path)


def broken_batches() -> tuple[bytes, list[tuple[int, int]]]:
    """Batches one after the other, all with wrong CRCs, and an entry for each."""
    content = bytearray(batches_of([[bytes(40_000)]] * 200))
    entries = index_entries(bytes(content), 0, 1)
    for position in (0, *(position for _, position in entries)):
        content[position + 20] ^= 1
    return bytes(content), entries


def overlapping_claims() -> tuple[bytes, list[tuple[int, int]]]:
    """Headers one after the other, each of a batch up to the end of the file, and an entry for each."""
    header = empty_batch(b"")
    left = range(500 * len(header), 0, -len(header))
    content = b"".join(header[:8] + struct.pack(">i", size + 9 - 12) + header[12:] for size in left) + b"no header"
    return content, [(at, len(header) * at) for at in range(1, len(left))]


@pytest.mark.parametrize("made", [broken_batches, overlapping_claims])
def test_bytes_are_read_a_few_times_whatever_the_index_says(
    made: Callable[[], tuple[bytes, list[tuple[int, int]]]],
) -> None:
    content, entries = made()
    index = b"".join(struct.pack(">ii", *entry) for entry in entries)
    store = CountedStore({f"{OFFSETS}/{0:020}.log": content, f"{OFFSETS}/{0:020}.index": index})
    options = ReadOptions(mode=ReadMode.DROPMALFORMED, from_offset=100)
    assert list(read_table("batches", OFFSETS, options, store=store)) == []
    assert sum(store.sizes) < 5 * len(content)


@pytest.mark.parametrize("name", ["records", "offset_commit", "offset_commits"])
def test_rows_that_show_broken_batches_are_as_large_as_others(name: str) -> None:
    broken = bytearray(empty_batch(bytes(1 << 20)))
    broken[20] ^= 1
    store = MemoryStore({f"{OFFSETS}/{0:020}.log": bytes(broken) * 40})
    sizes = [batch.nbytes for batch in read_table(name, OFFSETS, store=store)]
    assert sum(sizes) > 40 << 20
    assert max(sizes) < 20 << 20


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
