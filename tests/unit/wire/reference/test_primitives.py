"""Values of fixed width and varints, byte for byte."""

from __future__ import annotations

import math

import pytest
from tests.made.messages import field, message

from kafkawire.layout import FIELD_TYPES, FieldType, Uuid
from kafkawire.wire.errors import DecodeError, EncodeError


def as_hex(type_: str, value: object) -> str:
    single = message(field(type_))
    return single.encode(single(value)).hex()


def from_hex(type_: str, octets: str) -> object:
    return message(field(type_)).decode(bytes.fromhex(octets)).value  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("type_", "value", "octets"),
    [
        ("int8", -128, "80"),
        ("int8", 127, "7f"),
        ("int16", -2, "fffe"),
        ("int32", 1, "00000001"),
        ("int32", -(2**31), "80000000"),
        ("int64", -1, "ffffffffffffffff"),
        ("int64", 2**63 - 1, "7fffffffffffffff"),
    ],
)
def test_wire_int(type_: str, value: int, octets: str) -> None:
    assert as_hex(type_, value) == octets
    assert from_hex(type_, octets) == value


@pytest.mark.parametrize(
    ("type_", "value", "octets"), [("uint16", 65535, "ffff"), ("uint32", 2**32 - 1, "ffffffff"), ("uint16", 1, "0001")]
)
def test_wire_uint(type_: str, value: int, octets: str) -> None:
    assert as_hex(type_, value) == octets
    assert from_hex(type_, octets) == value


def test_wire_bool_is_one_byte_and_any_non_zero_byte_is_true() -> None:
    assert as_hex("bool", False) == "00"
    assert as_hex("bool", True) == "01"
    assert from_hex("bool", "00") is False
    assert from_hex("bool", "01") is True
    assert from_hex("bool", "80") is True


@pytest.mark.parametrize(
    ("value", "octets"), [(1.0, "3ff0000000000000"), (-0.0, "8000000000000000"), (math.inf, "7ff0000000000000")]
)
def test_wire_float64(value: float, octets: str) -> None:
    assert as_hex("float64", value) == octets
    assert from_hex("float64", octets) == value


def test_wire_float64_carries_not_a_number() -> None:
    assert math.isnan(from_hex("float64", as_hex("float64", math.nan)))  # type: ignore[arg-type]


def test_wire_uuid_is_sixteen_bytes_most_significant_first() -> None:
    uuid = Uuid.from_text("H3KKOO4TTPaCWtEmm3vW7A")
    assert as_hex("uuid", uuid) == "1f728a38ee134cf6825ad1269b7bd6ec"
    read = from_hex("uuid", "1f728a38ee134cf6825ad1269b7bd6ec")
    assert isinstance(read, Uuid)
    assert read == uuid


@pytest.mark.parametrize(
    ("number", "octets"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2097151, "ffff7f"),
        (268435456, "8080808001"),
        (2147483646, "feffffff07"),
    ],
)
def test_wire_uvarint(number: int, octets: str) -> None:
    """Seen in a tag number, the only place that takes any number."""
    empty = message(flexible=True)
    written = bytes.fromhex("01" + octets + "00")
    assert empty.encode(empty(unknown_tagged_fields=((number, b""),))) == written
    assert empty.decode(written) == empty(unknown_tagged_fields=((number, b""),))


@pytest.mark.parametrize("octets", ["8000", "808000", "8080808000"])
def test_wire_uvarint_padded_forms_are_accepted(octets: str) -> None:
    empty = message(flexible=True)
    assert empty.decode(bytes.fromhex(octets)) == empty()


@pytest.mark.parametrize(
    ("octets", "reason"),
    [
        ("8080808008", "{what} is the varint 2147483648, at most 2147483647 is allowed"),
        ("ffffffff0f", "{what} is the varint 4294967295, at most 2147483647 is allowed"),
        ("ffffffff7f", "{what} is the varint 34359738367, at most 2147483647 is allowed"),
        ("8080808010", "{what} is the varint 4294967296, at most 2147483647 is allowed"),
        ("808080808000", "a varint has at most 5 bytes"),
        ("ffffffffff", "a varint has at most 5 bytes"),
    ],
)
@pytest.mark.parametrize(
    ("before", "what"),
    [("", "the number of tagged fields"), ("01", "the tag"), ("0100", "the size of tagged field 0")],
    ids=["count", "tag", "size"],
)
def test_wire_uvarint_of_two_to_the_31_or_more_is_refused(octets: str, reason: str, before: str, what: str) -> None:
    with pytest.raises(DecodeError) as caught:
        message(flexible=True).decode(bytes.fromhex(before + octets + "00" * 9))
    assert (caught.value.kind, caught.value.offset) == ("varint", len(before) // 2)
    assert caught.value.reason == reason.format(what=what)


@pytest.mark.parametrize("type_", [t for t in FIELD_TYPES.values() if t.domain == "int"], ids=lambda t: t.name)
def test_integers_out_of_range_are_refused(type_: FieldType) -> None:
    single = message(field(type_.name))
    for value in (type_.minimum - 1, type_.maximum + 1, 10**40):
        with pytest.raises(EncodeError) as caught:
            single.encode(single(value))
        assert (caught.value.kind, caught.value.path) == ("range", "value")


def test_integers_of_absurd_size_are_refused_without_printing_them() -> None:
    with pytest.raises(EncodeError, match="an integer of 16001 bits is outside int32"):
        as_hex("int32", 1 << 16000)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("int32", 1.0),
        ("int32", "1"),
        ("float64", "1.0"),
        ("bool", 1),
        ("bool", "true"),
        ("uuid", "H3KKOO4TTPaCWtEmm3vW7A"),
        ("string", b"octets"),
        ("bytes", "text"),
    ],
)
def test_values_of_another_type_are_refused(type_: str, value: object) -> None:
    with pytest.raises(EncodeError) as caught:
        as_hex(type_, value)
    assert (caught.value.kind, caught.value.path) == ("type", "value")


def test_numbers_that_are_of_the_type_in_spirit_are_accepted() -> None:
    assert as_hex("int8", True) == "01"
    assert as_hex("float64", 1) == "3ff0000000000000"


def test_an_integer_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(EncodeError, match="too large") as caught:
        as_hex("float64", 10**400)
    assert caught.value.kind == "range"


@pytest.mark.parametrize("octets", [b"", bytes(15), bytes(17)])
def test_a_uuid_of_another_length_is_refused(octets: bytes) -> None:
    with pytest.raises(EncodeError, match=f"a uuid has 16 bytes, not {len(octets)}"):
        as_hex("uuid", octets)


def test_octets_are_accepted_from_any_buffer() -> None:
    assert as_hex("uuid", bytearray(range(16))) == bytes(range(16)).hex()
    assert as_hex("bytes", memoryview(b"ab")) == "000000026162"


@pytest.mark.parametrize("type_", [t for t in FIELD_TYPES.values() if t.code], ids=lambda t: t.name)
def test_fixed_width_values_that_are_cut_off_say_what_is_missing(type_: FieldType) -> None:
    size = type_.size or 0
    for left in range(size):
        with pytest.raises(DecodeError) as caught:
            message(field(type_.name)).decode(bytes(left))
        assert (caught.value.kind, caught.value.path, caught.value.offset) == ("truncated", "value", 0)
        plural = "" if size == 1 else "s"
        assert caught.value.reason == f"needs {size} byte{plural}, {left} {'is' if left == 1 else 'are'} left"
