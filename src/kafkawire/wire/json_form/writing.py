"""Messages to JSON."""

from __future__ import annotations

import msgspec

from kafkawire.layout import FIELD_TYPES, FieldLayout, FieldType, StructLayout
from kafkawire.layout.fault import FaultError
from kafkawire.wire.errors import EncodeError
from kafkawire.wire.values import is_default, legal_elements, legal_struct, refuse_loss


def struct_to_json(
    value: msgspec.Struct, layout: StructLayout, *, message_name: str, version: int
) -> dict[str, object]:  # fmt: skip
    """The JSON form of a message: keys in file order, unknown tagged fields left out (json-unknown-tags).

    Args:
        value: the message, an instance of a class that has the classes of its structs as attributes.
        layout: the layout of the version.
        message_name: Kafka's name of the message, for errors.
        version: the version, for errors.

    Raises:
        EncodeError: if the version cannot carry the value, with kind and path.
    """
    try:
        return _JsonWriter(type(value), version).struct(value, layout)
    except FaultError as fault:
        raise EncodeError(
            fault.kind, fault.reason, message_name=message_name, version=version, path=fault.path
        ) from None


class _JsonWriter:
    """Knows the class of the message, which has the classes of its structs."""

    def __init__(self, message_cls: type[msgspec.Struct], version: int) -> None:
        self._message_cls = message_cls
        self._version = version

    def struct(self, value: msgspec.Struct, layout: StructLayout) -> dict[str, object]:
        """An object of the fields that the version has; tagged ones only if they are not at their default."""
        written: dict[str, object] = {}
        for field in layout.fields:
            try:
                if field.presence == "absent":
                    refuse_loss(value, field, self._version)
                elif field.presence == "inline" or not is_default(value, field):
                    written[field.json_name] = self._value(field, getattr(value, field.attribute))
            except FaultError as fault:
                fault.inside_field(field.attribute)
                raise
        return written

    def _value(self, field: FieldLayout, value: object) -> object:
        if value is None and field.nullable:
            return None
        if value is None:
            raise FaultError("null", "null is not allowed here")
        return self._array(field, value) if field.array else self._element(field, value)

    def _array(self, field: FieldLayout, value: object) -> list[object]:
        written: list[object] = []
        elements = legal_elements(value)
        try:
            for element in elements:
                written.append(self._element(field, element))  # noqa: PERF401 - its length says where it fails
        except FaultError as fault:
            fault.inside_element(len(written))
            raise
        return written

    def _element(self, field: FieldLayout, value: object) -> object:
        if value is None:
            raise FaultError("null", "null is not allowed here")
        if field.struct is None:
            return _scalar(FIELD_TYPES[field.type], value)
        cls: type[msgspec.Struct] = getattr(self._message_cls, field.struct.name)
        return self.struct(legal_struct(cls, value), field.struct)


def _scalar(type_: FieldType, value: object) -> object:
    legal = type_.legal(value)
    return legal if type_.to_json is None else type_.to_json(legal)
