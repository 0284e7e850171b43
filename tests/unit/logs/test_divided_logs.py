"""Several processes read one log of offset commits: the rows of one process, in an order that the log decides."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from multiprocessing.util import get_temp_dir
from pathlib import Path

import pyarrow as pa
import pytest
from tests.made.segments import OFFSETS, real_segment, repeated, write_segment

from kafkawire.logs import (
    LOCAL,
    Accounts,
    LogReadError,
    ReadMode,
    ReadOptions,
    find_log_files,
    plan,
    read_table,
    table_named,
)
from kafkawire.logs.parallel_reading import LOG_PART_BYTES, read_in_processes
from kafkawire.logs.planning import parts_of_log
from kafkawire.logs.typed_batches import RecordBatch
from kafkawire.wire.batches import read_batches

TABLE = "offset_commits"
CONTENT = real_segment(OFFSETS)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, without that of multiprocessing, which outlives a test."""
    get_temp_dir()
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def in_small_parts(
    folder: Path,
    processes: int,
    options: ReadOptions | None = None,
    accounts: Accounts | None = None,
    table: str = TABLE,
) -> Generator[RecordBatch]:
    given = options or ReadOptions()
    bound = table_named(table, given)
    parts = plan(bound, find_log_files([folder]), options=given)
    counted = Accounts() if accounts is None else accounts
    rows = read_in_processes(
        bound, parts, given, counted, store=LOCAL, processes=processes, log_part_bytes=len(CONTENT) // 3
    )
    assert isinstance(rows, Generator)
    return rows


def counted_rows(batches: Iterable[RecordBatch]) -> Counter[str]:
    return Counter(repr(row) for batch in batches for row in batch.to_pylist())


def sorted_rows(batches: Sequence[RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches).sort_by([("file", "ascending"), ("log_offset", "ascending")])


@pytest.mark.extended
@pytest.mark.usefixtures("one_engine")
def test_a_large_log_has_the_same_rows_in_one_order_with_any_number_of_processes(temporary: Path) -> None:
    folder = temporary.parent / OFFSETS
    half = repeated(CONTENT, LOG_PART_BYTES * 2 // 3 // len(CONTENT))
    write_segment(folder, half)
    (*_, last) = read_batches(half)
    later = repeated(half + half, 1)[len(half) :]
    write_segment(folder, later, base_offset=last.last_offset + 1)
    counted = [Accounts() for _ in range(3)]
    one, two, three = (
        list(read_table(TABLE, folder, accounts=accounts, processes=number))
        for number, accounts in enumerate(counted, 1)
    )
    assert sum(each.num_rows for each in one) > 100_000
    assert two == three
    assert sorted_rows(two).equals(sorted_rows(one))
    assert counted[1] == counted[2] == counted[0]
    assert list(temporary.iterdir()) == []


def test_other_histories_of_a_large_log_have_the_same_rows_with_several_processes(tmp_path: Path) -> None:
    write_segment(tmp_path / OFFSETS, repeated(CONTENT, 6))
    options, accounts, expected = ReadOptions(), Accounts(), Accounts()
    rows = in_small_parts(tmp_path, 2, options, accounts, table="group_history")
    found = counted_rows(rows)
    assert found == counted_rows(read_table("group_history", tmp_path, options, accounts=expected))
    assert found.total() > 50
    assert accounts == expected


def test_divided_and_whole_logs_come_in_the_order_of_the_logs(tmp_path: Path) -> None:
    for number, times in enumerate((1, 3, 1, 2)):
        content = repeated(CONTENT, times) if times > 1 else CONTENT[: len(CONTENT) // 4]
        write_segment(tmp_path / f"__consumer_offsets-{number}", content)
    accounts, counted = Accounts(), Accounts()
    one = list(read_table(TABLE, tmp_path, accounts=accounts))
    two = list(in_small_parts(tmp_path, 2, accounts=counted))
    files = [str(file) for batch in two for file in batch.column("file").unique().to_pylist()]
    assert sorted(set(files)) == list(dict.fromkeys(files))
    assert sorted_rows(two).equals(sorted_rows(one))
    assert counted == accounts


def test_a_log_with_a_high_watermark_is_read_in_order(tmp_path: Path) -> None:
    write_segment(tmp_path / OFFSETS, repeated(CONTENT, 2))
    options = ReadOptions(high_watermark=100)
    assert list(in_small_parts(tmp_path, 2, options)) == list(read_table(TABLE, tmp_path, options))


def test_the_last_parts_of_a_log_are_smaller_so_that_processes_end_together(tmp_path: Path) -> None:
    write_segment(tmp_path / OFFSETS, repeated(CONTENT, 40))
    (log,) = plan(table_named(TABLE), find_log_files([tmp_path]))
    parts = parts_of_log(log, ReadOptions(), LOCAL, max_partition_bytes=8 * len(CONTENT), tapers=True)
    assert [round(part.bytes / len(CONTENT)) for part in parts] == [8, 8, 8, 8, 4, 2, 2]
    ranges = [each for part in parts for each in part.files]
    assert len(ranges) == len(parts)
    assert [each.start for each in ranges] == [0, *(each.end for each in ranges[:-1])]
    assert ranges[-1].end == log.bytes


def test_small_segments_make_parts_that_get_smaller_too(tmp_path: Path) -> None:
    for number in range(20):
        write_segment(tmp_path / OFFSETS, CONTENT, base_offset=number)
    (log,) = plan(table_named(TABLE), find_log_files([tmp_path]))
    parts = parts_of_log(log, ReadOptions(), LOCAL, max_partition_bytes=4 * len(CONTENT), tapers=True)
    assert [len(part.files) for part in parts] == [4, 4, 4, 4, 2, 1, 1]


@pytest.mark.parametrize("columns", [("file",), ("log_offset", "file"), ("log_offset",)])
def test_temporary_rows_of_one_file_leave_out_its_path(columns: tuple[str, ...], temporary: Path) -> None:
    segment = write_segment(temporary.parent / OFFSETS, repeated(CONTENT, 3))
    options = ReadOptions(columns=columns)
    rows = in_small_parts(temporary.parent, 2, options)
    read = [next(rows)]
    written = [path.read_bytes() for path in temporary.glob("kafkawire-*/*.arrow")]
    assert written
    assert any(segment.name.encode() in octets for octets in written) == (columns == ("file",))
    read.extend(rows)
    (schema,) = {batch.schema for batch in read}
    assert schema.names == list(columns)
    expected = read_table(TABLE, temporary.parent / OFFSETS, options)
    assert counted_rows(read) == counted_rows(expected)


def test_damage_stops_a_divided_log_at_its_part_and_leaves_no_files(temporary: Path) -> None:
    content = repeated(CONTENT, 3)
    write_segment(temporary.parent / OFFSETS, content + b"tail" * 40)
    rows = in_small_parts(temporary.parent, 2, ReadOptions(mode=ReadMode.FAILFAST))
    read = [next(rows)]
    with pytest.raises(LogReadError) as caught:
        read.extend(rows)
    assert caught.value.position == len(content)
    assert list(temporary.iterdir()) == []


def test_a_divided_log_that_is_not_read_to_the_end_leaves_no_files(temporary: Path) -> None:
    write_segment(temporary.parent / OFFSETS, repeated(CONTENT, 3))
    rows = in_small_parts(temporary.parent, 2)
    next(rows)
    assert list(temporary.glob("kafkawire-*/*.left"))
    rows.close()
    assert list(temporary.iterdir()) == []
