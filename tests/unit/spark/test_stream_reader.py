"""A stream returns every batch of a log once, however the log grows and whenever the query is restarted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("pyspark")

from hypothesis import example, given, settings, strategies as st
from tests.apache_spark.following import EVERYTHING, Followed, rows_at_once
from tests.hypothesis_profiles import scaled
from tests.made.logs import OFFSETS_LOG, Written, write_batches, write_offsets_segment

from kafkawire.logs import FileRange, LogReadError, ReadMode, ScannedBatch, find_log_files, scan_batches
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.spark.options import OptionError
from kafkawire.wire.batches import Record, encode_batch

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
METADATA = LOGS / "__cluster_metadata-0"
SEGMENTS = sorted(METADATA.glob("*.log"))
FIRST, SECOND, THIRD = SEGMENTS


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An empty folder of a log."""
    folder = tmp_path / "data" / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    return folder


def alike(count: int) -> list[bytes]:
    """Batches of one record each, all of the same size."""
    return [encode_batch([Record(timestamp=1, key=b"k", value=b"v")], base_offset=offset) for offset in range(count)]


def batches_of(segment: Path) -> list[bytes]:
    """The bytes of each batch of a segment."""
    (file,) = find_log_files([str(segment)])
    data = segment.read_bytes()
    found = [one for one in scan_batches(FileRange(file, 0, file.size)) if isinstance(one, ScannedBatch)]
    return [data[one.position : one.position + one.batch.size] for one in found]


def write_log(folder: Path, segments: Mapping[int, Sequence[int]]) -> None:
    """Write segments of equal batches, and delete all others. The keys are base offsets, the values are offsets."""
    batches = alike(max((offset for offsets in segments.values() for offset in offsets), default=-1) + 1)
    for base_offset, offsets in segments.items():
        write_batches(folder, base_offset, [batches[offset] for offset in offsets])
    for file in folder.iterdir():
        if int(file.stem) not in segments:
            file.unlink()


@given(cuts=st.lists(st.integers(0, sum(file.stat().st_size for file in SEGMENTS)), max_size=8))
@settings(max_examples=scaled(25))
def test_a_log_that_grows_in_pieces_cut_anywhere_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    log = tmp_path_factory.mktemp("data") / "__cluster_metadata-0"
    log.mkdir()
    query = Followed(log.parent)
    for cut in [*sorted(cuts), sum(file.stat().st_size for file in SEGMENTS)]:
        left = cut
        for segment in SEGMENTS:
            if left > 0 or segment is FIRST:
                (log / segment.name).write_bytes(segment.read_bytes()[: max(left, 0)])
            left -= segment.stat().st_size
        query.look()
    assert query.rows == rows_at_once(log.parent)


def test_small_steps_give_the_same_rows(log: Path) -> None:
    shutil.copytree(METADATA, log, dirs_exist_ok=True)
    query = Followed(log.parent, {"maxBytesPerTrigger": "1000", "maxPartitionBytes": "100"})
    query.look()
    assert query.steps > 10
    assert sorted(query.rows, key=repr) == sorted(rows_at_once(log.parent), key=repr)


def test_a_trigger_without_a_limit_reads_everything_in_one_step(log: Path) -> None:
    shutil.copytree(METADATA, log, dirs_exist_ok=True)
    query = Followed(log.parent, {"maxBytesPerTrigger": "1000"})
    query.look(limit=EVERYTHING)
    assert query.steps == 1


def test_new_partitions_and_snapshots_are_found(log: Path) -> None:
    shutil.copy(FIRST, log)
    query = Followed(log.parent)
    query.look()
    shutil.copytree(LOGS / "__consumer_offsets-0", log.parent / "__consumer_offsets-0")
    snapshot = next(METADATA.glob("*-0000000001.checkpoint"))
    shutil.copy(snapshot, log)
    assert {str(row[0]).rpartition("/")[2] for row in query.look()} == {snapshot.name, FIRST.name}
    assert sorted(query.rows, key=repr) == sorted(rows_at_once(log.parent), key=repr)
    assert query.look() == []


