"""JSON to messages."""

from __future__ import annotations

import json
import math
import struct

import pytest
from tests.made.messages import NullableStructMessage, Pair, Synthetic, field, message, nullable_struct_message

from kafkawire.layout import FIELD_TYPES, STRUCT, StructLayout, Uuid
from kafkawire.wire.errors import DecodeError
from kafkawire.wire.json_form import struct_from_json


def from_json(synthetic: Synthetic, text: str) -> object:
    return struct_from_json(
        synthetic.cls,
        synthetic.layout,
        json.loads(text),
        message_name=synthetic.layout.name,
        version=synthetic.version,
    )


def value_of(type_: str, text: str, **more: object) -> object:
    """The value that a field gets from the JSON text."""
    return from_json(message(field(type_, **more)), f'{{"value": {text}}}').value  # type: ignore[attr-defined]


def refused(synthetic: Synthetic, text: str) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        from_json(synthetic, text)
    assert caught.value.kind == "json"
    assert caught.value.offset is None
    return caught.value


def refused_value(type_: str, text: str, **more: object) -> DecodeError:
    return refused(message(field(type_, **more)), f'{{"value": {text}}}')


def test_json_read_missing() -> None:
    assert str(refused(message(field("int8")), "{}")) == "M v0: value: the key 'value' is missing"
    assert refused(message(field("string", nullable=True, ever_nullable=True)), "{}").path == "value"
    tagged = message(field("int8", presence="tagged", tag=0, compact=True, default=-1), flexible=True)
    assert from_json(tagged, "{}") == tagged(-1)
    absent = message(field("int8", presence="absent", default=-1))
    assert from_json(absent, "{}") == absent(-1)


def test_json_read_extra_unknown_keys_are_ignored() -> None:
    single = message(field("int8"))
    assert from_json(single, '{"value": 1, "other": [1], "Value": 9, "unknownTaggedFields": [[1, "x"]]}') == single(1)


@pytest.mark.parametrize(
    ("type_", "more", "text", "value"),
    [
        ("int8", {}, "5", 5),
        ("string", {}, '"a"', "a"),
        ("bytes", {}, '"YQ=="', b"a"),
        ("uuid", {}, '"AAAAAAAAAAAAAAAAAAAAAQ"', Uuid(bytes(15) + b"\x01")),
        ("int32", {"array": True}, "[1, 2]", (1, 2)),
        (STRUCT, {"array": True}, "[]", ()),
        (STRUCT, {"ever_nullable": True}, "null", None),
    ],
)
def test_json_read_extra_fields_of_other_versions_are_read(
    type_: str, more: dict[str, object], text: str, value: object
) -> None:
    inner = message()
    shape = field(type_, presence="absent", **more)
    absent = Synthetic(message(shape, M=inner.cls).cls, StructLayout("M", (shape,), False))
    assert from_json(absent, f'{{"value": {text}}}') == absent(value)


@pytest.mark.parametrize(("more", "text"), [({}, "{}"), ({"array": True}, "[{}]")])
def test_json_read_extra_structs_of_other_versions_are_refused(more: dict[str, object], text: str) -> None:
    shape = field(STRUCT, presence="absent", **more)
    error = refused(message(shape), f'{{"value": {text}}}')
    assert error.reason == "version 0 has no such struct"


def test_json_read_null() -> None:
    """Legal in any version is enough; the wire is stricter."""
    assert value_of("string", "null", nullable=True, ever_nullable=True) is None
    assert value_of("string", "null", ever_nullable=True) is None
    assert value_of("int8", "null", array=True, ever_nullable=True) is None
    for type_ in ("string", "bytes", "records", "int8", "bool", "uuid", "float64"):
        assert refused_value(type_, "null").reason == "null is not allowed here"
    assert refused_value("string", '["a", null]', array=True, ever_nullable=True).path == "value[1]"


def test_json_read_bool() -> None:
    assert value_of("bool", "true") is True
    for text in ("1", "0", '"true"', "[]", "1.0"):
        assert refused_value("bool", text).reason.startswith("expected true or false, not ")


@pytest.mark.parametrize(
    ("type_", "low", "high"),
    [
        ("int8", -128, 127),
        ("int16", -32768, 32767),
        ("uint16", 0, 65535),
        ("int32", -(2**31), 2**31 - 1),
        ("uint32", 0, 2**32 - 1),
        ("int64", -(2**63), 2**63 - 1),
    ],
)
def test_json_read_int(type_: str, low: int, high: int) -> None:
    assert value_of(type_, str(low)) == low
    assert value_of(type_, str(high)) == high
    for text in (str(low - 1), str(high + 1), "5.0", "5e0", "true", '"5"', "[5]"):
        assert refused_value(type_, text).path == "value"


