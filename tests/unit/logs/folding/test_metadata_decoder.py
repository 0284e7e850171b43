"""Strings of records that repeat are one object, and no cell changes."""

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