def test_available_now_leaves_later_records_for_the_next_trigger(log: Path) -> None:
    first, second, *rest = batches_of(FIRST)
    segment = log / FIRST.name
    segment.write_bytes(first)
    query = Followed(log.parent)
    reader = query.reader()
    reader.prepareForTriggerAvailableNow()
    segment.write_bytes(b"".join([first, second, *rest]))
    shutil.copy(SECOND, log)
    assert len(query.look(reader)) == 1
    assert len(query.look()) == len(rest) + 1 + len(batches_of(SECOND))


def test_a_table_of_another_log_waits_for_that_log(log: Path) -> None:
    shutil.copy(FIRST, log)
    query = Followed(log.parent, {"table": "offset_commit", "columns": "log_offset"})
    assert query.look() == []
    shutil.copytree(LOGS / "__consumer_offsets-0", log.parent / "__consumer_offsets-0")
    assert query.look() != []


def test_segments_that_were_read_may_be_deleted(log: Path) -> None:
    shutil.copy(FIRST, log)
    shutil.copy(SECOND, log)
    query = Followed(log.parent)
    query.look()
    (log / FIRST.name).unlink()
    (log / SECOND.name).unlink()
    shutil.copy(THIRD, log)
    assert len(query.look()) == len(batches_of(THIRD))


def test_a_segment_that_was_deleted_unread_ends_the_query(log: Path) -> None:
    shutil.copy(FIRST, log)
    query = Followed(log.parent)
    query.look()
    (log / FIRST.name).unlink()
    shutil.copy(THIRD, log)
    with pytest.raises(LogReadError, match="data_loss: the records from offset 159 to 314 were deleted unread"):
        query.look()


def test_a_query_may_go_on_after_a_loss(log: Path) -> None:
    shutil.copy(FIRST, log)
    query = Followed(log.parent, {"failOnDataLoss": "false"})
    query.look()
    (log / FIRST.name).unlink()
    shutil.copy(THIRD, log)
    assert len(query.look()) == len(batches_of(THIRD))


def test_a_truncated_log_ends_the_query(log: Path) -> None:
    *most, _ = batches_of(FIRST)
    shutil.copy(FIRST, log)
    query = Followed(log.parent)
    query.look()
    (log / FIRST.name).write_bytes(b"".join(most))
    with pytest.raises(LogReadError, match=r"data_loss: the log was cut off at offset 15., and was read up to 159"):
        query.look()


def test_cleaning_a_segment_that_was_read_changes_nothing(log: Path) -> None:
    shutil.copy(FIRST, log)
    shutil.copy(SECOND, log)
    query = Followed(log.parent)
    query.look()
    (log / FIRST.name).write_bytes(b"".join(batches_of(FIRST)[::2]))
    assert query.look() == []
    shutil.copy(THIRD, log)
    assert len(query.look()) == len(batches_of(THIRD))


def test_cleaning_a_segment_that_is_being_read_repeats_nothing(log: Path) -> None:
    batches = batches_of(FIRST)
    half = len(batches) // 2
    shutil.copy(FIRST, log)
    query = Followed(log.parent)
    (log / FIRST.name).write_bytes(b"".join(batches[:half]))
    query.look()
    (log / FIRST.name).write_bytes(b"".join([*batches[:half:2], *batches[half:]]))
    shutil.copy(SECOND, log)
    offsets = [row[2] for row in query.look()]
    assert len(offsets) == len(batches) - half + len(batches_of(SECOND))
    assert len({row[2] for row in query.rows}) == len(query.rows)


def test_batches_that_cleaning_moves_to_positions_of_others_are_read(log: Path) -> None:
    batches = alike(6)
    query = Followed(log.parent)
    write_batches(log, 0, batches[:2])
    query.look()
    write_batches(log, 0, batches[1:5])  # the fourth is now where the third was
    write_batches(log, 5, batches[5:])
    query.look()
    assert [row[2] for row in query.rows] == [0, 1, 2, 3, 4, 5]


