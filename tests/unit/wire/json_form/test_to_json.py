"""Messages to JSON."""

from __future__ import annotations

import json
import math
from enum import IntEnum

import pytest
from tests.made.messages import NullableStructMessage, Pair, Synthetic, field, message, nullable_struct_message

from kafkawire.layout import STRUCT, Uuid
from kafkawire.wire.errors import EncodeError
from kafkawire.wire.json_form import struct_to_json


def to_json(synthetic: Synthetic, *values: object, **named: object) -> dict[str, object]:
    value = synthetic(*values, **named)
    return struct_to_json(value, synthetic.layout, message_name=synthetic.layout.name, version=synthetic.version)


def text_of(type_: str, value: object, **more: object) -> str:
    """The JSON text of a field's value."""
    return json.dumps(to_json(message(field(type_, **more)), value)["value"])


def refused(synthetic: Synthetic, *values: object, **named: object) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        to_json(synthetic, *values, **named)
    return caught.value


@pytest.mark.parametrize(
    ("name", "key"),
    [("TopicId", "topicId"), ("isKRaftController", "isKRaftController"), ("KRaftVersion", "kRaftVersion")],
)
def test_json_name(name: str, key: str) -> None:
    assert to_json(message(field("int8", name)), 1) == {key: 1}


def test_json_name_keys_come_in_file_order() -> None:
    late = field("int8", "Late", presence="tagged", tag=1, compact=True)
    early = field("int8", "Early", presence="tagged", tag=0, compact=True)
    synthetic = message(late, field("int8", "Middle"), early, flexible=True)
    assert list(to_json(synthetic, late=1, early=2)) == ["late", "middle", "early"]


def test_json_struct() -> None:
    inner = message(field("int8", "Number"))
    outer = message(
        field(STRUCT, "One", struct=inner.layout), field(STRUCT, "Many", array=True, struct=inner.layout), M=inner.cls
    )
    assert to_json(outer, inner(1), [inner(2), inner(3)]) == {
        "one": {"number": 1},
        "many": [{"number": 2}, {"number": 3}],
    }


def test_json_struct_arrays_of_primitives() -> None:
    assert text_of("int32", (1, 2), array=True) == "[1, 2]"
    assert text_of("string", ["a", ""], array=True) == '["a", ""]'
    assert text_of("int32", (), array=True) == "[]"


def test_json_in_line_is_always_written() -> None:
    assert to_json(message(field("int32"), field("string", "Text"))) == {"value": 0, "text": ""}


def test_json_tagged_is_written_only_if_it_is_not_the_default() -> None:
    synthetic = message(field("int32", presence="tagged", tag=0, compact=True, default=-1), flexible=True)
    assert to_json(synthetic) == {}
    assert to_json(synthetic, 0) == {"value": 0}


def test_json_tagged_nullable_structs_of_section_6_5() -> None:
    value = NullableStructMessage(a=None, b=Pair("a", 1), c=None, d=None)
    written = struct_to_json(value, nullable_struct_message(1).layout, message_name="N", version=1)
    assert written == {"a": None, "b": {"text": "a", "number": 1}, "d": None}


@pytest.mark.parametrize("ignorable", [False, True])
def test_json_absent(ignorable: bool) -> None:
    synthetic = message(field("int32", presence="absent", ignorable=ignorable))
    assert to_json(synthetic) == {}
    if ignorable:
        assert to_json(synthetic, 5) == {}
    else:
        error = refused(synthetic, 5)
        assert (error.kind, error.path) == ("unsupported_field", "value")


@pytest.mark.parametrize("type_", ["string", "bytes", "records"])
def test_json_null(type_: str) -> None:
    assert text_of(type_, None, nullable=True, ever_nullable=True) == "null"
    error = refused(message(field(type_)), None)
    assert (error.kind, error.path) == ("null", "value")


def test_json_null_in_arrays() -> None:
    assert text_of("int8", None, array=True, nullable=True) == "null"
    assert refused(message(field("int8", array=True)), None).kind == "null"
    error = refused(message(field("string", array=True)), ("a", None))
    assert (error.kind, error.path) == ("null", "value[1]")


def test_json_bool() -> None:
    assert (text_of("bool", True), text_of("bool", False)) == ("true", "false")


class Color(IntEnum):
    RED = 7


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("int8", -128, "-128"),
        ("int64", -(2**63), "-9223372036854775808"),
        ("uint32", 2**32 - 1, "4294967295"),
        ("int32", Color.RED, "7"),
        ("int8", True, "1"),
    ],
)
def test_json_int(type_: str, value: int, text: str) -> None:
    assert text_of(type_, value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (1, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (math.nan, '"NaN"'),
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
    ],
)
def test_json_float(value: float, text: str) -> None:
    assert text_of("float64", value) == text


def test_json_string() -> None:
    assert to_json(message(field("string")), 'a"€\n') == {"value": 'a"€\n'}


def test_json_uuid() -> None:
    assert text_of("uuid", Uuid()) == '"AAAAAAAAAAAAAAAAAAAAAA"'
    assert text_of("uuid", bytes.fromhex("1f728a38ee134cf6825ad1269b7bd6ec")) == '"H3KKOO4TTPaCWtEmm3vW7A"'


@pytest.mark.parametrize(
    ("value", "text"), [(b"", '""'), (b"\xfb\xff", '"+/8="'), (b"a" * 60, '"' + "YWFh" * 20 + '"')]
)
def test_json_bytes(value: bytes, text: str) -> None:
    assert text_of("bytes", value) == text


def test_json_records_are_base64_and_nothing_is_lost() -> None:
    """Kafka writes an empty string here; see docs/deviations.md."""
    assert text_of("records", b"\xfb\xff") == '"+/8="'


def test_json_unknown_tags() -> None:
    synthetic = message(field("int8"), flexible=True)
    assert to_json(synthetic, 1, ((5, b"x"),)) == {"value": 1}


@pytest.mark.parametrize(
    ("type_", "more", "value", "kind", "path"),
    [
        ("int8", {}, 200, "range", "value"),
        ("string", {}, "\ud800", "utf8", "value"),
        ("string", {"array": True}, "text", "type", "value"),
        ("int8", {"array": True}, (1, 300), "range", "value[1]"),
        ("uuid", {}, b"short", "length", "value"),
    ],
)
def test_illegal_values_are_refused_as_on_the_wire(
    type_: str, more: dict[str, object], value: object, kind: str, path: str
) -> None:
    error = refused(message(field(type_, **more)), value)
    assert (error.kind, error.path) == (kind, path)


def test_paths_lead_through_structs() -> None:
    inner = message(field("int8", "Number"))
    outer = message(field(STRUCT, array=True, struct=inner.layout), M=inner.cls)
    assert refused(outer, (inner(), inner(300))).path == "value[1].number"
    assert refused(outer, (inner(), 7)).path == "value[1]"
