"""Cells of records that repeat are one object, and no cell changes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kafkawire.logs.folding.metadata_decoder import _shared


@given(st.lists(st.none() | st.sampled_from(["", "retention.ms", "topic-1", "Käse"])), st.integers(0, 3))
def test_the_cells_stay_the_same(cells: list[str | None], first: int) -> None:
    assert [*_shared(pa.array(cells, pa.string()).slice(first))] == cells[first:]


@pytest.mark.parametrize(("distinct", "objects"), [(128, 128), (129, 256)])
def test_strings_are_shared_if_half_of_the_first_ones_repeat(distinct: int, objects: int) -> None:
    cells = [*_shared(pa.array([f"topic-{each % distinct}" for each in range(256)]))]
    assert len({*map(id, cells)}) == objects


@given(st.lists(st.none() | st.lists(st.none() | st.integers(0, 9), max_size=2)), st.integers(0, 3))
def test_lists_stay_the_same(cells: list[list[int | None] | None], first: int) -> None:
    assert [*_shared(pa.array(cells, pa.list_(pa.int32())).slice(first))] == cells[first:]


def test_lists_that_are_all_empty_are_one_object() -> None:
    cells = pa.array([[1], *([[]] * 5)], pa.list_(pa.int32()))
    assert len({*map(id, _shared(cells.slice(1)))}) == 1
    assert len({*map(id, [*_shared(cells)])}) == 6
