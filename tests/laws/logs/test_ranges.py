"""Rows of any split of a segment are the rows of the whole, and the accounts of its ranges add up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.made.segments import METADATA, OFFSETS, batches_of, real_segment, repeated, write_segment

from kafkawire.logs import (
    LOCAL,
    Accounts,
    FileRange,
    LogFile,
    Part,
    ReadOptions,
    find_log_files,
    plan,
    read_part,
    table_named,
)
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.wire.batches import read_batches

TABLES = ((OFFSETS, "records"), (OFFSETS, "batches"), (OFFSETS, "offset_commit"), (METADATA, "partition"))
CONTENTS = {log: real_segment(log) for log in (OFFSETS, METADATA)}


@pytest.fixture(scope="module")
def segments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LogFile]:
    root = tmp_path_factory.mktemp("logs")
    return {log: find_log_files([str(write_segment(root / log, content))])[0] for log, content in CONTENTS.items()}


@settings(max_examples=scaled(12), deadline=None)
@given(data=st.data())
def test_any_split_at_batches_has_the_rows_of_the_whole(segments: dict[str, LogFile], data: st.DataObject) -> None:
    log, table = data.draw(st.sampled_from(TABLES))
    starts = [batch.position for batch in read_batches(CONTENTS[log])]
    cuts = data.draw(st.sets(st.sampled_from(starts[1:]), max_size=6))
    file = segments[log]
    ranges = [FileRange(file, *pair) for pair in pairwise((0, *sorted(cuts), file.size))]

    assert read(table, [Part((each,)) for each in ranges]) == read(table, [Part((FileRange(file, 0, file.size),))])


@settings(max_examples=scaled(12), deadline=None)
@given(
    target=st.integers(500, 60_000),
    index_every=st.one_of(st.none(), st.integers(100, 20_000)),
    damage=st.sampled_from(("none", "stale", "cut", "zeros", "noise")),
)
def test_planned_parts_have_the_rows_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, target: int, index_every: int | None, damage: str
) -> None:
    folder = tmp_path_factory.mktemp("planned") / OFFSETS
    segment = write_segment(folder, repeated(CONTENTS[OFFSETS], 2), index_every=index_every)
    spoil(segment.with_suffix(".index"), damage)
    files = find_log_files([str(folder)])

    parts = plan(table_named("records"), files, max_partition_bytes=target)

    whole = [Part((FileRange(files[0], 0, files[0].size),))]
    assert read("records", list(parts)) == read("records", whole)
    assert [each.start for part in parts for each in part.files] == sorted(
        {each.start for part in parts for each in part.files}
    )


@settings(max_examples=scaled(12), deadline=None)
@given(limits=st.tuples(st.integers(0, 600), st.integers(0, 600)), index_every=st.integers(100, 5_000))
def test_limits_of_offset_are_a_filter_however_the_index_helps(
    tmp_path_factory: pytest.TempPathFactory, limits: tuple[int, int], index_every: int
) -> None:
    folder = tmp_path_factory.mktemp("limited") / OFFSETS
    write_segment(folder, repeated(CONTENTS[OFFSETS], 2), index_every=index_every)
    files = find_log_files([str(folder)])
    begin, end = sorted(limits)
    options = ReadOptions(from_offset=begin, until_offset=end)
    table = table_named("records", options)

    parts = plan(table, files, max_partition_bytes=10_000, options=options)

    every = read("records", [Part((FileRange(files[0], 0, files[0].size),))])[0]
    assert read("records", list(parts), options)[0] == [row for row in every if begin <= row["log_offset"] < end]


@pytest.mark.parametrize("index_every", [None, 1000])
@pytest.mark.parametrize(("pieces", "target"), [(1, 10_000), (2, 8_200), (3, 5_000), (7, 2_000)])
def test_pieces_of_a_file_are_of_like_size_so_that_cores_end_together(
    tmp_path: Path, pieces: int, target: int, index_every: int | None
) -> None:
    write_segment(tmp_path / OFFSETS, batches_of([[b"x" * 100]] * 80), index_every=index_every)
    files = find_log_files([str(tmp_path)])
    assert files[0].size == 13_680

    parts = plan(table_named("records"), files, max_partition_bytes=target)

    sizes = [each.end - each.start for part in parts for each in part.files]
    assert len(sizes) == pieces
    assert max(sizes) - min(sizes) <= 2 * (index_every or 171)


def read(
    name: str,
    parts: list[Part],
    options: ReadOptions = DEFAULT_OPTIONS,
) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    """The rows of parts, and their accounts."""
    table = table_named(name, options)
    accounts = Accounts()
    rows = []
    for part in parts:
        own = Accounts()
        for batch in read_part(table, part, options, own, store=LOCAL):
            assert batch.schema.equals(table.schema)
            rows += batch.to_pylist()
        assert own.balanced
        assert own.records_read == own.rows + sum(own.records_dropped.values())
        accounts.merge(own)
    return rows, (accounts.bytes_read, accounts.bytes_decoded, accounts.records_read, accounts.rows)


def spoil(index: Path, damage: str) -> None:
    """Make an index one that cannot be trusted."""
    if not index.exists():
        return
    entries = index.read_bytes()
    match damage:
        case "stale":
            index.write_bytes(bytes(each ^ 0x10 if at % 8 == 7 else each for at, each in enumerate(entries)))
        case "cut":
            index.write_bytes(entries[: len(entries) // 2 + 3])
        case "zeros":
            index.write_bytes(entries + bytes(1024 * 1024))
        case "noise":
            index.write_bytes(bytes((at * 37) % 251 for at in range(len(entries))))
        case _:
            pass
