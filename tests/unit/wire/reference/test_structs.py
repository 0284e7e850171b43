"""Structs in structs, and null ones."""

from __future__ import annotations

import pytest
from tests.made.messages import (
    NullableStructMessage,
    Pair,
    Synthetic,
    field,
    message,
    nullable_struct_message,
)

from kafkawire.layout import StructLayout
from kafkawire.wire.errors import DecodeError, EncodeError


def nested(*, flexible: bool = False, **more: object) -> tuple[Synthetic, Synthetic]:
    """A message with one field ``Value`` of a struct with one int32, and that struct."""
    inner = message(field("int32", "Number"), flexible=flexible)
    layout = StructLayout("Inner", inner.layout.fields, flexible)
    outer = message(field("struct", struct=layout, compact=flexible, **more), flexible=flexible, Inner=inner.cls)
    return outer, inner


def test_wire_struct_has_no_boxing() -> None:
    """An array of structs with one int32 is byte for byte an array of int32."""
    outer, inner = nested(array=True)
    numbers = message(field("int32", array=True))
    written = outer.encode(outer((inner(1), inner(2))))
    assert written == numbers.encode(numbers((1, 2)))
    assert outer.decode(written) == outer((inner(1), inner(2)))


def test_wire_section_everywhere() -> None:
    outer, inner = nested(array=True, flexible=True)
    written = outer.encode(outer((inner(1), inner(2))))
    assert written.hex() == "03" + "00000001" + "00" + "00000002" + "00" + "00"
    assert outer.decode(written) == outer((inner(1), inner(2)))


def test_a_struct_without_fields_still_has_its_section() -> None:
    empty = message(flexible=True)
    assert empty.encode(empty()) == b"\x00"
    assert empty.decode(b"\x00") == empty()


@pytest.mark.parametrize("flexible", [False, True])
def test_wire_nullable_struct(flexible: bool) -> None:
    """One byte before the struct, in flexible and other versions alike; none where null is not allowed."""
    outer, inner = nested(nullable=True, flexible=flexible)
    section = "00" if flexible else ""
    assert outer.encode(outer(None)).hex() == "ff" + section
    assert outer.encode(outer(inner(1))).hex() == "01" + "00000001" + section + section
    strict, inner = nested(flexible=flexible)
    assert strict.encode(strict(inner(1))).hex() == "00000001" + section + section


@pytest.mark.parametrize(("marker", "present"), [(0xFF, False), (0x80, False), (0x00, True), (0x7F, True)])
def test_wire_nullable_struct_takes_any_negative_byte_as_null(marker: int, present: bool) -> None:
    outer, inner = nested(nullable=True)
    expected = outer(inner(1) if present else None)
    assert outer.decode(bytes([marker]) + (b"\x00\x00\x00\x01" if present else b"")) == expected


@pytest.mark.parametrize(
    ("marker", "present"), [("00", False), ("8000", False), ("01", True), ("02", True), ("7f", True)]
)
def test_wire_nullable_struct_tagged(marker: str, present: bool) -> None:
    outer, inner = nested(nullable=True, flexible=True, presence="tagged", tag=0)
    payload = bytes.fromhex(marker + ("00000001" + "00" if present else ""))
    written = bytes([1, 0, len(payload)]) + payload
    assert outer.decode(written) == outer(inner(1) if present else None)


def test_wire_nullable_struct_tagged_writes_one_byte() -> None:
    outer, inner = nested(nullable=True, flexible=True, presence="tagged", tag=0)
    assert outer.encode(outer(None)).hex() == "01" + "00" + "01" + "00"
    assert outer.encode(outer(inner(5))).hex() == "01" + "00" + "06" + "01" + "00000005" + "00"


def test_a_tagged_struct_that_is_not_nullable_is_bare() -> None:
    outer, inner = nested(flexible=True, presence="tagged", tag=0)
    assert outer.encode(outer(inner(5))).hex() == "01" + "00" + "05" + "00000005" + "00"


def test_wire_message_leaves_the_bytes_after_it() -> None:
    single = message(field("int8"))
    assert single.decode_from(b"\x07\x08\x09", 1) == (single(8), 2)


@pytest.mark.parametrize(
    ("version", "value", "octets"),
    [
        (0, NullableStructMessage(a=None, b=Pair("a", 1)), "ff 0001 61 00000001"),
        (1, NullableStructMessage(a=None, b=Pair("a", 1), c=None, d=None), "ff 01 02 61 00000001 00 01 01 01 00"),
        (
            1,
            NullableStructMessage(a=None, b=Pair("a", 1), c=None, d=Pair("b", 2)),
            "ff 01 02 61 00000001 00 01 01 08 01 02 62 00000002 00",
        ),
    ],
)
def test_the_examples_of_section_6_5(version: int, value: NullableStructMessage, octets: str) -> None:
    synthetic = nullable_struct_message(version)
    written = bytes.fromhex(octets)
    assert synthetic.encode(value) == written
    assert synthetic.decode(written) == value


def test_paths_name_elements_and_attributes() -> None:
    outer, inner = nested(array=True, flexible=True)
    broken = outer.encode(outer((inner(1), inner(2))))[:-4]
    with pytest.raises(DecodeError) as caught:
        outer.decode(broken)
    assert str(caught.value) == "M v0: value[1].number at byte 6: needs 4 bytes, 2 are left"


@pytest.mark.parametrize("value", [7, "text", Pair(), message()()])
def test_values_other_than_the_struct_are_refused(value: object) -> None:
    outer, _ = nested()
    with pytest.raises(EncodeError) as caught:
        outer.encode(outer(value))
    assert (caught.value.kind, caught.value.path) == ("type", "value")


def test_null_encode_refused_for_a_struct() -> None:
    outer, _ = nested()
    with pytest.raises(EncodeError) as caught:
        outer.encode(outer(None))
    assert (caught.value.kind, caught.value.path) == ("null", "value")
