"""What the value of a field may be, and when it counts as the default: shared by reference codec and JSON form."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsFloat, TypeVar

import msgspec

from kafkawire.layout import STRUCT, FieldLayout, FieldType
from kafkawire.wire.fault import FaultError

S = TypeVar("S", bound=msgspec.Struct)

UNKNOWN_TAGS = "unknown_tagged_fields"
"""The attribute of every struct that holds its unknown tagged fields as (tag, payload) pairs."""

LARGEST_TAG = 0x7FFFFFFE
"""The largest tag number that Apache Kafka can write."""

_OCTETS = (bytes, bytearray, memoryview)


def legal_value(type_: FieldType, value: object) -> bool | int | float | bytes | str:
    """A value of a primitive type in the plain form of its domain.

    Raises:
        FaultError: if the value is not of the type or outside its range.
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
        FaultError: if the value is not of the type or too long.
    """
    return _utf8(type_, value) if type_.domain == "text" else _octets(type_, value)


def legal_struct(cls: type[S], value: object) -> S:
    """A struct of a class.

    Raises:
        FaultError: if the value is anything else.
    """
    if not isinstance(value, cls):
        raise FaultError("type", f"expected {cls.__qualname__}, not {kind_of(value)}")
    return value


def legal_elements(value: object) -> Sequence[object]:
    """The elements of an array.

    Raises:
        FaultError: if the value is not a sequence; a string is not one, nor are octets.
    """
    if isinstance(value, str):
        raise FaultError("type", "a lone string is not an array; did you forget a comma?")
    if isinstance(value, msgspec.Struct):
        raise FaultError("type", f"a lone {type(value).__name__} is not an array; did you forget a comma?")
    if isinstance(value, _OCTETS) or not isinstance(value, Sequence):
        raise FaultError("type", f"expected a sequence, not {kind_of(value)}")
    return value


def is_default(owner: msgspec.Struct, field: FieldLayout) -> bool:
    """Whether a field of ``owner`` is at its default (value-equals-default).

    Raises:
        FaultError: if the field is an array and its value is not.
    """
    value: object = getattr(owner, field.attribute)
    if value is None or field.default is None:
        return value is None and field.default is None
    if field.array:
        return len(legal_elements(value)) == 0
    if field.type == STRUCT:
        return _same(value, getattr(type(owner)(), field.attribute))
    return bool(value == field.default)


def refuse_loss(owner: msgspec.Struct, field: FieldLayout, version: int) -> None:
    """Let a field that the version lacks pass if it may be dropped (encode-ignorable) or is at its default.

    Raises:
        FaultError: if its value would be lost (encode-non-ignorable).
    """
    if not field.ignorable and not is_default(owner, field):
        reason = f"is set, but version {version} has no such field and it must not be dropped"
        raise FaultError("unsupported_field", reason)


def kind_of(value: object) -> str:
    """How to name a value in an error without quoting it."""
    return "None" if value is None else type(value).__name__


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise FaultError("type", f"expected True or False, not {kind_of(value)}")
    return value


def _integer(type_: FieldType, value: object) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise FaultError("type", f"expected an integer, not {kind_of(value)}") from None
    if not type_.minimum <= number <= type_.maximum:
        shown = str(number) if number.bit_length() <= 128 else f"an integer of {number.bit_length()} bits"
        raise FaultError("range", f"{shown} is outside {type_.name}, {type_.minimum} to {type_.maximum}")
    return number


def _float(value: object) -> float:
    if not isinstance(value, SupportsFloat):
        raise FaultError("type", f"expected a number, not {kind_of(value)}")
    try:
        return float(value)
    except OverflowError:
        raise FaultError("range", "the integer is too large for a floating-point number") from None


def _uuid(value: object) -> bytes:
    if not isinstance(value, _OCTETS):
        raise FaultError("type", f"expected a kafkawire.wire.Uuid or 16 bytes, not {kind_of(value)}")
    octets = bytes(value)
    if len(octets) != 16:
        raise FaultError("length", f"a uuid has 16 bytes, not {len(octets)}")
    return octets


def _utf8(type_: FieldType, value: object) -> bytes:
    if not isinstance(value, str):
        raise FaultError("type", f"expected a string, not {kind_of(value)}")
    try:
        octets = value.encode()
    except UnicodeEncodeError as error:
        reason = f"character {error.start} is a lone surrogate, which UTF-8 cannot carry"
        raise FaultError("utf8", reason) from None
    if len(octets) > type_.maximum_length:
        reason = f"the string takes {len(octets)} bytes, at most {type_.maximum_length} are allowed"
        raise FaultError("length", reason)
    return octets


def _octets(type_: FieldType, value: object) -> bytes:
    if not isinstance(value, _OCTETS):
        raise FaultError("type", f"expected bytes, not {kind_of(value)}")
    try:
        octets = bytes(value)
    except ValueError:
        raise FaultError("type", "the view has been released") from None
    if len(octets) > type_.maximum_length:
        raise FaultError("length", f"there are {len(octets)} bytes, at most {type_.maximum_length} are allowed")
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
