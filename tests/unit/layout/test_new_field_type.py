"""A new field type is one record in one table: everything else follows from it."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest
from tests.kafka_logs.column_rows import check_columns
from tests.made.packages import check_laws, classes_of, field, make_package, message

from kafkawire.codegen.generate import DefinitionsRefusedError
from kafkawire.columns import MessageColumns
from kafkawire.layout import FIELD_TYPES, FieldType, TextType, floating, integer
from kafkawire.wire import DecodeError, EncodeError

NEW_TYPES: dict[str, FieldType] = {
    type_.name: type_
    for type_ in (
        integer("uint64", 8, signed=False),
        integer("uint8", 1, signed=False),
        floating("float32", 4),
        TextType(name="longstring", length_code="i", maximum_length=2**31 - 1),
    )
}
PACKAGES = (f"new_type_{number}" for number in itertools.count())


@pytest.fixture(params=NEW_TYPES)
def new_type(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FieldType:
    """A type that is in the table during the test only."""
    type_ = NEW_TYPES[request.param]
    monkeypatch.setitem(FIELD_TYPES, type_.name, type_)
    return type_


def test_a_new_type_works_in_every_place(new_type: FieldType, tmp_path: Path) -> None:
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
    )
    package = make_package(tmp_path, next(PACKAGES), everywhere)
    assert check_laws(classes_of(package), examples=40) > 50
    assert check_columns(MessageColumns(package.Everywhere), examples=40) > 50
    assert package.Everywhere().a == new_type.default


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
    fields = field("A", "int16"), field("B", "float32"), field("C", "int64")
    package = make_package(tmp_path, next(PACKAGES), message("M", *fields))
    assert package.M(1, 0.5, 2).encode(0) == struct.pack(">hfq", 1, 0.5, 2)
    assert 'unpacker("hfq")' in (tmp_path / "package" / package.__name__ / "m.py").read_text()
