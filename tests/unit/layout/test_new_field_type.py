"""A new field type is one record in one table: everything else follows from it."""

from __future__ import annotations

import itertools
import math
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from tests.kafka_logs.column_rows import check_columns
from tests.made.packages import check_laws, classes_of, field, make_package, message

from kafkawire.codegen.generate import DefinitionsRefusedError
from kafkawire.columns import MessageColumns
from kafkawire.layout import FIELD_TYPES, FieldType, IntegerType, TextType, floating, integer
from kafkawire.wire import DecodeError, EncodeError

NEW_TYPES: dict[str, FieldType] = {
    type_.name: type_
    for type_ in (
        integer("int128", 16),
        integer("uint24", 3, signed=False),
        integer("uint64", 8, signed=False),
        integer("uint8", 1, signed=False),
        floating("float32", 4),
        TextType(name="longstring", length_code="i", maximum_length=2**31 - 1),
    )
}
"""Types that ``struct`` can read and write, and two that it cannot: int128 and uint24."""

PACKAGES = (f"new_type_{number}" for number in itertools.count())


@pytest.fixture(params=NEW_TYPES)
def new_type(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FieldType:
    """A type that is in the table during the test only."""
    type_ = NEW_TYPES[request.param]
    monkeypatch.setitem(FIELD_TYPES, type_.name, type_)
    return type_


def test_a_new_type_works_in_every_place(new_type: FieldType, tmp_path: Path) -> None:
    """In both codecs, the JSON form, strategies and columns."""
    name = new_type.name
    nullable = {"nullableVersions": "0+"} if new_type.nullable else {}
    everywhere = message(
        "Everywhere",
        field("A", name),
        field("B", f"[]{name}"),
        field("C", f"[]{name}", nullableVersions="0+", default="null"),
        field("D", "S", fields=[field("E", name), field("F", name, "1+", ignorable=True)]),
        field("G", name, "1+", tag=0, taggedVersions="1+"),
        field("H", f"[]{name}", "1+", tag=1, taggedVersions="1+"),
        field("I", "string"),
        field("J", name),
        field("K", name, **nullable),
        field("L", "[]T", fields=[field("M", name), field("N", "int32")]),
        field("O", name, "2+"),
    )
    package = make_package(tmp_path, next(PACKAGES), everywhere)
    assert check_laws(classes_of(package), examples=10) > 20
    assert check_columns(MessageColumns(package.Everywhere), examples=10) > 20
    assert package.Everywhere().a == new_type.default


def test_an_integer_that_struct_lacks_has_its_range_its_bytes_and_its_column(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(FIELD_TYPES, "int128", NEW_TYPES["int128"])
    fields = field("A", "int128", default="-1")
    package = make_package(tmp_path, next(PACKAGES), message("M", fields, field("B", "[]int128")))
    least, greatest = -(2**127), 2**127 - 1
    assert package.M().encode(0) == b"\xff" * 16 + bytes(4)
    made = package.M(least, (greatest, 0))
    octets = made.encode(0)
    assert octets == b"\x80" + bytes(15) + struct.pack(">i", 2) + b"\x7f" + b"\xff" * 15 + bytes(16)
    assert package.M.decode(octets, 0) == made
    assert package.to_json(made, 0) == {"a": least, "b": [greatest, 0]}
    with pytest.raises(EncodeError, match=f"M v0: a: {2**127} is outside int128, {least} to {greatest}"):
        package.M(2**127).encode(0)
    with pytest.raises(EncodeError, match="M v0: b\\[1\\]: expected an integer, not str"):
        package.M(0, (0, "1")).encode(0)
    with pytest.raises(DecodeError, match="M v0: a at byte 0: needs 16 bytes, 15 are left"):
        package.M.decode(bytes(15), 0)
    assert MessageColumns(package.M).schema == pa.schema([("a", pa.string()), ("b", pa.list_(pa.string()))])


def test_its_range_and_form_are_those_of_the_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(FIELD_TYPES, "uint64", NEW_TYPES["uint64"])
    package = make_package(tmp_path, next(PACKAGES), message("M", field("A", "uint64", default="0xffffffffffffffff")))
    assert package.M().encode(0) == b"\xff" * 8
    assert package.to_json(package.M(), 0) == {"a": 2**64 - 1}
    with pytest.raises(EncodeError, match="M v0: a: -1 is outside uint64, 0 to 18446744073709551615"):
        package.M(-1).encode(0)
    with pytest.raises(DecodeError, match="M v0: a at byte 0: needs 8 bytes, 7 are left"):
        package.M.decode(bytes(7), 0)
    with pytest.raises(DecodeError, match="M v0: a: 18446744073709551616 is outside uint64"):
        package.from_json(package.M, {"a": 2**64}, 0)
    refused = message("N", field("A", "uint64", default="-1"), field("B", "uint64", nullableVersions="0+"))
    with pytest.raises(DefinitionsRefusedError) as caught:
        make_package(tmp_path / "refused", next(PACKAGES), refused)
    assert {finding.rule for finding in caught.value.findings} == {"default-int-range", "field-nullable-type"}


def test_its_neighbours_share_its_struct_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(FIELD_TYPES, "float32", NEW_TYPES["float32"])
    monkeypatch.setitem(FIELD_TYPES, "int128", NEW_TYPES["int128"])
    fields = field("A", "int16"), field("B", "float32"), field("C", "int128"), field("D", "int64")
    package = make_package(tmp_path, next(PACKAGES), message("M", *fields))
    assert package.M(1, 0.5, 2, 3).encode(0) == struct.pack(">hfqqq", 1, 0.5, 0, 2, 3)
    assert 'unpacker("hf16sq")' in (tmp_path / "package" / package.__name__ / "m.py").read_text()


def test_negative_zeros_beside_zeros_stay_negative(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of two equal arrays of numbers side by side the second is read as the first, but these are not the same."""
    monkeypatch.setitem(FIELD_TYPES, "float32", NEW_TYPES["float32"])
    package = make_package(tmp_path, next(PACKAGES), message("M", field("A", "[]float32"), field("B", "[]float32")))
    read = package.M.decode(package.M((0.0,), (-0.0,)).encode(1), 1)
    assert [math.copysign(1, *numbers) for numbers in (read.a, read.b)] == [1, -1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"code": "q"}, "struct code 'q' does not have 16 bytes; correct code or size"),
        ({"code": "16s", "load": None, "dump": None}, "argument for 's' must be a bytes object"),
        ({"code": "16s", "load": None}, "0 does not come back from struct code '16s'"),
        ({"code": "X"}, "bad char in struct format"),
        ({"maximum": 2**127}, "int too big to convert"),
        ({"default": 2**127}, f"{2**127} is outside int128"),
        ({"default": "0"}, "expected an integer, not str"),
        ({"default": None}, "a fixed-width type has a default that is not null"),
        ({"code": None}, "give either code, for a fixed width, or length_code"),
        ({"length_code": "i"}, "give either code, for a fixed width, or length_code"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused_when_it_is_made(changes: dict[str, object], reason: str) -> None:
    good = NEW_TYPES["int128"]
    values = {name: getattr(good, name) for name in good.__struct_fields__}
    with pytest.raises(ValueError, match=r"^field type int128: ") as caught:
        IntegerType(**values | changes)
    assert reason in str(caught.value)


def test_lengths_fit_their_prefix() -> None:
    with pytest.raises(ValueError, match="field type t: maximum_length must be 1 to 32767 with length_code 'h'"):
        TextType(name="t", length_code="h", maximum_length=40_000)
