"""JSON to messages."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout
from kafkawire.layout.fault import FaultError
from kafkawire.layout.kinds import unexpected
from kafkawire.wire.errors import DecodeError

S = TypeVar("S", bound=msgspec.Struct)


def struct_from_json(message_cls: type[S], layout: StructLayout, obj: object, *, message_name: str, version: int) -> S:
    """Read the JSON form of a message; unknown keys are ignored (json-read-extra).

    Args:
        message_cls: the class of the message, with the classes of its structs as attributes.
        layout: the layout of the version.
        obj: what a JSON parser returns.
        message_name: Kafka's name of the message, for errors.
        version: the version, for errors.

    Raises:
        DecodeError: of kind ``json``, if the JSON is not a message of the version; its path has the names of the JSON.
    """
    try:
        return _JsonReader(message_cls, version).struct(message_cls, layout, obj)
    except FaultError as fault:
        raise DecodeError("json", fault.reason, message_name=message_name, version=version, path=fault.path) from None


class _JsonReader:
    """Reads the parts of one message; its class has the classes of its structs."""

    def __init__(self, message_cls: type[msgspec.Struct], version: int) -> None:
        self._message_cls = message_cls
        self._version = version

    def struct(self, cls: type[S], layout: StructLayout, obj: object) -> S:
        if not isinstance(obj, dict):
            raise unexpected("an object", obj)
        values: dict[str, object] = {}
        for field in layout.fields:
            try:
                if field.json_name in obj or field.presence == "inline":
                    values[field.attribute] = self._field(field, obj)
            except FaultError as fault:
                fault.inside_field(field.json_name)
                raise
        return cls(**values)

    def _field(self, field: FieldLayout, struct: dict[str, object]) -> object:
        if field.json_name not in struct:
            # json-read-missing: a nullable field must be there too, as null.
            raise FaultError("json", f"the key {field.json_name!r} is missing")
        obj = struct[field.json_name]
        if obj is None:
            # json-read-null: null in any version is enough; encoding is strict about it.
            if not field.ever_nullable:
                raise FaultError("json", "null is not allowed here")
            return None
        return self._array(field, obj) if field.array else self._element(field, obj)

    def _array(self, field: FieldLayout, obj: object) -> tuple[object, ...]:
        if not isinstance(obj, list):
            raise unexpected("an array", obj)
        elements: list[object] = []
        try:
            for element in obj:
                elements.append(self._element(field, element))  # noqa: PERF401 - its length says where it fails
        except FaultError as fault:
            fault.inside_element(len(elements))
            raise
        return tuple(elements)

    def _element(self, field: FieldLayout, obj: object) -> object:
        if field.type != STRUCT:
            return FIELD_TYPES[field.type].from_json(obj)
        if field.struct is None:
            # json-read-extra: values of absent fields are read, but a struct that the version lacks has no layout.
            raise FaultError("json", f"version {self._version} has no such struct")
        cls: type[msgspec.Struct] = getattr(self._message_cls, field.struct.name)
        return self.struct(cls, field.struct, obj)
