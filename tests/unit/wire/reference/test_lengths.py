"""Types of variable length, and null."""

from __future__ import annotations

import pytest
from tests.made.messages import Synthetic, field, message

from kafkawire.layout import FIELD_TYPES, FieldType, OctetsType
from kafkawire.layout.fault import FaultError
from kafkawire.wire.errors import DecodeError, EncodeError

VARIABLE = [type_ for type_ in FIELD_TYPES.values() if type_.length_code]


def single(type_: str, **more: object) -> Synthetic:
    return message(field(type_, **more))


def refused(synthetic: Synthetic, octets: str) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        synthetic.decode_from(bytes.fromhex(octets))
    return caught.value


@pytest.mark.parametrize(
    ("type_", "value", "plain", "compact"),
    [
        ("string", "", "0000", "01"),
        ("string", "a€", "000461e282ac", "0561e282ac"),
        ("bytes", b"", "00000000", "01"),
        ("bytes", b"\x01\x02", "000000020102", "030102"),
        ("records", b"\x01\x02", "000000020102", "030102"),
    ],
)
def test_lengths_plain_and_compact(type_: str, value: object, plain: str, compact: str) -> None:
    for synthetic, octets in ((single(type_), plain), (single(type_, compact=True), compact)):
        written = bytes.fromhex(octets)
        assert synthetic.encode(synthetic(value)) == written
        assert synthetic.decode(written) == synthetic(value)


@pytest.mark.parametrize("type_", VARIABLE, ids=lambda t: t.name)
def test_wire_null_shape(type_: FieldType) -> None:
    """Nullability only decides whether the null form is legal."""
    null = {True: b"\x00", False: b"\xff" * (2 if type_.length_code == "h" else 4)}
    value = "ab" if type_.domain == "text" else b"ab"
    for compact, octets in null.items():
        nullable = single(type_.name, nullable=True, compact=compact)
        strict = single(type_.name, compact=compact)
        assert nullable.encode(nullable(None)) == octets
        assert nullable.decode(octets) == nullable(None)
        assert nullable.encode(nullable(value)) == strict.encode(strict(value))
        with pytest.raises(EncodeError) as encoding:
            strict.encode(strict(None))
        with pytest.raises(DecodeError) as decoding:
            strict.decode(octets)
        assert encoding.value.kind == decoding.value.kind == "null"
        assert encoding.value.path == decoding.value.path == "value"
        assert decoding.value.offset == 0


@pytest.mark.parametrize(("array", "compact"), [("00000002 0001 0002", False), ("03 0001 0002", True)])
def test_wire_array_elements_of_fixed_width(array: str, compact: bool) -> None:
    numbers = single("int16", array=True, compact=compact)
    assert numbers.encode(numbers((1, 2))) == bytes.fromhex(array)
    assert numbers.decode(bytes.fromhex(array)) == numbers((1, 2))


def test_wire_array_elements_have_the_flexibility_of_the_array() -> None:
    plain, compact = single("string", array=True), single("string", array=True, compact=True)
    assert plain.encode(plain(["a", ""])).hex() == "00000002" + "000161" + "0000"
    assert compact.encode(compact(["a", ""])).hex() == "03" + "0261" + "01"


@pytest.mark.parametrize(("octets", "compact"), [("00000001 ffff", False), ("02 00", True)])
def test_wire_array_elements_have_no_null_form(octets: str, compact: bool) -> None:
    """Also in a nullable array: that is about the array itself."""
    error = refused(single("string", array=True, nullable=True, compact=compact), octets)
    assert (error.kind, error.path) == ("null", "value[0]")


def test_null_elements() -> None:
    strings = single("string", array=True, nullable=True)
    with pytest.raises(EncodeError) as caught:
        strings.encode(strings(("a", None)))
    assert (caught.value.kind, caught.value.path) == ("null", "value[1]")


@pytest.mark.parametrize("compact", [False, True])
def test_wire_string_limit_counts_utf8_bytes(compact: bool) -> None:
    text = single("string", compact=compact)
    longest = "€" * 10922 + "a"
    assert text.decode(text.encode(text(longest))) == text(longest)
    with pytest.raises(EncodeError) as encoding:
        text.encode(text(longest + "a"))
    assert (encoding.value.kind, encoding.value.reason) == (
        "length", "the string takes 32768 bytes, at most 32767 are allowed",
    )  # fmt: skip


def test_wire_string_limit_on_decode() -> None:
    """Only the compact form can say more."""
    error = refused(single("string", compact=True), "818002" + "61" * 40000)
    assert (error.kind, error.offset, error.reason) == ("length", 0, "takes 32768 bytes, at most 32767 are allowed")


