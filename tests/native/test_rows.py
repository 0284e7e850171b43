"""Arrays of structs that the native engine reads as sorted rows, and the forms of rows that it refuses."""

from __future__ import annotations

import gc
import random
from typing import TypeAlias, cast

import msgspec
import pytest
from tests.native.test_program import REFUSALS, damaged

from kafkawire.wire.programs import FieldProgram, StructProgram
from kafkawire.wire.row_programs import Rows, RowsProgram, with_rows

native = pytest.importorskip("kafkawire._native", reason="the native engine is not built here")

Tags: TypeAlias = tuple[tuple[int, bytes], ...]


class Row(msgspec.Struct, frozen=True, gc=False, order=True):
    kind: int
    name: str
    note: str


class Inner(msgspec.Struct, gc=False):
    note: str = ""
    code: int = 0
    unknown_tagged_fields: Tags = ()


class Outer(msgspec.Struct, gc=False):
    name: str = ""
    parts: tuple[Inner, ...] = ()
    unknown_tagged_fields: Tags = ()


class Answer(msgspec.Struct, frozen=True, gc=False):
    rows: tuple[Row, ...] = ()
    unknown_tagged_fields: Tags = ()


def text(attribute: str, presence: int = 0) -> FieldProgram:
    return FieldProgram(attribute, presence, 0, "s", "h", False, False, True, False, 0, 0x7FFF, "absent", None)


def array(attribute: str, child: StructProgram) -> FieldProgram:
    return FieldProgram(attribute, 0, 0, "S", "i", True, False, True, False, 0, 0, (), child)


NUMBERS = {1: 10, 2: 20, -1: 255}
CODE = FieldProgram("code", 0, 0, "b", "i", False, False, False, False, 0, 0, 0, None)
INNER = StructProgram(Inner, True, (text("note"), CODE))
OUTER = StructProgram(Outer, True, (text("name"), array("parts", INNER)))
ANSWER = StructProgram(Answer, True, (array("rows", OUTER),))
ROWS = Rows(Row, {"code": "kind", "name": "name", "note": "note"}, {"code": NUMBERS})
PROGRAM = with_rows(ANSWER, {Outer: ROWS})
FORM = cast("RowsProgram", PROGRAM.fields[0].rows)


def sent(*structs: Outer) -> bytes:
    return cast("bytes", native.Codec(ANSWER).write(Answer(structs)))  # type: ignore[arg-type]


def read(octets: bytes) -> tuple[Row, ...]:
    answer, end = native.Codec(PROGRAM).read(octets, 0)
    assert end == len(octets)
    return cast("Answer", answer).rows


def test_rows_are_sorted_and_share_texts_of_elements() -> None:
    made = read(sent(Outer("b", (Inner("note", 2), Inner("z", 1))), Outer("a"), Outer("a", (Inner("note", 2),))))
    assert made == (Row(10, "b", "z"), Row(20, "a", "note"), Row(20, "b", "note"))
    assert made[1].note is made[2].note
    assert read(sent()) == ()


def test_any_rows_are_in_the_order_of_their_class() -> None:
    """Texts that begin alike, for longer than the key of the engine, and some rows more than once."""
    chance = random.Random(7)
    beginnings = ("", "common-", "common-or-not")
    words = [
        chance.choice(beginnings) + "".join(chance.choices("ab\0é\U0001f600", k=chance.choice((0, 1, 9))))
        for _ in range(40)
    ]
    for count in (1, 2, 3, 17, 300):
        structs = [
            Outer(chance.choice(words), tuple(Inner(chance.choice(words), chance.choice((1, 2, -1))) for _ in range(3)))
            for _ in range(count)
        ]
        expected = sorted(Row(NUMBERS[part.code], each.name, part.note) for each in structs for part in each.parts)
        assert read(sent(*structs)) == tuple(expected)


def test_texts_whose_hashes_are_near_to_each_other_are_read() -> None:
    """More different texts than the engine looks through are several objects, not a longer search."""
    notes = [f"note {number}" for number in range(5_000)]
    made = read(sent(*(Outer("a", tuple(Inner(note, 1) for note in notes)) for _ in range(2))))
    assert made == tuple(Row(10, "a", note) for note in sorted(notes * 2))
    assert len({id(row.note) for row in made}) < 5_500


