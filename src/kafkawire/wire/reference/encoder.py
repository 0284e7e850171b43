"""Values to bytes, field by field, see docs/reference/wire-format.md."""

from __future__ import annotations

import struct
from collections.abc import Collection

import msgspec

from kafkawire.layout import FIELD_TYPES, FieldLayout, FieldType, StructLayout
from kafkawire.layout.fault import FaultError
from kafkawire.layout.kinds import kind_of
from kafkawire.wire.errors import EncodeError
from kafkawire.wire.values import (
    LARGEST_TAG,
    UNKNOWN_TAGS,
    is_default,
    legal_elements,
    legal_struct,
    refuse_loss,
)

_STRUCT_IS_NULL = b"\xff"
_STRUCT_IS_PRESENT = b"\x01"
_COMPACT_NULL = b"\x00"


def encode_struct(
    value: msgspec.Struct, layout: StructLayout, *, message_name: str, version: int, unknown_tags: bool = True
) -> bytes:
    """Write a message.

    Args:
        value: the message, an instance of a class that has the classes of its structs as attributes.
        layout: the layout of the version.
        message_name: Kafka's name of the message, for errors.
        version: the version, for errors.
        unknown_tags: whether unknown tagged fields are written.

    Raises:
        EncodeError: if the version cannot carry the value, with kind and path.
    """
    out = bytearray()
    try:
        _Writer(type(value), version, unknown_tags=unknown_tags).struct(out, value, layout)
    except FaultError as fault:
        raise EncodeError(
            fault.kind, fault.reason, message_name=message_name, version=version, path=fault.path
        ) from None
    return bytes(out)


class _Writer:
    """Appends the parts of one message to buffers; its class has the classes of its structs."""

    def __init__(self, message_cls: type[msgspec.Struct], version: int, *, unknown_tags: bool) -> None:
        self._message_cls = message_cls
        self._version = version
        self._unknown_tags = unknown_tags

    def struct(self, out: bytearray, value: msgspec.Struct, layout: StructLayout) -> None:
        """In-line fields in file order, then the tagged section (wire-struct, wire-section-everywhere)."""
        for field in layout.fields:
            try:
                if field.presence == "inline":
                    self._inline(out, field, getattr(value, field.attribute))
                elif field.presence == "absent":
                    refuse_loss(value, field, self._version)
            except FaultError as fault:
                fault.inside_field(field.attribute)
                raise
        self._tagged_section(out, value, layout)

    def _inline(self, out: bytearray, field: FieldLayout, value: object) -> None:
        if field.null_marker == "inline":
            out += _STRUCT_IS_NULL if value is None else _STRUCT_IS_PRESENT
            if value is None:
                return
        self._value(out, field, value)

    def _value(self, out: bytearray, field: FieldLayout, value: object) -> None:
        if value is None:
            _null(out, field)
        elif field.array:
            self._array(out, field, legal_elements(value))
        else:
            self._element(out, field, value)

    def _array(self, out: bytearray, field: FieldLayout, elements: Collection[object]) -> None:
        out += _length(len(elements), "i", compact=field.compact)
        for index, element in enumerate(elements):
            try:
                self._element(out, field, element)
            except FaultError as fault:
                fault.inside_element(index)
                raise

    def _element(self, out: bytearray, field: FieldLayout, value: object) -> None:
        if value is None:
            raise FaultError("null", "null is not allowed here")
        if field.struct is not None:
            cls: type[msgspec.Struct] = getattr(self._message_cls, field.struct.name)
            self.struct(out, legal_struct(cls, value), field.struct)
        else:
            _primitive(out, FIELD_TYPES[field.type], value, compact=field.compact)

    def _tagged_section(self, out: bytearray, value: msgspec.Struct, layout: StructLayout) -> None:
        """Known and unknown tagged fields in the order of their tags (tagged-order)."""
        known = {field.tag or 0: field for field in layout.fields if field.presence == "tagged"}
        try:
            unknown = getattr(value, UNKNOWN_TAGS) if self._unknown_tags else ()
            entries = _unknown_entries(unknown, known, flexible=layout.flexible)
        except FaultError as fault:
            fault.inside_field(UNKNOWN_TAGS)
            raise
        for tag, field in known.items():
            try:
                if not is_default(value, field):  # tagged-omit-default
                    entries.append((tag, self._payload(field, getattr(value, field.attribute))))
            except FaultError as fault:
                fault.inside_field(field.attribute)
                raise
        if layout.flexible:
            out += _uvarint(len(entries))
        for tag, payload in sorted(entries):
            out += _uvarint(tag)
            out += _uvarint(len(payload))
            out += payload

    def _payload(self, field: FieldLayout, value: object) -> bytes:
        """A tagged field without tag and size; null is one byte for every type (tagged-null)."""
        out = bytearray()
        if field.null_marker == "tagged":
            # wire-nullable-struct-tagged: the marker of null differs from the one in line.
            if value is None:
                return _COMPACT_NULL
            out += _STRUCT_IS_PRESENT
        self._value(out, field, value)
        return bytes(out)


def _null(out: bytearray, field: FieldLayout) -> None:
    if not field.nullable:
        raise FaultError("null", "null is not allowed here")
    code = "i" if field.array else FIELD_TYPES[field.type].length_code
    out += _COMPACT_NULL if field.compact else struct.pack(f">{code}", -1)


def _primitive(out: bytearray, type_: FieldType, value: object, *, compact: bool) -> None:
    if type_.code is None:
        octets = type_.legal_octets(value)
        out += _length(len(octets), type_.length_code, compact=compact)
        out += octets
        return
    try:
        out += type_.pack(type_.legal(value))
    except OverflowError:
        raise FaultError("range", f"the number is too large for {type_.name}") from None


def _unknown_entries(entries: object, known: Collection[int], *, flexible: bool) -> list[tuple[int, bytes]]:
    """Unknown tagged fields: tags ascend, are in range and none is known (tagged-conflict)."""
    checked = [_unknown_entry(entry) for entry in legal_elements(entries)]
    if checked and not flexible:
        # tagged-unknown-needs-flexible
        raise FaultError("tag", "this version has no tagged fields, so unknown ones would be lost")
    previous = -1
    for tag, _ in checked:
        if tag in known:
            raise FaultError("tag", f"tag {tag} is that of a known field")
        if not previous < tag <= LARGEST_TAG:
            raise FaultError("tag", f"tag {tag} is out of order or not within 0 to {LARGEST_TAG}")
        previous = tag
    return checked


def _unknown_entry(entry: object) -> tuple[int, bytes]:
    if isinstance(entry, (tuple, list)) and len(entry) == 2:
        tag, payload = entry
        if isinstance(tag, int) and isinstance(payload, (bytes, bytearray, memoryview)):
            return tag, bytes(payload)
    raise FaultError("type", f"an unknown tagged field is a pair of tag and bytes, not this {kind_of(entry)}")


def _length(length: int, code: str | None, *, compact: bool) -> bytes:
    """A length or count that is not null; limits are checked with the value (wire-string-limit)."""
    return _uvarint(length + 1) if compact else struct.pack(f">{code}", length)


def _uvarint(number: int) -> bytes:
    """The shortest unsigned varint (wire-uvarint)."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