@pytest.mark.parametrize("text", ["128", "200", "256"])
def test_json_read_int_without_the_quirk_of_int8(text: str) -> None:
    """Kafka takes 128 to 256 and subtracts 128; see docs/deviations.md."""
    assert refused_value("int8", text).reason == f"{text} is outside int8, -128 to 127"


def test_json_read_float() -> None:
    assert value_of("float64", "1.0") == 1.0
    assert value_of("float64", "1e0") == 1.0
    assert value_of("float64", "1e400") == math.inf
    for text in ("1", "true", '"1.0"', '"nan"', '"+Infinity"', '"inf"', '""'):
        assert refused_value("float64", text).reason.startswith("expected a number with a fraction or an exponent")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_json_float_that_json_lacks_is_read_as_it_was_written(number: float) -> None:
    """Kafka writes these strings but refuses to read them; see docs/deviations.md."""
    to_json = FIELD_TYPES["float64"].to_json
    assert to_json is not None
    read = value_of("float64", json.dumps(to_json(number)))
    assert isinstance(read, float)
    assert struct.pack(">d", read) == struct.pack(">d", number)


def test_json_read_uuid() -> None:
    expected = Uuid.from_text("H3KKOO4TTPaCWtEmm3vW7A")
    for text in ("H3KKOO4TTPaCWtEmm3vW7A", "H3KKOO4TTPaCWtEmm3vW7A==", "H3KKOO4TTPaCWtEmm3vW7B"):
        read = value_of("uuid", f'"{text}"')
        assert read == expected
        assert isinstance(read, Uuid)
    for text in ('"H3KKOO4TTPaCWtEmm3vW7A="', '"H3KK"', '"H3KKOO4TTPaCWtEmm3vW7+"', '""', "7", '"a b"'):
        assert refused_value("uuid", text).path == "value"


@pytest.mark.parametrize("type_", ["bytes", "records"])
def test_json_read_bytes_and_json_read_records(type_: str) -> None:
    assert value_of(type_, '"+/8="') == b"\xfb\xff"
    assert value_of(type_, '""') == b""
    for text in ('"+/8"', '"-_8="', '"+/\\n8="', '" +/8="', '"+/8=+/8="', '"="', '"é"', "[1]", "7"):
        assert refused_value(type_, text).path == "value"


def test_json_read_string_and_json_read_array() -> None:
    assert value_of("string", '"a€"') == "a€"
    assert refused_value("string", "7").reason == "expected a string, not an integer"
    assert value_of("string", '["a"]', array=True) == ("a",)
    assert refused_value("string", '"a"', array=True).reason == "expected an array, not a string"
    assert refused_value("string", '{"a": 1}', array=True).reason == "expected an array, not an object"


def test_structs_are_objects() -> None:
    single = message(field("int8"))
    for text, kind in (
        ("[]", "an array"),
        ("null", "null"),
        ("true", "a boolean"),
        ("1.5", "a number with a fraction"),
    ):
        error = refused(single, text)
        assert (error.path, error.reason) == ("", f"expected an object, not {kind}")


def test_invalid_json_is_refused() -> None:
    single = message(field("int8"))
    with pytest.raises(DecodeError, match="expected an object, not bytes"):
        struct_from_json(single.cls, single.layout, b"{}", message_name="M", version=0)


def test_nested_structs_of_section_6_5() -> None:
    synthetic = nullable_struct_message(1)
    text = '{"a": null, "b": {"text": "a", "number": 1}, "d": null}'
    assert from_json(synthetic, text) == NullableStructMessage(None, Pair("a", 1), None, None)


def test_paths_lead_through_structs() -> None:
    inner = message(field("int8", "Number"))
    outer = message(field(STRUCT, array=True, struct=inner.layout), M=inner.cls)
    assert from_json(outer, '{"value": [{"number": 1}]}') == outer((inner(1),))
    assert refused(outer, '{"value": [{"number": 1}, {}]}').path == "value[1].number"
    assert refused(outer, '{"value": [null]}').path == "value[0]"


def test_errors_never_quote_the_value() -> None:
    for type_ in ("bool", "int32", "float64", "uuid", "bytes"):
        assert "hunter2" not in str(refused_value(type_, '"hunter2"'))