def test_an_absent_field_is_a_constant() -> None:
    absent = StructProgram(Inner, True, (CODE, text("note", presence=2)))
    outer = OUTER._replace(fields=(text("name"), array("parts", absent)))
    plain = StructProgram(Answer, True, (array("rows", outer),))
    octets = native.Codec(plain).write(Answer((Outer("a", (Inner("absent", 1),)),)))  # type: ignore[arg-type]
    answer, _ = native.Codec(with_rows(plain, {Outer: ROWS})).read(octets, 0)
    assert cast("Answer", answer).rows == (Row(10, "a", "absent"),)


def test_unknown_tags_are_passed() -> None:
    structs = (Outer("a", (Inner("n", 1, ((3, b"new"), (9, b""))),), ((0, b"x"),)),)
    assert read(sent(*structs)) == (Row(10, "a", "n"),)


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        sent(Outer("a", (Inner("n", 3),))),  # a number without a member
        sent(Outer("a", (Inner("n", 1),)))[:-1],
        sent(Outer("a", (Inner("n", 1),)))[:-3],
        sent(Outer("a", (Inner("n", 1),))).replace(b"n", b"\xff"),
        sent(Outer("a", (Inner("n", 1),))).replace(b"a", b"\xff"),
        sent(Outer("a", (Inner("n", 1, ((3, b"new"),)),))).replace(b"\x03\x03", b"\x03\x33"),  # the size of a tag
        sent(Outer("a", (Inner("n", 1, ((3, b"n"), (4, b"n"))),))).replace(b"\x04\x01", b"\x03\x01"),  # tags ascend
    ],
)
def test_octets_of_no_rows_are_refused(octets: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 the engine says nothing
        native.Codec(PROGRAM).read(octets, 0)


def test_rows_are_not_written() -> None:
    with pytest.raises(ValueError, match=r"^$"):
        native.Codec(PROGRAM).write(Answer((Row(10, "a", "n"),)))


def with_form(**change: object) -> StructProgram:
    return PROGRAM._replace(fields=(PROGRAM.fields[0]._replace(rows=FORM._replace(**change)),))  # type: ignore[arg-type]


NAME, NOTE, KIND = FORM.outer[0], *FORM.inner
assert NAME is not None
assert NOTE is not None
assert KIND is not None


@pytest.mark.parametrize(
    "change",
    [
        {"cls": int},
        {"cls": Inner},
        {"outer": ()},
        {"outer": (NAME, None, None)},
        {"outer": (NAME._replace(attribute="other"), None)},
        {"outer": (NAME._replace(members=NUMBERS), None)},
        {"outer": (1, None)},
        {"inner": (NOTE,)},
        {"inner": (NAME, KIND)},
        {"inner": (KIND, NOTE)},
        {"inner": (NOTE, KIND._replace(members=None))},
        {"inner": (NOTE, KIND._replace(members=cast("dict[int, object]", [])))},
        {"inner": (NOTE, KIND._replace(members={1: -1}))},
        {"inner": (NOTE, KIND._replace(members={1: 256}))},
        {"inner": (NOTE, KIND._replace(members={1: 2**70}))},
        {"inner": (NOTE, KIND._replace(members={1: "a"}))},
        {"inner": (NOTE, KIND._replace(members={128: 1}))},
        {"inner": (NOTE, KIND._replace(members=cast("dict[int, object]", {"a": 1})))},
        {"inner": (NOTE._replace(attribute="kind"), KIND._replace(attribute="note"))},
    ],
)
def test_other_forms_of_rows_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(REFUSALS):
        native.Codec(with_form(**change))


def test_rows_are_made_of_arrays_of_structs_alone() -> None:
    for field in (CODE._replace(rows=FORM), array("rows", INNER)._replace(rows=FORM), text("rows")._replace(rows=FORM)):
        with pytest.raises(REFUSALS):
            native.Codec(ANSWER._replace(fields=(field._replace(attribute="rows"),)))


def test_a_damaged_form_of_rows_is_refused_or_does_no_harm() -> None:
    chance = random.Random(19)
    octets = [sent(Outer("a", (Inner("n", 1),))), *(chance.randbytes(chance.randrange(60)) for _ in range(3))]
    refused = 0
    for _ in range(1_000):
        try:
            codec = native.Codec(with_form(**{name: damaged(value, chance) for name, value in FORM._asdict().items()}))
        except REFUSALS:
            refused += 1
            continue
        for each in octets:
            try:
                codec.read(each, 0)
            except REFUSALS:
                refused += 1
    assert refused > 500


def test_forms_of_rows_are_collected_with_their_classes() -> None:
    codec = native.Codec(PROGRAM)
    found = gc.get_referents(codec)
    assert all(any(each is wanted for each in found) for wanted in (Row, Outer, Inner, Answer))