def test_reading_continues_after_a_cleaned_segment_that_ends_at_the_position(tmp_path: Path) -> None:
    log = tmp_path / "data" / OFFSETS_LOG
    batches = alike(6)
    query = Followed(log.parent)
    write_batches(log, 0, batches[:2])
    query.look()
    write_batches(log, 0, batches[2:4])
    write_batches(log, 5, batches[5:])
    query.look()
    assert [row[2] for row in query.rows] == [0, 1, 2, 3, 5]


def test_a_truncated_log_with_a_new_segment_ends_the_query(log: Path) -> None:
    query = Followed(log.parent)
    write_batches(log, 0, alike(3))
    query.look()
    write_batches(log, 0, [*alike(2), alike(1)[0]])
    write_batches(log, 2, [])
    with pytest.raises(LogReadError, match="data_loss: the log was cut off"):
        query.look()


@pytest.mark.parametrize(
    "cleaned", [alike(4)[::2], alike(4)[1:] + alike(9)[7:]], ids=["to a smaller one", "and merged to a larger one"]
)
@pytest.mark.parametrize("mode", list(ReadMode))
def test_a_segment_cleaned_between_planning_and_reading_is_read_after_a_restart(
    log: Path, mode: ReadMode, cleaned: list[bytes]
) -> None:
    query = Followed(log.parent, {"mode": mode.value, "columns": "log_offset"})
    write_batches(log, 0, alike(4))
    write_batches(log, 9, [])
    query.plan()
    reader = query.reader()
    partitions = reader.partitions({}, json.loads(query.planned or ""))
    write_batches(log, 0, cleaned)
    with pytest.raises(LogReadError, match="file_changed"):
        _ = [batch for partition in partitions for batch in reader.read(partition)]
    assert len(query.look()) == len(cleaned)


def test_deleting_a_segment_during_its_read_is_no_loss(log: Path) -> None:
    write_batches(log, 0, alike(4))
    write_batches(log, 9, [])
    query = Followed(log.parent)
    query.plan()
    reader = query.reader()
    (partition,) = reader.partitions({}, json.loads(query.planned or ""))
    batches = reader.read(partition)
    assert next(batches).num_rows == 4
    (log / f"{0:020}.log").unlink()
    assert list(batches) == []


class Step(NamedTuple):
    """A change of a log or a step of the query. ``clean`` and ``merge`` change closed segments.

    Attributes:
        kind: one of ``append``, ``roll``, ``clean``, ``merge``, ``read`` and ``plan``.
        number: of batches to append, or of the segment to clean or merge.
        kept: multiplier that decides which batches ``clean`` keeps.
    """

    kind: str
    number: int
    kept: int


STEPS = st.builds(
    Step,
    st.sampled_from(["append", "append", "roll", "clean", "merge", "read", "plan"]),
    st.integers(0, 5),
    st.integers(1, 9),
)


@given(steps=st.lists(STEPS, max_size=30), size=st.sampled_from([None, "80", "500"]))
@example(  # cleaning removes all batches of a segment, and Kafka keeps the empty file
    steps=[Step("append", 1, 0), Step("roll", 0, 0), Step("append", 1, 0), Step("roll", 0, 0), Step("clean", 1, 6)],
    size=None,
)
@settings(max_examples=scaled(40))
def test_a_log_that_grows_rolls_and_is_cleaned_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], size: str | None
) -> None:
    log = tmp_path_factory.mktemp("data") / OFFSETS_LOG
    query = Followed(log.parent, {} if size is None else {"maxBytesPerTrigger": size, "maxPartitionBytes": size})
    segments: dict[int, list[int]] = {0: []}
    end = 0
    for step in [*steps, Step("append", 1, 0), Step("read", 0, 0)]:
        bases = sorted(segments)
        if step.kind == "append":
            segments[bases[-1]] += range(end, end + step.number)
            end += step.number
        elif step.kind == "roll":
            segments.setdefault(end, [])
        elif step.kind == "clean" and len(bases) > 1:
            base = bases[step.number % (len(bases) - 1)]
            segments[base] = [offset for offset in segments[base] if offset * step.kept % 10 < 6]
        elif step.kind == "merge" and len(bases) > 2:
            left = step.number % (len(bases) - 2)
            segments[bases[left]] += segments.pop(bases[left + 1])
        write_log(log, segments)
        if step.kind == "plan":
            query.plan()
        elif step.kind == "read":
            query.look()
    offsets = [row[2] for row in query.rows]
    assert len(set(offsets)) == len(offsets)
    assert {offset for members in segments.values() for offset in members} <= set(offsets)
    assert all(row[-1] is None for row in query.rows)


