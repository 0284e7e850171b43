"""Decoded messages to JSON. Their values are legal, so it needs no checks and is several times as fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias, cast

import msgspec

from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout
from kafkawire.wire.message import Message
from kafkawire.wire.values import is_default

StructWriter: TypeAlias = Callable[[msgspec.Struct], dict[str, object]]
"""A function that makes the JSON form of a struct."""

_Convert: TypeAlias = Callable[[object], object]

_KEPT_WRITERS = 1024
"""More than all messages of a release have versions."""


@lru_cache(_KEPT_WRITERS)
def decoded_writer(cls: type[Message], version: int) -> StructWriter:
    """The function that makes the JSON form of messages decoded at a version, as ``message_to_json`` does.

    Args:
        cls: class of the messages.
        version: one of its versions, at which the messages were decoded.
    """
    return struct_writer(cls, cls.layouts().of_version(version))


def struct_writer(message_cls: type[msgspec.Struct], layout: StructLayout) -> StructWriter:
    """As ``decoded_writer``, for a layout.

    Args:
        message_cls: class of the message, which has the classes of its structs as attributes.
        layout: of the message, or of a struct in it.
    """
    fields = [field for field in layout.fields if field.presence != "absent"]
    names = [field.json_name for field in fields]
    values = _values_of([field.attribute for field in fields])
    tagged = [(field.json_name, field) for field in fields if field.presence == "tagged"]
    converted = [
        (field.json_name, convert) for field in fields if (convert := _conversion(message_cls, field)) is not None
    ]

    def write(value: msgspec.Struct) -> dict[str, object]:
        written = dict(zip(names, values(value), strict=True))
        for name, convert in converted:
            if (found := written[name]) is not None:
                written[name] = convert(found)
        for name, field in tagged:
            if is_default(value, field):
                del written[name]
        return written

    return write


def _values_of(attributes: list[str]) -> Callable[[msgspec.Struct], Iterable[object]]:
    match attributes:
        case []:
            return lambda _: ()
        case [attribute]:
            return lambda value: (getattr(value, attribute),)
        case _:
            return attrgetter(*attributes)


def _conversion(message_cls: type[msgspec.Struct], field: FieldLayout) -> _Convert | None:
    """The function that converts a field's value, if not null, to JSON; None if the value is its own JSON form."""
    convert = _element_conversion(message_cls, field)
    return _of_array(convert) if field.array else convert


def _element_conversion(message_cls: type[msgspec.Struct], field: FieldLayout) -> _Convert | None:
    if field.struct is not None:
        return cast("_Convert", struct_writer(message_cls, field.struct))
    return FIELD_TYPES[field.type].to_json


def _of_array(convert: _Convert | None) -> _Convert:
    def write(value: object) -> list[object]:
        elements = cast("Iterable[object]", value)
        return list(elements) if convert is None else list(map(convert, elements))

    return write
