"""The native engine makes rows only of classes and values that it knows."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

if TYPE_CHECKING:
    from kafkawire._native import Rows

native = pytest.importorskip("kafkawire._native", reason="the native engine is not built here")

NUMBERS = {1: 10, 2: 20}


class Row(msgspec.Struct, frozen=True, gc=False, order=True):
    kind: int
    name: str
    note: str


class Outer(msgspec.Struct, gc=False):
    name: object
    parts: object


class Inner(msgspec.Struct, gc=False):
    code: object
    note: object


SOURCES = (("kind", True, "code", NUMBERS), ("name", False, "name", None), ("note", True, "note", None))


@pytest.fixture
def rows() -> Rows:
    made: Rows = native.Rows(Row, Outer, "parts", Inner, SOURCES)
    return made


def test_rows_are_sorted_and_share_texts(rows: Rows) -> None:
    notes = [b"note".decode() for _ in range(2)]
    structs = (Outer("b", (Inner(2, notes[0]), Inner(1, "z"))), Outer("a", ()), Outer("a", (Inner(2, notes[1]),)))
    made = cast("list[Row]", rows.of(structs))
    assert made == [Row(10, "b", "z"), Row(20, "a", "note"), Row(20, "b", "note")]
    assert made[1].note is made[2].note
    assert rows.of(()) == []


@pytest.mark.parametrize(
    "struct",
    [
        Inner(1, "a"),
        Outer("a", [Inner(1, "a")]),
        Outer("a", (Outer("a", ()),)),
        Outer("a", (Inner(3, "a"),)),
        Outer("a", (Inner(True, "a"),)),
        Outer("a", (Inner(1, b"a"),)),
        Outer(None, (Inner(1, "a"),)),
        Outer("\ud800", (Inner(1, "a"),)),
    ],
)
def test_values_that_the_engine_does_not_read_are_refused(rows: Rows, struct: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 the engine says nothing
        rows.of((Outer("a", (Inner(1, "a"),)), struct))


@pytest.mark.parametrize("members", [{1: -1}, {1: 256}, {1: 2**70}])
def test_numbers_that_do_not_order_rows_are_refused(members: dict[int, int]) -> None:
    rows = native.Rows(Row, Outer, "parts", Inner, (("kind", True, "code", members), *SOURCES[1:]))
    with pytest.raises((ValueError, OverflowError)):
        rows.of((Outer("a", (Inner(1, "a"),)),))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (Row, Outer, "parts", Inner),
        (Row, Outer, "other", Inner, SOURCES),
        (int, Outer, "parts", Inner, SOURCES),
        (Row, Outer, "parts", Row, SOURCES),
        (Row, Outer, "parts", Inner, SOURCES[:2]),
        (Row, Outer, "parts", Inner, (*SOURCES, SOURCES[0])),
        (Row, Outer, "parts", Inner, (*SOURCES[:2], SOURCES[1])),
        (Row, Outer, "parts", Inner, SOURCES[::-1]),
        (Row, Outer, "parts", Inner, (("kind", True, "code", []), *SOURCES[1:])),
        (Row, Outer, "parts", Inner, (("kind", False, "code", NUMBERS), *SOURCES[1:])),
        (Row, Outer, "parts", Inner, (1, *SOURCES[1:])),
    ],
)
def test_other_forms_of_rows_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        native.Rows(*arguments)


def test_arguments_of_other_types_are_refused(rows: Rows) -> None:
    for wrong in (list[object](), None, 1):
        with pytest.raises(TypeError):
            rows.of(wrong)  # type: ignore[arg-type]


def test_rows_are_collected_with_their_classes() -> None:
    members: dict[int, object] = {1: 1}
    rows = native.Rows(Row, Outer, "parts", Inner, (("kind", True, "code", members), *SOURCES[1:]))
    found = gc.get_referents(rows)
    assert all(any(each is wanted for each in found) for wanted in (Row, Outer, Inner, members))