@pytest.mark.parametrize(
    ("octets", "compact"), [("00000003 0102", False), ("04 0102", True), ("7fffffff", False), ("ffffffff07", True)]
)
def test_wire_array_bound(octets: str, compact: bool) -> None:
    """Refused by the count alone, before anything is allocated."""
    error = refused(single("int8", array=True, compact=compact), octets)
    assert (error.kind, error.path, error.offset) == ("truncated", "value", 0)
    assert error.reason.startswith("claims ")


def test_wire_array_bound_holds_for_structs_of_size_zero() -> None:
    empty = message()
    nothing = message(field("struct", array=True, struct=empty.layout), M=empty.cls)
    assert nothing.decode_from(bytes.fromhex("00000002 0000"))[0] == nothing((empty(), empty()))
    assert refused(nothing, "00000003 0000").reason == "claims 3 elements, 2 are left"


@pytest.mark.parametrize("type_", VARIABLE, ids=lambda t: t.name)
@pytest.mark.parametrize("compact", [False, True])
def test_wire_length_bound(type_: FieldType, compact: bool) -> None:
    prefix = b"\x04" if compact else (3).to_bytes(2 if type_.length_code == "h" else 4)
    error = refused(single(type_.name, compact=compact), (prefix + b"ab").hex())
    assert (error.kind, error.path, error.offset) == ("truncated", "value", len(prefix))
    assert error.reason == "needs 3 bytes, 2 are left"


@pytest.mark.parametrize(
    ("type_", "array", "octets"),
    [("string", False, "fffe"), ("string", False, "8000"), ("bytes", False, "80000000"), ("int8", True, "fffffff0")],
)
def test_wire_negative_length(type_: str, array: bool, octets: str) -> None:
    """Any negative length is null, and refused where null is."""
    nullable = single(type_, array=array, nullable=True)
    assert nullable.decode(bytes.fromhex(octets)) == nullable(None)
    assert refused(single(type_, array=array), octets).kind == "null"


def test_compact_null_may_be_padded() -> None:
    nullable = single("string", nullable=True, compact=True)
    assert nullable.decode(bytes.fromhex("8000")) == nullable(None)


@pytest.mark.parametrize(
    ("octets", "offset"), [("c080", 0), ("61eda080", 1), ("f4908080", 0), ("6162f09f98", 2), ("80", 0)]
)
def test_wire_string_limit_malformed_utf8_is_an_error_at_its_first_byte(octets: str, offset: int) -> None:
    error = refused(single("string", compact=True), f"{len(octets) // 2 + 1:02x}{octets}")
    assert (error.kind, error.path, error.offset) == ("utf8", "value", 1 + offset)


def test_wire_string_limit_lone_surrogates_are_refused() -> None:
    text = single("string")
    with pytest.raises(EncodeError) as caught:
        text.encode(text("ab\ud800"))
    assert (caught.value.kind, caught.value.path) == ("utf8", "value")
    assert caught.value.reason == "character 2 is a lone surrogate, which UTF-8 cannot carry"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("orders", "a lone string is not an array; did you forget a comma?"),
        (b"orders", "expected a sequence, not bytes"),
        (7, "expected a sequence, not int"),
        ({"a"}, "expected a sequence, not set"),
        ((name for name in "ab"), "expected a sequence, not generator"),
        (message()(), "a lone M is not an array; did you forget a comma?"),
    ],
)
def test_values_other_than_arrays_are_refused(value: object, reason: str) -> None:
    strings = single("string", array=True)
    with pytest.raises(EncodeError) as caught:
        strings.encode(strings(value))
    assert (caught.value.kind, caught.value.path, caught.value.reason) == ("type", "value", reason)


def test_any_sequence_is_an_array() -> None:
    numbers = single("int8", array=True)
    assert numbers.encode(numbers([1, 2])) == numbers.encode(numbers(range(1, 3))) == b"\x00\x00\x00\x02\x01\x02"


def test_errors_never_quote_texts_or_octets() -> None:
    secret = "hunter2"
    for synthetic, value in (
        (single("bytes"), secret),
        (single("string"), secret.encode()),
        (single("string"), secret + "\ud800"),
        (single("uuid"), secret.encode()),
        (single("int32"), secret),
        (single("int32", array=True), secret),
        (single("string", array=True), [secret.encode()]),
    ):
        with pytest.raises(EncodeError) as caught:
            synthetic.encode(synthetic(value))
        assert secret not in str(caught.value)


def test_octets_of_a_type_have_a_greatest_length() -> None:
    """That of the real types is 2 GiB, so it is shown on a small one."""
    small = OctetsType(name="small", length_code="b", maximum_length=2)
    assert small.legal_octets(b"ab") == b"ab"
    with pytest.raises(FaultError, match="there are 3 bytes, at most 2 are allowed"):
        small.legal_octets(b"abc")
