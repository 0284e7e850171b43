"""Rules about the text of a default."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkawire.codegen.check.rule import Problem, Rule, StructScope
from kafkawire.codegen.definition import FieldDefinition
from kafkawire.layout import FIELD_TYPES, Uuid

_INTEGER = re.compile(r"[+-]?[0-9]+|0x[0-9a-fA-F]+")
_OCTAL = re.compile(r"[+-]?0[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_MOST_DIGITS = 40
"""More than any integer type needs; longer numbers are out of range and not computed."""


def _domain(field: FieldDefinition) -> str:
    """The domain of a primitive type, or ``array`` or ``struct``."""
    if field.type.array:
        return "array"
    return "struct" if field.type.is_struct else FIELD_TYPES[field.type.name].domain


def _text(field: FieldDefinition) -> str:
    """The default as written; the empty text is the same as none (default-empty-is-none)."""
    return field.default or ""


def _quoted(text: str) -> str:
    return f'default "{text if len(text) <= 60 else text[:57] + "..."}"'


def _is_octal(text: str) -> bool:
    return _OCTAL.fullmatch(text) is not None


@Rule("default-bool", "The default of a bool is true or false.", 'write "true" or "false"').for_fields(
    "type", "default"
)
def default_bool(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Letter case does not matter."""
    if _domain(field) == "bool" and _text(field).lower() not in ("", "true", "false"):
        yield Problem("default", f"{_quoted(_text(field))} is not a value of type bool")


@Rule(
    "default-int-syntax",
    "The default of an integer is decimal, or 0x and hexadecimal digits.",
    'write it like "-1" or "0x7fffffff"',
).for_fields("type", "default")
def default_int_syntax(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Hexadecimal numbers have a lower-case x and no sign."""
    text = _text(field)
    if _domain(field) == "int" and text and not _INTEGER.fullmatch(text):
        yield Problem("default", f"{_quoted(text)} is not a value of type {field.type}")


@Rule(
    "default-octal",
    "The default of an integer has no leading zero: Java would read it as octal.",
    "remove the leading zeros, or write the number in hexadecimal",
).for_fields("type", "default")
def default_octal(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Kafka's own check reads ``010`` as ten, and its classes then read it as eight."""
    if _domain(field) == "int" and _is_octal(_text(field)):
        yield Problem("default", f"{_quoted(_text(field))} has a leading zero")


@Rule(
    "default-int-range", "The default of an integer fits its type.", "write a number in the range, or widen the type"
).for_fields("type", "default")
def default_int_range(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Hexadecimal numbers are positive: 0xffffffff is not an int32."""
    text = _text(field)
    if _domain(field) != "int" or not _INTEGER.fullmatch(text) or _is_octal(text):
        return
    type_ = FIELD_TYPES[field.type.name]
    fits = len(text) <= _MOST_DIGITS and type_.minimum <= int(text, 16 if "x" in text else 10) <= type_.maximum
    if not fits:
        yield Problem("default", f"{_quoted(text)} is outside {type_.minimum} to {type_.maximum} of {field.type}")


@Rule(
    "default-uuid",
    "The default of a uuid is 16 bytes as URL-safe base64.",
    "write the 22 characters of Kafka's text form",
).for_fields("type", "default")
def default_uuid(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Kafka's generator accepts more than 16 bytes, and its class then fails to load; they are rejected here."""
    text = _text(field)
    if _domain(field) != "uuid" or not text:
        return
    try:
        Uuid.from_text(text)
    except ValueError:
        yield Problem("default", f"{_quoted(text)} is not a value of type uuid")


@Rule(
    "default-float",
    "The default of a float64 is a decimal number, NaN or Infinity.",
    'write it like "0.5", "1e3", "NaN" or "-Infinity"',
).for_fields("type", "default")
def default_float(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Java's suffixes (1.5f) and hexadecimal floats are not accepted: no definition of Kafka has them."""
    text = _text(field)
    if _domain(field) == "float" and text and not _FLOAT.fullmatch(text):
        yield Problem("default", f"{_quoted(text)} is not a value of type float64")


@Rule("default-bytes", "The default of bytes is null or nothing.", 'write "null" or remove "default"').for_fields(
    "type", "default"
)
def default_bytes(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Records are exempt: their default is always null."""
    if str(field.type) == "bytes" and _text(field) not in ("", "null"):
        yield Problem("default", f"{_quoted(_text(field))} is not a default of bytes")


@Rule("default-struct", "The default of a struct is null or nothing.", 'write "null" or remove "default"').for_fields(
    "type", "default"
)
def default_struct(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Otherwise it is the struct with all its fields at their defaults."""
    if _domain(field) == "struct" and _text(field) not in ("", "null"):
        yield Problem("default", f"{_quoted(_text(field))} is not a default of the struct {field.type}")


@Rule("default-array", "The default of an array is null or nothing.", 'write "null" or remove "default"').for_fields(
    "type", "default"
)
def default_array(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Otherwise it is the empty array."""
    if _domain(field) == "array" and _text(field) not in ("", "null"):
        yield Problem("default", f"{_quoted(_text(field))} is not a default of the array {field.type}")


@Rule(
    "default-null-needs-all-nullable",
    "A default of null is legal in every version of the field.",
    'make "nullableVersions" contain "versions", or choose another default',
).for_fields("type", "default", "versions", "nullableVersions")
def null_needs_all_nullable(field: FieldDefinition, scope: StructScope) -> Iterator[Problem]:
    """Records are exempt: their default is always null."""
    if _text(field) != "null" or str(field.type) == "records":
        return
    can_be_null = _domain(field) in ("text", "octets", "array", "struct")
    if can_be_null and not field.nullable_versions.contains(field.versions):
        yield Problem(
            "default",
            f'default null, but versions "{field.versions}" are not all in nullableVersions '
            f'"{field.nullable_versions}"',
        )
