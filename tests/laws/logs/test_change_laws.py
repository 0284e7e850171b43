"""What is new in a log that grows, kept by interval ids, are the rows of the whole log; wherever it was cut."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, strategies as st
from tests.kafka_logs.histories import Row
from tests.laws.logs.test_alert_laws import Made, histories, written
from tests.laws.logs.test_history_laws import NAMES, Story, stories, write
from tests.laws.logs.test_offset_fold_laws import BATCHES, Batch, encoded
from tests.made.logs import METADATA_LOG, OFFSETS_LOG, write_batches

from kafkawire.logs import (
    FileKind,
    LogFile,
    LogReadError,
    ReadMode,
    ReadOptions,
    find_log_files,
    read_changes,
    read_table,
)
from kafkawire.logs.files.store import LOCAL
from kafkawire.logs.frames.hops import hops

Reading: TypeAlias = tuple[int, bool]
"""How much of the log there is, in thousandths, and whether the rows are lost before they are committed."""

_PLACES = st.lists(st.integers(0, 24), max_size=3)
_READINGS = st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([False, False, True])), max_size=4)
_DAMAGE = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 400)), max_size=2)


@pytest.mark.parametrize("name", [*NAMES, "alerts"])
@given(stories(), _PLACES, _PLACES, _READINGS, _DAMAGE)
def test_changes_of_a_metadata_log_are_its_rows(  # noqa: PLR0917 pytest and hypothesis pass them
    name: str,
    story: Story,
    segments: list[int],
    snapshots: list[int],
    readings: list[Reading],
    damage: list[tuple[int, int]],
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / METADATA_LOG
        write(folder, story, segments, snapshots)
        _check(name, folder, readings, damage, ReadOptions(secrets=True))


@given(histories(), _PLACES, _READINGS)
def test_new_alerts_are_the_alerts_of_the_whole_log(
    history: list[Made], segments: list[int], readings: list[Reading]
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        _check("alerts", written(Path(scratch), history, segments), readings, [], ReadOptions())


@pytest.mark.parametrize("mode", [ReadMode.PERMISSIVE, ReadMode.DROPMALFORMED])
@given(st.lists(BATCHES, min_size=1, max_size=12), _PLACES, _READINGS, _DAMAGE)
def test_changes_of_offset_commits_are_their_rows(
    mode: ReadMode, batches: list[Batch], rolls: list[int], readings: list[Reading], damage: list[tuple[int, int]]
) -> None:
    begins = [0]
    for batch in batches:
        begins.append(begins[-1] + (1 if batch.committed is not None else len(batch.records)))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / OFFSETS_LOG
        for begin, end in pairwise(sorted({0, len(batches), *(each for each in rolls if each < len(batches))})):
            made = [encoded(batches[at], begins[at], 1000 + at) for at in range(begin, end)]
            write_batches(folder, begins[begin], made)
        _check("offset_commits", folder, readings, damage, ReadOptions(mode=mode))


def _check(
    name: str, whole: Path, readings: Sequence[Reading], damage: Sequence[tuple[int, int]], options: ReadOptions
) -> None:
    """Read changes of parts of a log, one after the other, and compare what is kept with the table of all of it."""
    files = find_log_files([whole])
    ends = {file.base_offset: _end_offset(file) for file in files if file.kind is FileKind.SEGMENT}
    for number, place in damage:
        _flip(Path(files[number % len(files)].path), place)
    folder, state = whole.with_name("growing") / whole.name, whole.with_name("state")
    kept: dict[object, Row] = {}
    commits = 0
    for share, is_lost in sorted([*readings, (1000, False)]):
        _copy_share(files, share, folder, max(ends.values()) if share == 1000 else None)
        changes = read_changes(name, folder, state, options)
        try:
            rows = [row for batch in changes for row in batch.to_pylist()]
        except LogReadError as error:  # a damaged offset, which no checksum covers, is beyond the end of the log
            if error.code != "data_loss" or not damage:
                raise
            state.unlink()
            kept.clear()
            changes = read_changes(name, folder, state, options)
            rows = [row for batch in changes for row in batch.to_pylist()]
        if not is_lost:
            changes.commit()
        ids = [row.pop("interval_id", _id_of_alert(row, commits, place)) for place, row in enumerate(rows)]
        assert len(set(ids)) == len(ids)
        commits += not is_lost
        kept.update(zip(ids, rows, strict=True))
    rows = [row for batch in read_table(name, folder, options) for row in batch.to_pylist()]
    found, expected = (
        Counter(repr(_without_times_of_losses(row)) for row in each if not _may_have_changed(row, files))
        for each in (kept.values(), rows)
    )
    assert found == expected


def _id_of_alert(row: Row, commits: int, place: int) -> tuple[object, object]:
    """Rows of alerts have no ids: after a lost reading the same ones come first. A loss may be met again."""
    is_loss = row.get("_error") is not None
    return (row["_error"], row.get("log_offset")) if is_loss else (commits, place)


def _may_have_changed(row: Row, files: Sequence[LogFile]) -> bool:
    """Whether a row says what later bytes change: the end of a log was incomplete, or no snapshot had what it lacks."""
    is_at_end = row.get("file", "").endswith(Path(files[-1].path).name)
    return row.get("_error") == "offset_gap" or (row.get("_error") == "truncated_batch" and is_at_end)


def _without_times_of_losses(row: Row) -> Row:
    """The time of a loss is that of the last known record or snapshot, which is another one at the end of a reading."""
    is_loss = "log" in row and row["_error"] is not None
    return {name: value for name, value in row.items() if not (is_loss and name.startswith(("valid", "time")))}


def _copy_share(files: Sequence[LogFile], share: int, folder: Path, end: int | None) -> None:
    """Copy the segments up to a place, which may be inside a batch, and the snapshots of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    segments = [file for file in files if file.kind is FileKind.SEGMENT]
    left = sum(file.size for file in segments) * share // 1000
    reached = 0
    for file in segments:
        (folder / Path(file.path).name).write_bytes(Path(file.path).read_bytes()[:left])
        reached = max(reached, _end_offset(find_log_files([folder])[-1]))
        left -= file.size
        if left <= 0:
            break
    for file in files:
        if file.kind is FileKind.SNAPSHOT and file.base_offset <= (reached if end is None else end):
            shutil.copy(file.path, folder)


def _end_offset(file: LogFile) -> int:
    """The offset after the last whole batch."""
    found = hops(file, 0, LOCAL, max_frame_bytes=1 << 20, closed=False)
    return max((hop.next_offset or 0 for hop in found), default=file.base_offset)


def _flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= 1
    file.write_bytes(content)
