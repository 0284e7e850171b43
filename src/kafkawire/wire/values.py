"""Checks of structs, arrays and defaults that the reference codec and the JSON form share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from kafkawire.layout import STRUCT, FieldLayout
from kafkawire.layout.fault import FaultError
from kafkawire.layout.kinds import OCTETS, kind_of

S = TypeVar("S", bound=msgspec.Struct)

UNKNOWN_TAGS = "unknown_tagged_fields"
"""The attribute of every struct that holds its unknown tagged fields as (tag, payload) pairs."""

LARGEST_TAG = 0x7FFFFFFE
"""The largest tag number that Apache Kafka can write."""

FIRST_UNKNOWN_TAG = 1000
"""Unknown tags of examples begin here: a lower tag may be one that the struct has in another version, which Apache
Kafka rejects (tagged-read-wrong-version)."""


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
    if isinstance(value, OCTETS) or not isinstance(value, Sequence):
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