def test_merging_segments_that_were_read_repeats_nothing(log: Path) -> None:
    shutil.copy(FIRST, log)
    shutil.copy(SECOND, log)
    query = Followed(log.parent)
    query.look()
    (log / FIRST.name).write_bytes(b"".join([*batches_of(FIRST)[::3], *batches_of(SECOND)]))
    (log / SECOND.name).unlink()
    assert query.look() == []
    shutil.copy(THIRD, log)
    assert len(query.look()) == len(batches_of(THIRD))


def test_the_query_waits_for_batches_in_place_of_zeros(log: Path) -> None:
    first, second, *_ = batches_of(FIRST)
    segment = log / FIRST.name
    segment.write_bytes(first + bytes(1000))
    query = Followed(log.parent)
    assert len(query.look()) == 1
    segment.write_bytes(first + second + bytes(1000))
    assert query.look() == rows_at_once(log.parent)[1:2]


def test_an_incomplete_batch_is_a_row_once_a_newer_segment_exists(log: Path) -> None:
    segment = log / FIRST.name
    segment.write_bytes(FIRST.read_bytes()[:-1])
    query = Followed(log.parent, {"gapTimeout": "0s"})
    assert [row[-1] for row in query.look()] == [None] * (len(batches_of(FIRST)) - 1)
    shutil.copy(SECOND, log)
    assert [row[-1] for row in query.look()][:2] == ["truncated_batch", None]
    assert query.rows == rows_at_once(log.parent)


def test_txn_outcome_is_the_outcome_when_the_row_was_read(tmp_path: Path) -> None:
    folder = tmp_path / OFFSETS_LOG
    commit = Written(1, ((OffsetCommitKey("g", "t", 0), OffsetCommitValue(1), 3),), producer_id=7)
    batches = [commit, Written(1, (), 7, marker="COMMIT"), commit]
    query = Followed(folder, {"table": "records", "columns": "log_offset,txn_outcome"})
    write_offsets_segment(folder, 0, batches[:1])
    assert query.look() == [(0, "open")]
    write_offsets_segment(folder, 0, batches)
    assert query.look() == [(1, "committed"), (2, "open")]
    assert rows_at_once(folder, query.options) == [(0, "committed"), (1, "committed"), (2, "open")]


def test_a_batch_with_a_wrong_checksum_is_reported_once(log: Path) -> None:
    data = bytearray(FIRST.read_bytes())
    data[len(batches_of(FIRST)[0]) + 70] ^= 1
    (log / FIRST.name).write_bytes(data)
    query = Followed(log.parent)
    assert [row[-1] for row in query.look()].count("bad_crc") == 1
    assert query.look() == []


def test_invalid_bytes_end_a_segment(log: Path) -> None:
    (log / FIRST.name).write_bytes(batches_of(FIRST)[0] + b"\xff" * 100)
    query = Followed(log.parent)
    assert [row[-1] for row in query.look()] == [None, "bad_length"]
    assert query.look() == []


def test_a_segment_needs_the_name_that_kafka_gives_it(log: Path) -> None:
    shutil.copy(FIRST, log / "copy.log")
    query = Followed(log / "copy.log")
    with pytest.raises(LogReadError, match="a stream needs segments named as Kafka names them"):
        query.look()


def test_a_stream_refuses_accounts_path(log: Path) -> None:
    with pytest.raises(OptionError, match="option 'accountsPath' is for"):
        Followed(log, {"accountsPath": str(log)}).reader()
