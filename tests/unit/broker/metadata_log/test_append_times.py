"""Logs of an earlier version, whose batches have records of many append times, are rewritten."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kafkawire.broker.metadata_log.append_times import unify_append_times
from kafkawire.broker.storage.segments import list_segments
from kafkawire.wire.batches import Record, RecordBatch, decode_records, encode_batch, read_batches

WRITTEN_EARLIER = Path(__file__).parents[3] / "fixtures" / "mixed-append-times" / "data" / "__cluster_metadata-0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(WRITTEN_EARLIER, tmp_path / "log", copy_function=shutil.copyfile)


def batches(folder: Path) -> list[RecordBatch]:
    return [batch for segment in list_segments(folder) for batch in read_batches(segment.path.read_bytes())]


def times(batch: RecordBatch) -> set[int]:
    return {record.timestamp for record in decode_records(batch)}


def said(batch: RecordBatch) -> tuple[object, ...]:
    """All but the times of the records."""
    records = [(record.offset, record.key, record.value) for record in decode_records(batch)]
    return batch.base_offset, batch.partition_leader_epoch, batch.is_control, batch.max_timestamp, records


def contents(folder: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(folder: Path, *batches: bytes) -> Path:
    folder.mkdir()
    path = folder / f"{0:020d}.log"
    path.write_bytes(b"".join(batches))
    return path


def batch_of(*timestamps: int, base_offset: int = 0) -> bytes:
    records = [Record(timestamp=timestamp, value=b"v") for timestamp in timestamps]
    return encode_batch(records, base_offset=base_offset, partition_leader_epoch=1)


def test_every_batch_has_one_time_afterwards_and_says_the_same(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = batches(folder)
    assert {len(times(batch)) for batch in before} > {1}
    with caplog.at_level(logging.WARNING):
        unify_append_times(folder)
    after = batches(folder)
    assert [*map(said, after)] == [*map(said, before)]
    assert [times(batch) for batch in after] == [{batch.max_timestamp} for batch in before]
    rewritten = [sum(len(times(batch)) > 1 for batch in read) for read in (before[:30], before[30:])]
    paths = [segment.path for segment in list_segments(folder)]
    assert caplog.messages == [
        f"{path}: rewrote {count} batches whose records had different append times, as an older version of kafkawire "
        "wrote them and Apache Kafka refuses them; offsets and records are the same"
        for path, count in zip(paths, rewritten, strict=True)
    ]


def test_a_log_that_has_one_time_to_a_batch_is_left_alone(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    unify_append_times(folder)
    before = contents(folder)
    caplog.clear()
    unify_append_times(folder)
    assert contents(folder) == before
    assert caplog.messages == []


@pytest.mark.parametrize("timestamps", [(5, 6), (6, 5), (5, 5, 4, 5)], ids=["later", "earlier", "in the middle"])
def test_a_clock_that_went_back_is_noticed_too(tmp_path: Path, timestamps: Sequence[int]) -> None:
    path = write(tmp_path / "log", batch_of(7), batch_of(*timestamps, base_offset=1))
    unify_append_times(path.parent)
    assert [times(batch) for batch in batches(path.parent)] == [{7}, {max(timestamps)}]


@pytest.mark.parametrize("tail", [b"garbage of a crash", batch_of(8, 9, base_offset=3)[:-1]], ids=["garbage", "torn"])
def test_an_incomplete_batch_stays(tmp_path: Path, tail: bytes) -> None:
    path = write(tmp_path / "log", batch_of(5, 6), batch_of(7, base_offset=2), tail)
    unify_append_times(path.parent)
    assert path.read_bytes() == batch_of(6, 6) + batch_of(7, base_offset=2) + tail


def test_indexes_of_the_old_file_go_with_it(tmp_path: Path) -> None:
    path = write(tmp_path / "log", batch_of(5, 6))
    for suffix in (".index", ".timeindex", ".snapshot"):
        path.with_suffix(suffix).write_bytes(b"of Kafka")
    unify_append_times(path.parent)
    assert sorted(each.suffix for each in path.parent.iterdir()) == [".log", ".snapshot"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_crash_leaves_the_old_segment_or_the_new_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """At every call that changes something, also between the segments; the next start does what is left."""
    expected = [said(batch) for batch in batches(folder)]
    real, calls = getattr(os, call), 0
    for allowed in range(20):
        calls = 0

        def crash(*arguments: object, limit: int = allowed) -> object:
            nonlocal calls
            calls += 1
            if calls > limit:
                raise KeyboardInterrupt
            return real(*arguments)

        copy = shutil.copytree(folder, folder.with_name(f"{call}-{allowed}"))
        with monkeypatch.context() as patched:
            patched.setattr(os, call, crash)
            try:
                unify_append_times(copy)
            except KeyboardInterrupt:
                pass
            else:
                break
        assert [said(batch) for batch in batches(copy)] == expected
        unify_append_times(copy)
        assert {len(times(batch)) for batch in batches(copy)} == {1}
    assert calls >= 2
