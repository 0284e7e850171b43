"""A history of any log, read in any parts and joined, has the rows and the accounts of the log read in order."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tests.laws.logs.test_offset_fold_laws import BATCHES, encoded
from tests.made.logs import OFFSETS_LOG, write_batches

from kafkawire.logs import (
    LOCAL,
    Accounts,
    BeforeKnowledgeError,
    FileRange,
    LogReadError,
    Part,
    ReadMode,
    ReadOptions,
    find_log_files,
    plan,
    read_part,
    table_named,
)
from kafkawire.logs.histories.offsets import HISTORY
from kafkawire.logs.parallel_reading import Asked, DividedLog, rows_of
from kafkawire.logs.processes import Workers

_START = 1_000
_NOISE = b"noise" * 9
Outcome: TypeAlias = tuple[Counter[str], Accounts] | str


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(2) as running:
        yield running


@st.composite
def _segments(draw: st.DrawFn) -> list[list[bytes]]:
    """Batches of segments. Offsets may have gaps and go back, times may lack, and bytes may be damaged."""
    segments, offset = list[list[bytes]](), draw(st.sampled_from([0, 0, 5]))
    for number, batches in enumerate(draw(st.lists(st.lists(BATCHES, min_size=1, max_size=8), min_size=1, max_size=3))):
        segment = []
        for place, batch in enumerate(batches):
            steps = [0] * 12 + [2, -3, -20] if place else [0, 0, 0, 4, -3]
            offset = max(0, offset + draw(st.sampled_from(steps)))
            at = draw(st.sampled_from([_START + 10 * number + place] * 4 + [-1]))
            content = encoded(batch, offset, at)
            segment.append(draw(st.sampled_from([content] * 12 + [content[:-1] + b"?", content + _NOISE])))
            offset += 1 if batch.committed is not None else len(batch.records)
        segments.append(segment)
    return segments


def _at(second: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=_START + second)


_OPTIONS = st.builds(
    ReadOptions,
    mode=st.sampled_from([*ReadMode, ReadMode.PERMISSIVE]),
    as_of=st.none() | st.integers(-1, 30).map(_at),
    from_offset=st.none() | st.integers(0, 8),
    until_offset=st.none() | st.integers(8, 30),
    from_time=st.none() | st.integers(-1, 8).map(_at),
    until_time=st.none() | st.integers(8, 30).map(_at),
    verify_checksums=st.booleans(),
)


@pytest.mark.extended
@given(_segments(), st.just(ReadOptions()) | _OPTIONS, st.data())
def test_parts_and_their_join_have_the_rows_of_the_log(
    workers: Workers, segments: list[list[bytes]], options: ReadOptions, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / OFFSETS_LOG
        for number, batches in enumerate(segments):
            write_batches(folder, number, batches)
        files = find_log_files([str(folder)])
        ranges = []
        for file, batches in zip(files, segments, strict=True):
            cuts = sorted({0, *data.draw(st.sets(st.sampled_from(_starts(batches))), label="cuts")})
            ranges += [FileRange(file, *pair) for pair in pairwise([*cuts, file.size])]
        parts = data.draw(_gathered(ranges), label="parts")
        table = table_named(HISTORY.name, options)
        (log,) = plan(table, files, options=options)
        divided = DividedLog(Asked(table.name, table.schema, options, LOCAL), log, parts)
        in_order, in_parts = Accounts(), Accounts()
        expected = _outcome(read_part(table, log, options, in_order), in_order, options)
        found = _outcome(rows_of([divided], workers, in_parts), in_parts, options)
    assert found == expected


def _starts(batches: Sequence[bytes]) -> list[int]:
    """Where batches begin that can be found without an index: none after noise."""
    found = list(takewhile(lambda batch: not batch.endswith(_NOISE), batches))
    return [sum(map(len, batches[:count])) for count in range(min(len(found) + 1, len(batches)))]


@st.composite
def _gathered(draw: st.DrawFn, ranges: Sequence[FileRange]) -> list[Part]:
    begins = sorted({0, len(ranges), *draw(st.sets(st.integers(0, len(ranges))))})
    return [Part(tuple(ranges[begin:end])) for begin, end in pairwise(begins)]


def _outcome(batches: Iterator[pa.RecordBatch], accounts: Accounts, options: ReadOptions) -> Outcome:
    """The rows in any order, or the error. Which one comes first depends on the batches that are decoded together."""
    try:
        rows = Counter(repr(row) for batch in batches for row in batch.to_pylist())
    except (LogReadError, BeforeKnowledgeError) as error:
        return "" if options.mode is ReadMode.FAILFAST else str(error)
    assert accounts.balanced
    return rows, accounts
