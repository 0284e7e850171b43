"""Table ``records`` has the outcome of the transaction of each record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made.logs import (
    Step,
    Written,
    write_batches,
    write_checkpoint,
    write_offsets_segment,
    write_segment as write_metadata_segment,
)
from tests.made.segments import METADATA, OFFSETS, write_segment

from kafkawire.logs import Accounts, FileRange, Part, ReadOptions, find_log_files, read_part, read_table, table_named
from kafkawire.logs.files.store import FoundFile, LocalStore, OpenFile
from kafkawire.protocol import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    TopicRecord,
)
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch, read_batches
from kafkawire.wire.compression import Codec

BEGIN, END, ABORT = BeginTransactionRecord(), EndTransactionRecord(), AbortTransactionRecord()
TOPIC = TopicRecord("t")
VERSIONS = {"BeginTransactionRecord": 0, "EndTransactionRecord": 0, "AbortTransactionRecord": 0, "TopicRecord": 0}


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([[TOPIC, BEGIN, TOPIC], [TOPIC], [END, TOPIC]], [None, *["committed"] * 4, None]),
        ([[BEGIN, TOPIC, ABORT, TOPIC], [BEGIN, END]], [*["aborted"] * 3, None, *["committed"] * 2]),
        ([[TOPIC], [BEGIN, TOPIC], [TOPIC]], [None, *["open"] * 3]),
        ([[BEGIN, TOPIC], [BEGIN, TOPIC, END]], [*["open"] * 2, *["committed"] * 3]),
        ([[TOPIC, END, TOPIC], [ABORT]], [None] * 4),
    ],
    ids=["committed", "aborted", "without an end", "cut short by another", "without a beginning"],
)
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_records_of_metadata_transactions(
    tmp_path: Path, batches: list[list[Message]], expected: list[str | None], codec: Codec
) -> None:
    write_metadata_batches(tmp_path / METADATA, batches, codec)
    assert outcomes(tmp_path) == expected


def test_a_metadata_transaction_spans_segments(tmp_path: Path) -> None:
    """The outcome is the same if a segment is read alone."""
    folder = tmp_path / METADATA
    middle = write_metadata_segment(folder, 0, [Step(1, (TOPIC, BEGIN))])
    end = write_metadata_segment(folder, middle, [Step(2, (TOPIC, NoOpRecord()))])
    write_metadata_segment(folder, end, [Step(3, (ABORT, TOPIC))])

    assert outcomes(folder) == [None, "aborted", "aborted", "aborted", None]
    for base_offset, expected in ((0, [None, "aborted"]), (middle, ["aborted"]), (end, ["aborted", None])):
        assert outcomes(folder / f"{base_offset:020}.log") == expected


def test_records_missing_in_a_metadata_transaction_leave_its_end_open(tmp_path: Path) -> None:
    """As in the histories, a gap ends the transaction."""
    folder = tmp_path / METADATA
    write_metadata_segment(folder, 0, [Step(1, (BEGIN, TOPIC))])
    write_metadata_segment(folder, 7, [Step(2, (TOPIC, END))])
    assert outcomes(folder) == ["open", "open", None, None]


def test_markers_that_two_segments_share_count_once(tmp_path: Path) -> None:
    folder = tmp_path / METADATA
    write_metadata_segment(folder, 0, [Step(1, (TOPIC, BEGIN))])
    write_metadata_segment(folder, 1, [Step(1, (BEGIN, TOPIC, ABORT))])
    assert outcomes(folder) == [None, "aborted", "aborted", "aborted", "aborted"]


def test_a_transaction_that_ends_at_the_high_watermark_is_open(tmp_path: Path) -> None:
    write_metadata_batches(tmp_path / METADATA, [[BEGIN, TOPIC, TOPIC, END]])
    assert outcomes(tmp_path, ReadOptions(high_watermark=3)) == ["open"] * 3
    assert outcomes(tmp_path, ReadOptions(high_watermark=4)) == ["committed"] * 4


def test_limits_do_not_change_the_outcomes_of_the_remaining_records(tmp_path: Path) -> None:
    write_metadata_batches(tmp_path / METADATA, [[BEGIN], [TOPIC], [TOPIC], [ABORT]])
    assert outcomes(tmp_path, ReadOptions(from_offset=1, until_offset=3)) == ["aborted"] * 2
    assert outcomes(tmp_path, ReadOptions(record_types=("TOPIC_RECORD",))) == ["aborted"] * 2


def test_markers_with_padded_frames_count(tmp_path: Path) -> None:
    begin, topic, end = (encode_metadata_record(each, 0) for each in (BEGIN, TOPIC, END))
    values = [b"\x01\x97\x00" + begin[2:], topic, b"\x81\x80\x00\x98\x00" + end[2:]]
    content = b"".join(encode_batch([Record(value=value)], base_offset=at) for at, value in enumerate(values))
    write_segment(tmp_path / METADATA, content)
    assert outcomes(tmp_path) == ["committed"] * 3


def test_records_of_a_snapshot_have_no_transaction_outcome(tmp_path: Path) -> None:
    folder = tmp_path / METADATA
    write_metadata_segment(folder, 0, [Step(1, (BEGIN, TOPIC, TOPIC, ABORT))])
    snapshot = write_checkpoint(folder, 4, [TOPIC], time=1)
    assert set(outcomes(snapshot)) == {None}


def test_markers_end_the_transactions_of_their_producers(tmp_path: Path) -> None:
    """The producer id decides; the epoch of the marker may differ. A marker has its own outcome."""
    batches = [
        Written(1, commits(2), 7, 0),
        Written(1, commits(1)),
        Written(1, commits(1), 8, 0),
        Written(1, (), 7, 1, "COMMIT"),
        Written(1, commits(1), 7, 1),
        Written(1, (), 8, 1, "ABORT"),
    ]
    write_offsets_segment(tmp_path / OFFSETS, 0, batches)
    assert outcomes(tmp_path) == ["committed", "committed", None, "aborted", "committed", "open", "aborted"]


def test_markers_before_the_read_records_do_not_count(tmp_path: Path) -> None:
    batches = [
        Written(1, commits(1), 7, 0),
        Written(1, (), 7, 0, "ABORT"),
        Written(1, commits(1), 7, 0),
        Written(1, (), 7, 0, "COMMIT"),
        Written(1, commits(1), 7, 0),
    ]
    write_offsets_segment(tmp_path / OFFSETS, 0, batches)
    every = ["aborted", "aborted", "committed", "committed", "open"]
    for begin in range(len(every)):
        assert outcomes(tmp_path, ReadOptions(from_offset=begin)) == every[begin:]


def test_an_unreadable_marker_ends_no_transaction(tmp_path: Path) -> None:
    """The outcome does not depend on where the log is split into parts."""
    folder = tmp_path / OFFSETS
    written = [Record(timestamp=1, key=b"?", value=None)]
    broken = encode_batch(written, producer_id=7, producer_epoch=0, transactional=True, control=True)
    write_batches(folder, 0, [broken])
    write_offsets_segment(folder, 1, [Written(1, (), 7, 0, "COMMIT")])
    for path in (folder, folder / f"{0:020}.log"):
        rows = [row for batch in read_table("records", str(path)) for row in batch.to_pylist()]
        assert (rows[0]["_error"], rows[0]["txn_outcome"]) == ("decode_error", "committed")


def test_a_marker_in_a_later_segment(tmp_path: Path) -> None:
    folder = tmp_path / OFFSETS
    middle = write_offsets_segment(folder, 0, [Written(1, commits(1), 7, 0), Written(1, commits(1), 8, 0)])
    end = write_offsets_segment(folder, middle, [Written(1, commits(1), 9, 0), Written(1, (), 9, 0, "COMMIT")])
    write_offsets_segment(folder, end, [Written(1, (), 7, 0, "ABORT"), Written(1, (), 9, 0, "ABORT")])
    assert outcomes(folder / f"{0:020}.log") == ["aborted", "open"]
    assert outcomes(folder) == ["aborted", "open", "committed", "committed", "aborted", "aborted"]


def test_one_table_can_read_parts_concurrently(tmp_path: Path) -> None:
    """A broken batch ends a batch of rows, so that one part pauses in the middle of its range."""
    parts = []
    for name, marker in ((OFFSETS, "COMMIT"), ("__consumer_offsets-1", "ABORT")):
        batches = [Written(1, commits(1), 7, 0), Written(1, commits(1)), Written(1, commits(1), 7, 0)]
        write_offsets_segment(tmp_path / name, 0, [*batches, Written(1, (), 7, 0, marker)])
        segment = tmp_path / name / f"{0:020}.log"
        content = bytearray(segment.read_bytes())
        content[list(read_batches(content))[1].position + 70] ^= 1
        segment.write_bytes(content)
        (file,) = find_log_files([str(segment)])
        parts.append(Part((FileRange(file, 0, file.size),)))
    table = table_named("records")

    read = [read_part(table, part, ReadOptions(), Accounts()) for part in parts]
    rows = [
        [row["txn_outcome"] for batch in of_part for row in batch.to_pylist()] for of_part in zip(*read, strict=True)
    ]

    assert rows == [["committed", "aborted"], [None, None], ["committed", "committed", "aborted", "aborted"]]


class Retention(LocalStore):
    """The local files; one is deleted after it was listed."""

    def open(self, path: str) -> OpenFile:
        if path.endswith(f"{2:020}.log"):
            raise FileNotFoundError(path)
        return super().open(path)


def test_a_segment_deleted_after_listing_is_ignored(tmp_path: Path) -> None:
    folder = tmp_path / OFFSETS
    middle = write_offsets_segment(folder, 0, [Written(1, commits(1), 7, 0), Written(1, commits(1), 8, 0)])
    end = write_offsets_segment(folder, middle, [Written(1, (), 7, 0, "COMMIT")])
    write_offsets_segment(folder, end, [Written(1, (), 8, 0, "ABORT")])
    rows = read_table("records", str(folder / f"{0:020}.log"), store=Retention())
    assert [row["txn_outcome"] for batch in rows for row in batch.to_pylist()] == ["open", "aborted"]


def test_a_segment_path_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / OFFSETS
    end = write_offsets_segment(folder, 0, [Written(1, commits(1), 7, 0)])
    write_offsets_segment(folder, end, [Written(1, (), 7, 0, "COMMIT")])
    monkeypatch.chdir(folder)
    assert outcomes(Path(f"{0:020}.log")) == ["committed"]


class Listed(LocalStore):
    """The local files; it records the folders that were listed."""

    def __init__(self) -> None:
        self.folders: list[str] = []

    def list(self, path: str, *, recursive: bool) -> Iterator[FoundFile]:
        self.folders.append(path)
        return super().list(path, recursive=recursive)


def test_a_file_of_any_name_is_a_log_of_its_own(tmp_path: Path) -> None:
    """Its folder may contain all files of the machine, and is not searched."""
    write_offsets_segment(tmp_path / OFFSETS, 0, [Written(1, commits(1), 7, 0), Written(1, (), 7, 0, "COMMIT")])
    copy = (tmp_path / OFFSETS / f"{0:020}.log").rename(tmp_path / OFFSETS / "copy.log")
    store = Listed()
    rows = [row for batch in read_table("records", str(copy), store=store) for row in batch.to_pylist()]
    assert [row["txn_outcome"] for row in rows] == ["committed", "committed"]
    assert store.folders == [str(copy)]


def commits(count: int) -> tuple[tuple[Message, Message | None, int], ...]:
    return tuple((OffsetCommitKey("g", "t", partition), OffsetCommitValue(1), 3) for partition in range(count))


def write_metadata_batches(folder: Path, batches: list[list[Message]], codec: Codec = Codec.NONE) -> None:
    offset, content = 0, []
    for batch in batches:
        records = [Record(timestamp=1, value=encode_metadata_record(each, VERSIONS[each.NAME])) for each in batch]
        content.append(encode_batch(records, codec=codec, base_offset=offset))
        offset += len(records)
    write_batches(folder, 0, content)


def outcomes(path: Path, options: ReadOptions | None = None) -> list[str | None]:
    rows = [row for batch in read_table("records", str(path), options or ReadOptions()) for row in batch.to_pylist()]
    assert {row["_error"] for row in rows} <= {None}
    return [row["txn_outcome"] for row in rows]
