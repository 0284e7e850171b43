from __future__ import annotations

import pytest

from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.values import ValueType, parse, written


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("boolean", " TRUE ", True),
        ("boolean", "false", False),
        ("int", " 5 ", 5),
        ("int", "+5", 5),
        ("int", "-2147483648", -(2**31)),
        ("short", "32767", 32767),
        ("long", "9223372036854775807", 2**63 - 1),
        ("double", "1e-3", 0.001),
        ("double", "0x1p-3", 0.125),
        ("double", "0.5d", 0.5),
        ("double", ".5", 0.5),
        ("list", "a , b,a", ("a", "b", "a")),
        ("list", "", ()),
        ("list", "\x00a\t,\x1fb ", ("a", "b")),
        ("string", "\u00a0x", "\u00a0x"),
        ("list", "a,,b", ("a", "", "b")),
        ("string", " x ", "x"),
        ("class", "module:Class", "module:Class"),
        ("password", " secret ", " secret "),
        ("int", None, None),
    ],
)
def test_texts_have_their_meaning_in_kafka(kind: ValueType, text: str | None, value: Value) -> None:
    assert parse("name", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("boolean", "yes", "Expected value to be either true or false"),
        ("int", "", "Not a number of type INT"),
        ("int", "2147483648", "Not a number of type INT"),
        ("int", "1_0", "Not a number of type INT"),
        ("int", "9" * 5000, "Not a number of type INT"),
        ("short", "70000", "Not a number of type SHORT"),
        ("long", "1e3", "Not a number of type LONG"),
        ("double", "x", "Not a number of type DOUBLE"),
        ("double", "1_0.5", "Not a number of type DOUBLE"),
    ],
)
def test_invalid_values_are_reported_with_kafkas_message(kind: ValueType, text: str, reason: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        parse("name", kind, text)
    assert str(raised.value) == f"Invalid value {text} for configuration name: {reason}"


def test_long_runs_of_blanks_take_no_time() -> None:
    assert parse("name", "list", "a" + " " * 1_000_000 + "b") == ("a" + " " * 1_000_000 + "b",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (5, "5"),
        (0.5, "0.5"),
        (1e-5, "1.0E-5"),
        (1e7, "1.0E7"),
        (12345678.0, "1.2345678E7"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (0.001, "0.001"),
        (0.0009, "9.0E-4"),
        (float("inf"), "Infinity"),
        (("a", "b"), "a,b"),
        ("x", "x"),
    ],
)
def test_values_are_written_as_java_writes_them(value: Value, text: str | None) -> None:
    assert written(value) == text
