"""For any transactions and any cut of a log, ``records`` and the histories have the same outcome of each record."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.histories import Row, history
from tests.made.logs import METADATA_LOG, OFFSETS_LOG, Step, Written, write_offsets_segment, write_segment

from kafkawire.logs import LOCAL, Accounts, FileRange, Part, find_log_files, read_part, table_named
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.protocol import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafkawire.wire import Message
from kafkawire.wire.batches import read_batches

Outcomes: TypeAlias = dict[int, str | None]
"""By offset."""

MARKS: dict[str, Message] = {
    "begin": BeginTransactionRecord(), "end": EndTransactionRecord(), "abort": AbortTransactionRecord(),
}  # fmt: skip


@given(
    kinds=st.lists(st.lists(st.sampled_from(["set", "set", *MARKS]), min_size=1, max_size=3), min_size=1, max_size=10),
    segments=st.sets(st.integers(1, 9), max_size=2),
    gap=st.sampled_from([0, 0, 3]),
)
@settings(max_examples=scaled(20))
def test_metadata_records_count_unless_their_transaction_was_not_committed(
    kinds: list[list[str]], segments: set[int], gap: int
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / METADATA_LOG
        offset = 0
        for begin, end in pairwise((0, *sorted(segments), len(kinds))):
            steps = []
            first = offset
            for batch in kinds[begin:end]:
                steps.append(Step(1, tuple(_metadata_record(kind, offset + at) for at, kind in enumerate(batch))))
                offset += len(batch)
            if steps:
                write_segment(folder, first, steps)
                offset += gap
        counted = {int(row["value"]) for row in history("config_history", folder)}

        outcomes = _outcomes(folder)
        records = {at for at, kind in _placed(folder) if kind == "CONFIG_RECORD"}
        assert {at for at in records if outcomes[at] in {None, "committed"}} == counted


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["commit", "commit", "COMMIT", "ABORT"]), st.integers(7, 9), st.integers(1, 2)),
        min_size=1,
        max_size=14,
    ),
    cut=st.integers(0, 14),
)
@settings(max_examples=scaled(20))
def test_commits_have_the_outcome_of_their_history(steps: list[tuple[str, int, int]], cut: int) -> None:
    batches = [_written(*step) for step in steps]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / OFFSETS_LOG
        middle = write_offsets_segment(folder, 0, batches[:cut])
        if batches[cut:]:
            write_offsets_segment(folder, middle, batches[cut:])

        outcomes = _outcomes(folder)
        for row in history("offset_commits", folder):
            assert outcomes.pop(row["log_offset"]) == row["txn_outcome"]
        assert sorted(filter(None, outcomes.values())) == sorted(
            {"COMMIT": "committed", "ABORT": "aborted"}[kind] for kind, _, _ in steps if kind.isupper()
        )


def _metadata_record(kind: str, offset: int) -> Message:
    """A configuration of a topic of its own, so that each that counts is a row of the history."""
    return MARKS.get(kind) or ConfigRecord(2, f"t{offset}", "retention.ms", str(offset))


def _written(kind: str, producer_id: int, count: int) -> Written:
    if kind.isupper():
        return Written(1, (), producer_id, 1, kind)
    records = tuple((OffsetCommitKey("g", "t", at), OffsetCommitValue(1), 3) for at in range(count))
    return Written(1, records, -1 if producer_id == 9 else producer_id, 0)


def _placed(folder: Path) -> Sequence[tuple[int, str]]:
    return [(row["log_offset"], row["record_type"]) for row in _read(_whole(folder))]


def _outcomes(folder: Path) -> Outcomes:
    """What the table says, which is the same for files as a whole, and for batches in order, in disorder, and alone."""
    batches = _batchwise(folder)
    outcomes = _said(_read(_whole(folder)))
    assert outcomes == _said(_read(batches)) == _said(_read(batches[::-1])) == _said(_read(batches, anew=True))
    return outcomes


def _said(rows: Sequence[Row]) -> Outcomes:
    return {row["log_offset"]: row["txn_outcome"] for row in rows}


def _whole(folder: Path) -> list[Part]:
    return [Part((FileRange(file, 0, file.size),)) for file in find_log_files([str(folder)])]


def _batchwise(folder: Path) -> list[Part]:
    parts = []
    for file in find_log_files([str(folder)]):
        starts = [batch.position for batch in read_batches(Path(file.path).read_bytes())]
        parts += [Part((FileRange(file, *pair),)) for pair in pairwise((*starts, file.size))]
    return parts


def _read(parts: Sequence[Part], *, anew: bool = False) -> list[Row]:
    """The rows of parts: by one table, or by one for each part as tasks of Spark have it."""
    table = table_named("records")
    rows: list[Row] = []
    for part in parts:
        own = table_named("records") if anew else table
        for batch in read_part(own, part, DEFAULT_OPTIONS, Accounts(), store=LOCAL):
            rows += batch.to_pylist()
    return rows
