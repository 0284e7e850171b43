"""What the value of a field may be, and when it counts as the default: shared by reference codec and JSON form."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsFloat

import msgspec

from kafkawire.layout import STRUCT, FieldLayout, FieldType

UNKNOWN_TAGS = "unknown_tagged_fields"
"""The attribute of every struct that holds its unknown tagged fields as (tag, payload) pairs."""

LARGEST_TAG = 0x7FFFFFFE
"""The largest tag number that Apache Kafka can write."""

_OCTETS = (bytes, bytearray, memoryview)


class IllegalValueError(Exception):
    """A value that a field cannot have; the caller knows which field it is.

    Attributes:
        kind: as in :class:`kafkawire.wire.errors.EncodeError`.
        reason: what is wrong, in one sentence, without the contents of texts and octets.
    """

    def __init__(self, kind: str, reason: str) -> None:
        self.kind = kind
        self.reason = reason
        super().__init__(reason)


def legal_value(type_: FieldType, value: object) -> bool | int | float | bytes | str:
    """A value of a primitive type in the plain form of its domain.

    Raises:
        IllegalValueError: if the value is not of the type or outside its range.
    """
    match type_.domain:
        case "bool":
            return _bool(value)
        case "int":
            return _integer(type_, value)
        case "float":
            return _float(value)
        case "uuid":
            return _uuid(value)
        case "text":
            return _utf8(type_, value).decode()
        case "octets":
            return _octets(type_, value)


def legal_octets(type_: FieldType, value: object) -> bytes:
    """What stands behind the length of a value of variable length: its UTF-8 form or its octets.

    Raises:
        IllegalValueError: if the value is not of the type or too long.
    """
    return _utf8(type_, value) if type_.domain == "text" else _octets(type_, value)


def array_elements(value: object) -> Sequence[object]:
    """The elements of an array.

    Raises:
        IllegalValueError: if the value is not a sequence; a string is not one, nor are octets.
    """
    if isinstance(value, str):
        raise IllegalValueError("type", "a lone string is not an array; did you forget a comma?")
    if isinstance(value, msgspec.Struct):
        raise IllegalValueError("type", f"a lone {type(value).__name__} is not an array; did you forget a comma?")
    if isinstance(value, _OCTETS) or not isinstance(value, Sequence):
        raise IllegalValueError("type", f"expected a sequence, not {kind_of(value)}")
    return value


def is_default(owner: msgspec.Struct, field: FieldLayout, value: object) -> bool:
    """Whether a field of ``owner`` is at its default (value-equals-default, 7.1).

    Raises:
        IllegalValueError: if the field is an array and the value is not.
    """
    if value is None or field.default is None:
        return value is None and field.default is None
    if field.array:
        return len(array_elements(value)) == 0
    if field.type == STRUCT:
        return _same(value, getattr(type(owner)(), field.attribute))
    return bool(value == field.default)


def kind_of(value: object) -> str:
    """How to name a value in an error without quoting it."""
    return "None" if value is None else f"{type(value).__name__}"


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise IllegalValueError("type", f"expected True or False, not {kind_of(value)}")
    return value


def _integer(type_: FieldType, value: object) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise IllegalValueError("type", f"expected an integer, not {kind_of(value)}") from None
    if not type_.minimum <= number <= type_.maximum:
        shown = str(number) if number.bit_length() <= 128 else f"an integer of {number.bit_length()} bits"
        raise IllegalValueError("range", f"{shown} is outside {type_.name}, {type_.minimum} to {type_.maximum}")
    return number


def _float(value: object) -> float:
    if not isinstance(value, SupportsFloat):
        raise IllegalValueError("type", f"expected a number, not {kind_of(value)}")
    try:
        return float(value)
    except OverflowError:
        raise IllegalValueError("range", "the integer is too large for a floating-point number") from None


def _uuid(value: object) -> bytes:
    if not isinstance(value, _OCTETS):
        raise IllegalValueError("type", f"expected a uuid, not {kind_of(value)}")
    octets = bytes(value)
    if len(octets) != 16:
        raise IllegalValueError("length", f"a uuid has 16 bytes, not {len(octets)}")
    return octets


def _utf8(type_: FieldType, value: object) -> bytes:
    if not isinstance(value, str):
        raise IllegalValueError("type", f"expected a string, not {kind_of(value)}")
    try:
        octets = value.encode()
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is a lone surrogate, which UTF-8 cannot carry"
        raise IllegalValueError("utf8", reason) from None
    if len(octets) > type_.maximum_length:
        raise IllegalValueError(
            "length", f"the string takes {len(octets)} bytes, at most {type_.maximum_length} are allowed"
        )
    return octets


def _octets(type_: FieldType, value: object) -> bytes:
    if not isinstance(value, _OCTETS):
        raise IllegalValueError("type", f"expected bytes, not {kind_of(value)}")
    octets = bytes(value)
    if len(octets) > type_.maximum_length:
        raise IllegalValueError("length", f"there are {len(octets)} bytes, at most {type_.maximum_length} are allowed")
    return octets


def _same(left: object, right: object) -> bool:
    """Deep equality as in 7.1: field by field, unknown tagged fields included; NaN equals nothing.

    Unlike ``==``, which the classes have: there a list differs from a tuple, and NaN equals itself if it is the
    same object.
    """
    if isinstance(left, msgspec.Struct):
        return type(left) is type(right) and all(
            _same(getattr(left, name), getattr(right, name)) for name in left.__struct_fields__
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)
