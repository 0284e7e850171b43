"""Example values of a message at one version: extremes and seeded random ones.

Every example is legal in the version of its layout: fields that the version lacks keep their defaults, null is
only where the version allows it, integers are in range. So each one encodes and comes back equal. (Not-a-number is
left out because it equals nothing, itself included.) For shrinking searches see ``kafkawire.wire.strategies``.
"""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Mapping
from typing import Protocol, TypeVar

import msgspec

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, FieldType, StructLayout, Uuid
from kafkawire.wire.values import FIRST_UNKNOWN_TAG, LARGEST_TAG

S = TypeVar("S", bound=msgspec.Struct)

UnknownTags = tuple[tuple[int, bytes], ...]

_LARGEST_FLOAT = {4: 3.4028234663852886e38, 8: sys.float_info.max}
"""Largest finite number of a float type by its size in bytes."""

_LETTERS = "abcXYZ019 _-./\x00\x7f\u0080é\u07ff\u0800€\ufffd\U00010000\U0001f600\U0010ffff"
"""Letters of one to four UTF-8 bytes, with the first and last of each length."""


class _Choices(Protocol):
    """Decides everything that a layout leaves open."""

    def leaves_default(self, field: FieldLayout) -> bool:
        """Whether a tagged field stays at its default, that is, off the wire."""

    def is_null(self, field: FieldLayout) -> bool:
        """Whether a field that is nullable in the version is null."""

    def count(self, field: FieldLayout) -> int:
        """How many elements an array has."""

    def value(self, type_: FieldType) -> object:
        """A value of a primitive type."""

    def unknown_tags(self) -> UnknownTags:
        """The unknown tagged fields of a struct whose version is flexible."""


def extreme_instances(message_cls: type[S], layout: StructLayout) -> dict[str, S]:
    """The corner values of a message at the version of ``layout``, by name.

    ``default`` has all fields at their defaults, ``nulls`` null wherever the version allows it, ``minimum`` and
    ``maximum`` the least and the greatest value everywhere; all but the first fill their arrays and tagged fields.
    A ``default`` whose structs hold a non-nullable ``records`` field cannot be encoded (null-encode-refused).
    """
    corners: Mapping[str, _Choices] = {"nulls": _Nulls(), "minimum": _Minimum(), "maximum": _Maximum()}
    made = {name: _instance(message_cls, message_cls, layout, choices) for name, choices in corners.items()}
    return {"default": message_cls()} | made


def random_instance(
    rng: random.Random, message_cls: type[S], layout: StructLayout, *, unknown_tags: bool = True
) -> S:  # fmt: skip
    """A random legal value of a message; equal seeds give equal values.

    Args:
        rng: the source of randomness.
        message_cls: the class of the message, with the classes of its structs as attributes.
        layout: the layout of the version.
        unknown_tags: whether flexible structs sometimes carry unknown tagged fields. Kafka's JSON form does not
            keep them, so suites that compare JSON switch them off.
    """
    return _instance(message_cls, message_cls, layout, _Random(rng, with_unknown_tags=unknown_tags))


def _instance(message_cls: type[msgspec.Struct], struct_cls: type[S], layout: StructLayout, choices: _Choices) -> S:
    values: dict[str, object] = {}
    for field in layout.fields:
        if field.presence == "absent" or (field.presence == "tagged" and choices.leaves_default(field)):
            continue
        values[field.attribute] = _field_value(message_cls, field, choices)
    if layout.flexible:
        values["unknown_tagged_fields"] = choices.unknown_tags()
    return struct_cls(**values)


def _field_value(message_cls: type[msgspec.Struct], field: FieldLayout, choices: _Choices) -> object:
    if field.nullable and choices.is_null(field):
        return None
    if field.array:
        return tuple(_element(message_cls, field, choices) for _ in range(choices.count(field)))
    return _element(message_cls, field, choices)


