"""A stream loses no rows silently when segments arrive out of order, as from rsync or an object store."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.apache_spark.following import Followed, rows_at_once
from tests.made.logs import OFFSETS_LOG, write_batches

from kafkawire.logs import LOCAL, LogReadError, find_log_files
from kafkawire.spark.options import OptionError
from kafkawire.spark.streaming.log_walk import LogWalk
from kafkawire.wire.batches import Record, encode_batch

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
SEGMENTS = sorted((LOGS / "__cluster_metadata-0").glob("*.log"))
FIRST, SECOND, THIRD = SEGMENTS
BEFORE_SECOND, BEFORE_THIRD = 159, 315


@pytest.fixture
def metadata(tmp_path: Path) -> Path:
    """An empty folder of a metadata log."""
    folder = tmp_path / "data" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def offsets(tmp_path: Path) -> Path:
    """An empty folder of a log that is compacted."""
    folder = tmp_path / "data" / OFFSETS_LOG
    folder.mkdir(parents=True)
    return folder


def put(folder: Path, *numbers: int) -> None:
    """Write a segment with a batch of one record for each offset."""
    batches = [encode_batch([Record(timestamp=1, value=b"v")], base_offset=number) for number in numbers]
    write_batches(folder, numbers[0], batches)


def read(query: Followed) -> list[object]:
    """The offsets of the batches that are new."""
    return [row[2] for row in query.look()]


@pytest.mark.parametrize("order", list(itertools.permutations(SEGMENTS)), ids=str)
def test_metadata_segments_in_any_order_are_all_read(metadata: Path, order: Sequence[Path]) -> None:
    query = Followed(metadata.parent)
    for segment in order:
        shutil.copy(segment, metadata)
        query.look()
    assert query.rows == rows_at_once(metadata.parent)


def test_the_query_waits_for_a_missing_metadata_segment_and_names_it(
    metadata: Path, caplog: pytest.LogCaptureFixture
) -> None:
    query = Followed(metadata.parent)
    shutil.copy(FIRST, metadata)
    shutil.copy(THIRD, metadata)
    assert query.look() == rows_at_once(metadata / FIRST.name)
    assert f"there is no segment with the offsets {BEFORE_SECOND} to {BEFORE_THIRD - 1}" in caplog.text
    assert query.look() == []


def test_a_metadata_segment_that_arrives_after_the_timeout_is_a_loss(metadata: Path) -> None:
    query = Followed(metadata.parent, {"gapTimeout": "0"})
    shutil.copy(FIRST, metadata)
    shutil.copy(THIRD, metadata)
    with pytest.raises(LogReadError, match="data_loss: there is no segment with the offsets 159 to 314; the option"):
        query.look()
    assert query.rows == rows_at_once(metadata / FIRST.name)
    shutil.copy(SECOND, metadata)
    query.look()
    assert query.rows == rows_at_once(metadata.parent)


def test_a_trigger_available_now_does_not_wait(metadata: Path) -> None:
    query = Followed(metadata.parent)
    shutil.copy(FIRST, metadata)
    shutil.copy(THIRD, metadata)
    reader = query.reader()
    reader.prepareForTriggerAvailableNow()
    with pytest.raises(LogReadError, match="data_loss: there is no segment with the offsets 159 to 314"):
        query.look(reader)
    assert query.rows == rows_at_once(metadata / FIRST.name)


def test_a_query_may_go_on_without_a_metadata_segment(metadata: Path, caplog: pytest.LogCaptureFixture) -> None:
    query = Followed(metadata.parent, {"gapTimeout": "0", "failOnDataLoss": "false"})
    shutil.copy(FIRST, metadata)
    shutil.copy(THIRD, metadata)
    query.look()
    assert query.rows == rows_at_once(metadata.parent)
    assert "there is no segment with the offsets 159 to 314" in caplog.text
    caplog.clear()
    shutil.copy(SECOND, metadata)
    assert query.look() == []
    assert f"segment {SECOND.name} came after later ones were read" in caplog.text
    caplog.clear()
    assert query.look() == []
    assert caplog.text == ""


def test_the_query_waits_for_each_of_several_gaps(metadata: Path) -> None:
    query = Followed(metadata.parent, {"gapTimeout": "0", "failOnDataLoss": "false"})
    put(metadata, 0, 1)
    write_batches(metadata, 4, [])
    put(metadata, 6, 7)
    assert read(query) == [0, 1, 6, 7]


def test_the_query_waits_for_the_start_of_a_metadata_log_unless_a_snapshot_has_it(metadata: Path) -> None:
    shutil.copy(SECOND, metadata)
    query = Followed(metadata.parent)
    assert query.look() == []
    snapshot = metadata / f"{BEFORE_SECOND:020}-0000000001.checkpoint"
    shutil.copy(next((LOGS / "__cluster_metadata-0").glob("*.checkpoint")), snapshot)
    assert query.look() == rows_at_once(metadata)
    shutil.copy(FIRST, metadata)
    with pytest.raises(LogReadError, match=f"data_loss: segment {FIRST.name} came after later ones were read"):
        query.look()


def test_the_query_waits_for_a_segment_that_is_still_being_copied(metadata: Path) -> None:
    (metadata / FIRST.name).write_bytes(FIRST.read_bytes()[:-5])
    shutil.copy(SECOND, metadata)
    query = Followed(metadata.parent)
    query.look()
    shutil.copy(FIRST, metadata)
    query.look()
    assert query.rows == rows_at_once(metadata.parent)


def test_the_query_waits_for_the_rest_of_an_older_copy_of_a_segment(metadata: Path) -> None:
    put(metadata, 0, 1)
    put(metadata, 4)
    query = Followed(metadata.parent)
    assert read(query) == [0, 1]
    put(metadata, 0, 1, 2, 3)
    assert read(query) == [2, 3, 4]


def test_reading_continues_after_a_gap_of_a_compacted_log(offsets: Path) -> None:
    put(offsets, 0, 1)
    put(offsets, 7)
    assert read(Followed(offsets.parent)) == [0, 1, 7]


@pytest.mark.parametrize("late", [(3, 5), (2,), (6,)], ids=str)
def test_a_segment_of_a_compacted_log_that_comes_late_is_a_loss(offsets: Path, late: Sequence[int]) -> None:
    put(offsets, 0, 1)
    put(offsets, 7)
    query = Followed(offsets.parent)
    read(query)
    put(offsets, *late)
    with pytest.raises(LogReadError, match=f"data_loss: segment {late[0]:020}.log came after later ones were read"):
        query.look()


def test_each_segment_that_comes_late_is_named_once(offsets: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(offsets, 0)
    put(offsets, 9)
    query = Followed(offsets.parent, {"failOnDataLoss": "false"})
    read(query)
    for base_offset in (3, 6):
        put(offsets, base_offset)
        assert read(query) == []
        assert f"segment {base_offset:020}.log came after later ones were read" in caplog.text
        caplog.clear()
        assert read(query) == []
        assert caplog.text == ""


def test_a_segment_of_a_compacted_log_that_grows_late_is_a_loss(offsets: Path) -> None:
    put(offsets, 0, 1)
    put(offsets, 7)
    query = Followed(offsets.parent)
    read(query)
    put(offsets, 0, 1, 2, 3)
    with pytest.raises(LogReadError, match=f"data_loss: segment {0:020}.log grew after later ones were read"):
        query.look()


def test_a_segment_emptied_by_compaction_is_no_loss_unless_it_grows(offsets: Path) -> None:
    put(offsets, 0)
    write_batches(offsets, 1, [])
    put(offsets, 2)
    query = Followed(offsets.parent)
    assert read(query) == [0, 2]
    assert read(query) == []
    put(offsets, 1)
    with pytest.raises(LogReadError, match=f"data_loss: segment {1:020}.log grew after later ones were read"):
        query.look()


@pytest.mark.parametrize("missing", [1, 80], ids=["inside of a batch", "between batches"])
def test_a_segment_that_grows_and_is_closed_while_logs_are_listed_is_read_to_its_end(
    offsets: Path, missing: int
) -> None:
    put(offsets, 0, 1, 2)
    put(offsets, 3)
    first, second = find_log_files([offsets])
    batch = first.size // 3
    size = first.size - (min(missing, batch))

    def walk(size: int) -> LogWalk:
        listed = [replace(first, size=size), second]
        return LogWalk(listed, LOCAL, max_frame_bytes=1 << 20, fail_on_data_loss=True)

    stopped = walk(size).advance(None, None)
    assert stopped.end.offset == 2
    assert stopped.gap is not None
    assert walk(size).advance(stopped.end, None, past=stopped.gap).end.offset == 2
    step = walk(first.size).advance(stopped.end, None)
    assert (step.end.offset, step.gap, step.end.gaps) == (4, None, ())


def test_merging_and_cleaning_around_a_gap_is_no_loss(offsets: Path) -> None:
    put(offsets, 0, 1)
    put(offsets, 7)
    put(offsets, 9, 10)
    query = Followed(offsets.parent)
    assert read(query) == [0, 1, 7, 9, 10]
    put(offsets, 0)
    assert read(query) == []
    put(offsets, 0, 1, 7)
    (offsets / f"{7:020}.log").unlink()
    assert read(query) == []
    (offsets / f"{0:020}.log").unlink()
    assert read(query) == []


def test_a_gap_after_bytes_that_cannot_be_read_is_no_gap(metadata: Path) -> None:
    put(metadata, 0, 1)
    segment = metadata / f"{0:020}.log"
    broken = bytearray(segment.read_bytes())
    broken[-1] ^= 1
    segment.write_bytes(broken)
    put(metadata, 2)
    query = Followed(metadata.parent)
    assert read(query) == [0, 1, 2]


def test_the_time_to_wait_is_a_number_with_a_unit() -> None:
    with pytest.raises(OptionError, match="option 'gapTimeout': 'soon' is not a duration: give seconds"):
        Followed("/data", {"gapTimeout": "soon"}).reader()
