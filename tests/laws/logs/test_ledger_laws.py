"""A ledger of rows has the same intervals as one of objects, and many changes at once are those one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.folding import kept_rows, row_ledger
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Values
from kafkawire.logs.folding.journaled_ledger import JournaledLedger
from kafkawire.logs.folding.ledger import Ledger, LedgerRules
from kafkawire.logs.folding.row_ledger import RowLedger
from kafkawire.logs.folding.selection import Selection

_Change = tuple[str, int | None]
"""A key, and its values from now on."""

_CHANGES = st.lists(st.tuples(st.sampled_from("abcde"), st.none() | st.integers(0, 3)), max_size=14)
_KINDS = ("at once", "one by one", "snapshot", "take", "continue")
_STEPS = st.lists(st.tuples(st.sampled_from(_KINDS), _CHANGES, st.booleans()), max_size=8)
_LIMITS = st.none() | st.integers(0, 60)
_SELECTIONS = st.builds(Selection, _LIMITS, _LIMITS, _LIMITS, _LIMITS, _LIMITS)
_EVERYTHING = Selection(None, None, None, None, None)


@pytest.fixture(scope="module", autouse=True)
def small_pieces() -> Iterator[None]:
    """Few rows fill a piece, so that examples have several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_ledger, "_FEWEST_AT_ONCE", 2)
        patch.setattr(row_ledger, "_AT_ONCE", 3)
        patch.setattr(row_ledger, "LARGEST_ROW_BATCH", 4)
        patch.setattr(kept_rows, "LARGEST_ROW_BATCH", 4)
        patch.setattr(kept_rows, "RECORDS_AT_A_TIME", 5)
        yield


def _encoded(key: str, value: int) -> bytes:
    return f"{key}{value}".encode()


def _is_same(held: Values | None, values: Values) -> bool:
    """Values of 2 and 3 are equal, though their bytes differ."""
    return isinstance(held, bytes) and held.replace(b"3", b"2") == cast("bytes", values).replace(b"3", b"2")


def _decode(values: pa.BinaryArray) -> pa.RecordBatch:
    columns: list[ArrowArray] = [pc.binary_slice(values, 0, 1).cast(pa.string()), values]
    return pa.RecordBatch.from_arrays(columns, names=["id", "encoded"])


def _rows() -> Ledger[str]:
    return RowLedger(_is_same, _decode, "id")


def _objects() -> Ledger[str]:
    return Ledger(LedgerRules(same=_is_same))


def _journaled() -> Ledger[str]:
    return JournaledLedger(_rows().rules)


def _one_by_one(ledger: Ledger[str], changes: Sequence[_Change], first: int) -> None:
    for offset, (key, value) in enumerate(changes, first):
        if value is None:
            ledger.drop(key, (1000 + offset, offset))
        else:
            ledger.put(key, _encoded(key, value), (1000 + offset, offset))


def _at_once(ledger: Ledger[str], changes: Sequence[_Change], first: int) -> None:
    offsets = range(first, first + len(changes))
    ledger.change(
        pa.array([key for key, _ in changes], pa.string()),
        pa.array([None if value is None else _encoded(key, value) for key, value in changes], pa.binary()),
        pa.array([1000 + offset for offset in offsets], pa.int64()),
        pa.array(offsets, pa.int64()),
    )


@pytest.mark.parametrize("make", [_objects, _rows, _journaled])
@given(changes=_CHANGES, cut=st.integers(0, 14), complete=st.booleans())
def test_changes_at_once_are_changes_one_after_the_other(
    make: Callable[[], Ledger[str]], changes: Sequence[_Change], cut: int, complete: bool
) -> None:
    at_once, one_by_one = make(), make()
    at_once.complete = one_by_one.complete = complete
    _one_by_one(one_by_one, changes, 0)
    _at_once(at_once, changes[:cut], 0)
    _at_once(at_once, changes[cut:], len(changes[:cut]))
    assert [*at_once.take_ended()] == [*one_by_one.take_ended()]
    assert [*at_once.still_open()] == [*one_by_one.still_open()]
    assert len(at_once) == len(one_by_one)
    if isinstance(at_once, JournaledLedger) and isinstance(one_by_one, JournaledLedger):
        assert at_once.journal == one_by_one.journal


@settings(max_examples=scaled(300))
@given(steps=_STEPS)
def test_rows_have_the_intervals_of_objects(steps: Sequence[tuple[str, Sequence[_Change], bool]]) -> None:
    rows, objects = _rows(), _objects()
    offset = 0
    for kind, changes, complete in steps:
        match kind:
            case "at once":
                _at_once(rows, changes, offset)
                _one_by_one(objects, changes, offset)
            case "one by one":
                _one_by_one(rows, changes, offset)
                _one_by_one(objects, changes, offset)
            case "snapshot":
                for ledger, found in ((rows, _rows()), (objects, _objects())):
                    found.complete = True
                    for key, value in changes:
                        if value is not None:
                            found.put(key, _encoded(key, value), (None, None))
                    at = (1000 + offset, offset)
                    ledger.compare(found, at, at if complete else (None, None))
            case "take":
                assert [*rows.take_ended()] == [*objects.take_ended()]
            case _:
                rows, objects = _continued(rows, _rows()), _continued(objects, _objects())
        rows.complete = objects.complete = complete
        offset += len(changes) + 1
        for key in "abcde":
            assert rows.values(key) == objects.values(key)
    assert [*rows.still_open()] == [*objects.still_open()]
    assert [*rows.take_ended()] == [*objects.take_ended()]
    assert len(rows) == len(objects)


def _continued(ledger: Ledger[str], empty: Ledger[str]) -> Ledger[str]:
    """The state as a continued reading has it."""
    empty.restore(ledger.save())
    return empty


@settings(max_examples=scaled(200))
@given(steps=st.lists(_CHANGES, max_size=5), selection=st.just(_EVERYTHING) | _SELECTIONS)
def test_rows_that_wait_are_those_of_objects(steps: Sequence[Sequence[_Change]], selection: Selection) -> None:
    rows, objects = _rows(), _objects()
    _one_by_one(rows, [("a", 0)], 0)
    _one_by_one(objects, [("a", 0)], 0)
    ledgers = _continued(rows, _rows()), _continued(objects, _objects())
    shown = []
    for ledger in ledgers:
        waiting, offset, found = ledger.waiting(selection), 1, list[object]()
        for changes in steps:
            _at_once(ledger, changes, offset)
            offset += len(changes)
            waiting.add_ended()
            found += [cells for each in waiting.full() for cells in _cells(each)]
        found += [cells for each in waiting.rest() for cells in _cells(each)]
        shown.append(found)
    assert shown[0] == shown[1]


def _cells(intervals: IntervalColumns[str]) -> Iterator[object]:
    values = cast("Sequence[object] | pa.RecordBatch", intervals.values)
    encoded = values.column("encoded").to_pylist() if isinstance(values, pa.RecordBatch) else values
    times = (_listed(intervals.valid_from), _listed(intervals.valid_to))
    yield from zip(intervals.beginnings(), encoded, *times, strict=True)


def _listed(cells: object) -> Sequence[object]:
    return cast("Sequence[object]", cells.to_pylist() if isinstance(cells, pa.Array) else cells)