def _element(message_cls: type[msgspec.Struct], field: FieldLayout, choices: _Choices) -> object:
    if field.struct is None:
        return choices.value(FIELD_TYPES[field.type])
    return _instance(message_cls, getattr(message_cls, field.struct.name), field.struct, choices)


class _Minimum:
    """The least value everywhere; arrays have one element, so that nested fields are seen too."""

    def leaves_default(self, field: FieldLayout) -> bool:
        return False

    def is_null(self, field: FieldLayout) -> bool:
        return False

    def count(self, field: FieldLayout) -> int:
        return 1

    def value(self, type_: FieldType) -> object:
        match type_.domain:
            case "bool":
                return False
            case "int":
                return type_.minimum
            case "float":
                return -_LARGEST_FLOAT[type_.size or 8]
            case "uuid":
                return Uuid()
            case "text":
                return ""
        return b""

    def unknown_tags(self) -> UnknownTags:
        return ()


class _Nulls(_Minimum):
    """Null wherever the version allows it."""

    def is_null(self, field: FieldLayout) -> bool:
        return True


class _Maximum(_Minimum):
    """The greatest value everywhere; texts and octets are long enough for a length of two bytes."""

    def count(self, field: FieldLayout) -> int:
        return 2

    def value(self, type_: FieldType) -> object:
        match type_.domain:
            case "bool":
                return True
            case "int":
                return type_.maximum
            case "float":
                return _LARGEST_FLOAT[type_.size or 8]
            case "uuid":
                return Uuid(b"\xff" * 16)
            case "text":
                return "\U0010ffff" * 40
        return b"\xff" * 200


class _Random:
    """Seeded chance, with a liking for edges."""

    def __init__(self, rng: random.Random, *, with_unknown_tags: bool) -> None:
        self._rng = rng
        self._with_unknown_tags = with_unknown_tags

    def leaves_default(self, field: FieldLayout) -> bool:
        return self._rng.random() < 0.3

    def is_null(self, field: FieldLayout) -> bool:
        return self._rng.random() < 0.25

    def count(self, field: FieldLayout) -> int:
        if field.type != STRUCT and self._rng.random() < 0.03:
            return self._rng.randint(126, 130)
        return self._rng.choice((0, 1, 1, 2, 3))

    def value(self, type_: FieldType) -> object:
        rng = self._rng
        match type_.domain:
            case "bool":
                return rng.random() < 0.5
            case "int":
                return self._integer(type_)
            case "float":
                return self._finite_float(type_)
            case "uuid":
                return Uuid(rng.choice((bytes(16), b"\xff" * 16, rng.randbytes(16), rng.randbytes(16))))
            case "text":
                return "".join(rng.choices(_LETTERS, k=self._length()))
        return rng.randbytes(self._length())

    def unknown_tags(self) -> UnknownTags:
        if not self._with_unknown_tags or self._rng.random() < 0.8:
            return ()
        tags = {self._rng.choice((FIRST_UNKNOWN_TAG, self._rng.randint(FIRST_UNKNOWN_TAG, LARGEST_TAG), LARGEST_TAG))
                for _ in range(self._rng.randint(1, 3))}  # fmt: skip
        return tuple((tag, self._rng.randbytes(self._length())) for tag in sorted(tags))

    def _integer(self, type_: FieldType) -> int:
        edges = (type_.minimum, type_.maximum, 0, max(type_.minimum, -1), 1)
        return self._rng.choice((*edges, self._rng.randint(type_.minimum, type_.maximum)))

    def _finite_float(self, type_: FieldType) -> float:
        while True:
            (number,) = struct.unpack(f">{type_.code}", self._rng.randbytes(type_.size or 8))
            if math.isfinite(number):
                return float(number) if self._rng.random() < 0.8 else self._rng.choice((0.0, -0.0, 1.0, -1.0))

    def _length(self) -> int:
        """Mostly short; sometimes around 127 and 128, where a compact length grows to two bytes."""
        return self._rng.randint(120, 132) if self._rng.random() < 0.03 else self._rng.choice((0, 1, 2, 3, 8))
