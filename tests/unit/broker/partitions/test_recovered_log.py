"""Segments at the start: what a crash has left, and what is damaged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.synced_paths import synced_paths

from kafkawire.broker.partitions.file_segment import FileSegment, write_replacement
from kafkawire.broker.partitions.producers import ProducerHistory
from kafkawire.broker.partitions.recovered_log import recovered_segments
from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.broker.storage.producer_snapshot_files import producer_snapshot_path, write_producer_snapshot
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.protocol import ProducerSnapshot
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

NOW: Final = 9000


def batch(offset: int, timestamp: int = 1000, size: int = 5000) -> RecordBatch:
    record = Record(timestamp=timestamp, key=b"k", value=bytes(size))
    return next(read_batches(encode_batch([record], base_offset=offset)))


def write(folder: Path, *segments: Sequence[int]) -> None:
    """Write segments with a batch for each offset; all but the last have their indexes."""
    for offsets in segments:
        segment = FileSegment(folder, offsets[0], NOW)
        segment.write([batch(offset, 1000 + offset) for offset in offsets])
        if offsets is not segments[-1]:
            segment.store_index(grows=False)
            write_producer_snapshot(producer_snapshot_path(folder, offsets[-1] + 1), ProducerSnapshot())


def recovered(folder: Path, recovery_point: int = 0, expired_ms: int = 0) -> tuple[list[tuple[int, int]], list[int]]:
    """First and end offset of each segment, and the base offsets of the batches that were read."""
    seen: list[int] = []

    class Producers(ProducerHistory):
        def see(self, batch: RecordBatch) -> AbortedTransaction | None:
            seen.append(batch.base_offset)
            return super().see(batch)

    segments = recovered_segments(folder, recovery_point, NOW, Producers(), expired_ms=expired_ms)
    return [(segment.base_offset, segment.end_offset) for segment in segments], seen


def test_all_segments_are_read(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], [2, 3], [4])
    assert recovered(tmp_path) == ([(0, 2), (2, 4), (4, 5)], [0, 1, 2, 3, 4])


def test_durable_segments_of_forgotten_producers_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], [2, 3], [4])
    assert recovered(tmp_path, 5, 1003) == ([(0, 2), (2, 4), (4, 5)], [2, 3, 4])
    assert recovered(tmp_path, 3, 1100) == ([(0, 2), (2, 4), (4, 5)], [2, 3, 4])
    for path in tmp_path.glob("*.timeindex"):
        path.unlink()
    assert recovered(tmp_path, 5, 1100)[1] == [0, 1, 2, 3, 4]
    assert len([*tmp_path.glob("*.timeindex")]) == 2


def test_segments_that_were_not_read_find_offsets_and_times(tmp_path: Path) -> None:
    write(tmp_path, range(50), [50])
    segment = recovered_segments(tmp_path, 51, NOW, ProducerHistory(), expired_ms=5000)[0]
    assert (segment.largest_timestamp, segment.largest_offset) == (1049, 49)
    for offset in range(50):
        assert next(segment.batches(offset)).base_offset == offset
        assert next(segment.batches_since(1000 + offset, 0)).base_offset == offset


@pytest.mark.parametrize("damage", ["torn", "flipped", "offsets", "nothing"])
def test_damage_at_the_end_is_cut_off_unless_it_was_durable(tmp_path: Path, damage: str) -> None:
    write(tmp_path, [0, 1], [2, 3])
    path = tmp_path / f"{2:020d}.log"
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(
        {
            "torn": content[:-1],
            "flipped": content[:-1] + b"?",
            "offsets": content[:half] * 2,
            "nothing": content[:half] + bytes(half),
        }[damage]
    )
    with pytest.raises(CorruptLogError, match="records from offset 3 on are missing or damaged"):
        recovered(tmp_path, 4)
    assert recovered(tmp_path, 3)[0] == [(0, 2), (2, 3)]
    assert path.read_bytes() == content[:half]


def test_segments_after_the_damage_go_too(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], [2, 3], [4])
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1])
    assert recovered(tmp_path)[0] == [(0, 1)]
    assert [each.name for each in tmp_path.glob("*.log")] == [path.name]


def test_a_missing_end_is_found(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], [2, 3])
    (tmp_path / f"{2:020d}.log").unlink()
    with pytest.raises(CorruptLogError, match="though all below 4 were durable"):
        recovered(tmp_path, 4)


def test_an_incomplete_replacement_is_removed(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], [2])
    (tmp_path / f"{0:020d}.log.cleaned").write_bytes(b"?")
    assert recovered(tmp_path)[0] == [(0, 2), (2, 3)]
    assert not [*tmp_path.glob("*.cleaned")]


@pytest.mark.parametrize("deleted", [[], [0], [0, 2]])
def test_a_complete_replacement_takes_its_place(tmp_path: Path, deleted: Sequence[int]) -> None:
    """Whatever has been deleted already of the segments that it replaces."""
    write(tmp_path, [0, 1], [2, 3], [4])
    write_replacement(tmp_path, 0, iter([batch(1), batch(3)]))
    for base_offset in deleted:
        FileSegment(tmp_path, base_offset, 0).delete()
    assert recovered(tmp_path) == ([(0, 4), (4, 5)], [1, 3, 4])
    assert not [*tmp_path.glob("*.swap")]


def test_what_a_killed_broker_may_have_written_is_durable_before_it_is_read(tmp_path: Path) -> None:
    """A broker that is killed between a write and its fsync leaves a batch that a power failure takes away again."""
    write(tmp_path, [0, 1], [2, 3])
    with synced_paths() as synced:
        recovered(tmp_path, 2)
    assert synced == {tmp_path, tmp_path / f"{2:020d}.log"}
    with synced_paths() as synced:
        recovered(tmp_path, 4)
    assert not synced


def test_the_name_of_a_segment_without_records_is_durable_before_it_gets_some(tmp_path: Path) -> None:
    write(tmp_path, [0, 1], [2])
    (tmp_path / f"{2:020d}.log").write_bytes(b"")
    with synced_paths() as synced:
        recovered(tmp_path, 2)
    assert tmp_path in synced
