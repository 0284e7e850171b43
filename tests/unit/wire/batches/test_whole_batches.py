"""Batches that follow each other in bytes, by both engines: the run ends before whatever is no whole batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kafkawire import wire
from kafkawire.wire.batches import Record, encode_batch, read_batches
from kafkawire.wire.batches.whole_batches import whole_batches
from kafkawire.wire.engine import use_engine

LOGS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs"
SEGMENTS = {path.parent.name: path.read_bytes() for path in sorted(LOGS.glob("*/00000000000000000000.log"))}
LARGEST = 1 << 30
THREE = b"".join(encode_batch([Record(value=bytes(size))], base_offset=size) for size in (10, 20, 30))
SIZES = [batch.size for batch in read_batches(THREE)]


@pytest.fixture(autouse=True, params=["python", "native", "both"])
def _engine(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param != "python":
        pytest.importorskip("kafkawire._native", reason="the native engine is not built here")
    before = wire.ENGINE
    use_engine(request.param)
    yield
    use_engine(before)


@pytest.mark.parametrize("name", SEGMENTS)
def test_batches_of_a_segment_are_those_that_are_read_one_by_one(name: str) -> None:
    data = SEGMENTS[name]
    assert whole_batches(data, 0, most=10_000, largest=LARGEST, position=0) == list(read_batches(data))


def test_a_run_has_the_most_batches_and_goes_on_after_them() -> None:
    first = whole_batches(THREE, 0, most=2, largest=LARGEST, position=100)
    assert [batch.position for batch in first] == [100, 100 + SIZES[0]]
    (last,) = whole_batches(THREE, SIZES[0] + SIZES[1], most=2, largest=LARGEST, position=100)
    assert (last.position, last.base_offset) == (100 + SIZES[0] + SIZES[1], 30)


def test_a_run_ends_before_a_batch_that_is_too_large() -> None:
    assert len(whole_batches(THREE, 0, most=9, largest=SIZES[1], position=0)) == 2
    assert len(whole_batches(THREE, 0, most=9, largest=SIZES[1] - 1, position=0)) == 1


@pytest.mark.parametrize("octets", [b"\1", b"\0", b"\3", b"\xff"])
def test_a_run_ends_before_another_magic(octets: bytes) -> None:
    at = SIZES[0] + 16
    assert len(whole_batches(THREE[:at] + octets + THREE[at + 1 :], 0, most=9, largest=LARGEST, position=0)) == 1


@pytest.mark.parametrize("length", [-1, 0, 48, 1 << 30, -(1 << 31), (1 << 31) - 1])
def test_a_run_ends_before_an_impossible_length(length: int) -> None:
    at = SIZES[0] + 8
    data = THREE[:at] + length.to_bytes(4, "big", signed=True) + THREE[at + 4 :]
    assert len(whole_batches(data, 0, most=9, largest=LARGEST, position=0)) == 1


@pytest.mark.parametrize("start", [-1, len(THREE) + 1, 1 << 40])
def test_there_are_no_batches_outside_of_the_data(start: int) -> None:
    assert whole_batches(THREE, start, most=9, largest=LARGEST, position=0) == []


@given(end=st.integers(0, len(THREE)))
def test_a_batch_that_is_cut_off_is_left_out(end: int) -> None:
    ends = [sum(SIZES[: number + 1]) for number in range(3)]
    found = whole_batches(THREE[:end], 0, most=9, largest=LARGEST, position=0)
    assert len(found) == sum(each <= end for each in ends)
