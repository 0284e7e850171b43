"""Defaults, and values that a version cannot carry."""

from __future__ import annotations

import math

import pytest
from tests.made.messages import Synthetic, field, message

from kafkawire.layout import STRUCT, FieldLayout, StructLayout, Uuid
from kafkawire.wire.errors import DecodeError, EncodeError
from kafkawire.wire.values import is_default

ABSENT = {"presence": "absent"}


def absent(type_: str, **more: object) -> Synthetic:
    return message(field(type_, presence="absent", **more))


def test_value_decode_absent() -> None:
    old = message(field("int8", "First"), field("int32", "Second", default=-1, **ABSENT))
    assert old.decode(b"\x05") == old(5, -1)


@pytest.mark.parametrize(
    ("type_", "more", "same", "other"),
    [
        ("bool", {"default": True}, True, False),
        ("int32", {"default": -1}, -1, 0),
        ("uuid", {}, Uuid(), Uuid(b"\x01" * 16)),
        ("string", {}, "", "a"),
        ("string", {"default": "x"}, "x", ""),
        ("string", {"default": None}, None, ""),
        ("string", {"default": "", "ever_nullable": True}, "", None),
        ("bytes", {}, b"", b"a"),
        ("bytes", {"default": None}, None, b""),
        ("bytes", {"ever_nullable": True}, b"", None),
        ("records", {}, None, b""),
        ("int8", {"array": True}, (), (0,)),
        ("int8", {"array": True}, [], [0]),
        ("int8", {"array": True, "default": None}, None, ()),
        ("int8", {"array": True, "ever_nullable": True}, (), None),
        ("float64", {}, -0.0, 0.1),
        ("float64", {}, 0.0, math.nan),
    ],
)
def test_value_equals_default(type_: str, more: dict[str, object], same: object, other: object) -> None:
    """Seen where it matters: a non-ignorable field that the version lacks."""
    synthetic = absent(type_, **more)
    assert synthetic.encode(synthetic(same)) == b""
    with pytest.raises(EncodeError) as caught:
        synthetic.encode(synthetic(other))
    assert (caught.value.kind, caught.value.path) == ("unsupported_field", "value")


def test_value_equals_default_not_a_number_differs_from_itself() -> None:
    synthetic = absent("float64", default=math.nan)
    with pytest.raises(EncodeError):
        synthetic.encode(synthetic())


def struct_field(**more: object) -> tuple[FieldLayout, Synthetic]:
    """A field of a struct with all that makes deep comparison hard, and the struct."""
    leaf = message(field("float64", "Number"))
    leaf_layout = StructLayout("Leaf", leaf.layout.fields, False)
    inner = message(
        field("int8", "Numbers", array=True), field(STRUCT, "Leaf", struct=leaf_layout), Leaf=leaf.cls
    )  # fmt: skip
    layout = StructLayout("Inner", inner.layout.fields, False)
    return field(STRUCT, struct=layout, **more), inner


def test_value_equals_default_is_deep_for_structs() -> None:
    shape, inner = struct_field()
    outer = message(shape, Inner=inner.cls)
    leaf_cls = type(inner().leaf)  # type: ignore[attr-defined]
    for value, expected in (
        (inner(), True),
        (inner(numbers=[]), True),
        (inner(numbers=[1]), False),
        (inner(leaf=leaf_cls(-0.0)), True),
        (inner(leaf=leaf_cls(math.nan)), False),
        (inner(leaf=leaf_cls(unknown_tagged_fields=((1, b""),))), False),
        (leaf_cls(), False),
        (None, False),
    ):
        assert is_default(outer(value), shape) is expected


def test_value_equals_default_of_a_struct_that_is_null_by_default() -> None:
    shape, inner = struct_field(default=None)
    outer = message(shape, Inner=inner.cls)
    assert is_default(outer(None), shape)
    assert not is_default(outer(inner()), shape)


def test_encode_ignorable() -> None:
    synthetic = absent("int32", ignorable=True)
    assert synthetic.encode(synthetic(7)) == b""


def test_encode_non_ignorable() -> None:
    synthetic = absent("int32")
    assert synthetic.encode(synthetic(0)) == b""
    with pytest.raises(EncodeError) as caught:
        synthetic.encode(synthetic(7))
    assert str(caught.value) == "M v0: value: is set, but version 0 has no such field and it must not be dropped"


@pytest.mark.parametrize("presence", ["inline", "tagged", "absent"])
def test_encode_tagged_any_version(presence: str) -> None:
    """One field, in each of the three ways that a version can have it."""
    tag = 0 if presence == "tagged" else None
    synthetic = message(field("int8", presence=presence, tag=tag, compact=True), flexible=True)
    if presence == "absent":
        with pytest.raises(EncodeError):
            synthetic.encode(synthetic(5))
    else:
        assert synthetic.encode(synthetic(5)).hex() == {"inline": "0500", "tagged": "01000105"}[presence]


def test_encode_nested() -> None:
    """Each struct that is written is checked, with the path to it."""
    inner = message(field("int8", "Number", presence="absent"))
    layout = StructLayout("Inner", inner.layout.fields, False)
    outer = message(field(STRUCT, array=True, struct=layout), Inner=inner.cls)
    with pytest.raises(EncodeError) as caught:
        outer.encode(outer((inner(), inner(1))))
    assert caught.value.path == "value[1].number"


def test_encode_nested_does_not_check_dropped_values() -> None:
    inner = message(field("int8", "Number", presence="absent"))
    outer = message(field(STRUCT, presence="absent", ignorable=True, default=None), Inner=inner.cls)
    assert outer.encode(outer(inner(1))) == b""


def test_an_absent_array_that_is_none_is_refused() -> None:
    synthetic = absent("int8", array=True)
    with pytest.raises(EncodeError) as caught:
        synthetic.encode(synthetic("text"))
    assert (caught.value.kind, caught.value.path) == ("type", "value")


@pytest.mark.parametrize("type_", ["int32", "bool", "uuid", "float64", "string", "bytes", "records"])
@pytest.mark.parametrize("array", [False, True])
def test_null_encode_refused(type_: str, array: bool) -> None:
    """``records`` too, whose default is null: it must be set where null is not allowed."""
    synthetic = message(field(type_, array=array))
    with pytest.raises(EncodeError) as caught:
        synthetic.encode(synthetic(None))
    assert (caught.value.kind, caught.value.path, caught.value.reason) == ("null", "value", "null is not allowed here")


@pytest.mark.parametrize(("type_", "array"), [("string", False), ("bytes", False), ("records", False), ("int8", True)])
def test_null_decode_refused(type_: str, array: bool) -> None:
    synthetic = message(field("int8", "First"), field(type_, array=array))
    with pytest.raises(DecodeError) as caught:
        synthetic.decode(b"\x00" + b"\xff" * 4)
    assert str(caught.value) == "M v0: value at byte 1: null is not allowed here"
