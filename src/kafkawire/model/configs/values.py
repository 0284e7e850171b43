"""Texts of configurations and their values: Kafka's ``ConfigDef.Type``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.java_numbers import java_double

ValueType: TypeAlias = Literal["boolean", "string", "int", "short", "long", "double", "list", "class", "password"]
"""The types of values."""

_BITS: Final[Mapping[str, int]] = MappingProxyType({"short": 16, "int": 32, "long": 64})
_BLANKS: Final = "".join(map(chr, range(0x21)))
"""The characters that Java trims."""

_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?))", re.ASCII)
_HEXADECIMAL_DOUBLE = re.compile(r"[+-]?0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?", re.ASCII)


def parse(name: str, kind: ValueType, text: str | None) -> Value:
    """The value of a text.

    Args:
        name: of the configuration, for errors.
        kind: its type.
        text: the text; None for no value of any type.

    Raises:
        InvalidValueError: it is not a text of the type.
    """
    if text is None:
        return None
    if kind == "password":
        return text
    text = text.strip(_BLANKS)
    match kind:
        case "boolean":
            return _boolean(name, text)
        case "int" | "short" | "long":
            return _integer(name, kind, text)
        case "double":
            return _double(name, text)
        case "list":
            return tuple(entry.strip(_BLANKS) for entry in text.split(",")) if text else ()
        case _:
            return text


def written(value: Value) -> str | None:
    """The text of a value as Kafka shows it."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return java_double(value)
        case tuple():
            return ",".join(value)
        case _:
            return str(value)


def _boolean(name: str, text: str) -> bool:
    match text.lower():
        case "true":
            return True
        case "false":
            return False
    raise InvalidValueError.of(name, text, "Expected value to be either true or false")


def _integer(name: str, kind: str, text: str) -> int:
    if _INTEGER.fullmatch(text) and len(text) < 64:
        value, limit = int(text), 1 << (_BITS[kind] - 1)
        if -limit <= value < limit:
            return value
    raise InvalidValueError.of(name, text, f"Not a number of type {kind.upper()}")


def _double(name: str, text: str) -> float:
    if _DOUBLE.fullmatch(text):
        return float(text.rstrip("fFdD") if text[-1] in "fFdD" else text)
    if _HEXADECIMAL_DOUBLE.fullmatch(text):
        try:
            return float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
        except OverflowError:
            return math.copysign(math.inf, -1 if text.startswith("-") else 1)
    raise InvalidValueError.of(name, text, "Not a number of type DOUBLE")
