"""Values to bytes, field by field (sections 6 and 7 of the definition language)."""

from __future__ import annotations

import struct
from collections.abc import Collection

import msgspec

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, FieldType, StructLayout
from kafkawire.wire.errors import EncodeError
from kafkawire.wire.values import (
    LARGEST_TAG,
    UNKNOWN_TAGS,
    IllegalValueError,
    array_elements,
    is_default,
    kind_of,
    legal_octets,
    legal_value,
)

_STRUCT_IS_NULL = b"\xff"
_STRUCT_IS_PRESENT = b"\x01"
_COMPACT_NULL = b"\x00"


def encode_struct(value: msgspec.Struct, layout: StructLayout, *, message_name: str, version: int) -> bytes:
    """Write a message.

    Args:
        value: the message, an instance of a class that has the classes of its structs as attributes.
        layout: the layout of the version.
        message_name: Kafka's name of the message, for errors.
        version: the version, for errors.

    Raises:
        EncodeError: if the version cannot carry the value, with kind and path.
    """
    out = bytearray()
    _Writer(type(value), message_name, version).struct(out, value, layout, "")
    return bytes(out)


class _Writer:
    """Appends to a buffer; knows the message for the classes of its structs and for errors."""

    def __init__(self, message_cls: type[msgspec.Struct], message_name: str, version: int) -> None:
        self._message_cls = message_cls
        self._message_name = message_name
        self._version = version

    def struct(self, out: bytearray, value: msgspec.Struct, layout: StructLayout, path: str) -> None:
        """In-line fields in file order, then the tagged section (wire-struct, wire-section-everywhere)."""
        for field in layout.fields:
            if field.presence == "inline":
                self._inline(out, field, getattr(value, field.attribute), _join(path, field.attribute))
            elif field.presence == "absent":
                self._refuse_loss(value, field, _join(path, field.attribute))
        if layout.flexible:
            self._tagged_section(out, value, layout, path)
        elif getattr(value, UNKNOWN_TAGS):
            # tagged-unknown-needs-flexible
            reason = "this version has no tagged fields, so unknown ones would be lost"
            raise self._error("tag", reason, _join(path, UNKNOWN_TAGS))

    def _refuse_loss(self, owner: msgspec.Struct, field: FieldLayout, path: str) -> None:
        """Only an ignorable field may be dropped with a value (encode-ignorable, encode-non-ignorable)."""
        if not field.ignorable and not self._is_default(owner, field, path):
            reason = f"is set, but version {self._version} has no such field and it must not be dropped"
            raise self._error("unsupported_field", reason, path)

    def _inline(self, out: bytearray, field: FieldLayout, value: object, path: str) -> None:
        if field.type == STRUCT and not field.array and field.nullable:
            out += _STRUCT_IS_NULL if value is None else _STRUCT_IS_PRESENT
            if value is None:
                return
        self._value(out, field, value, path)

    def _value(self, out: bytearray, field: FieldLayout, value: object, path: str) -> None:
        if value is None:
            self._null(out, field, path)
        elif field.array:
            self._array(out, field, value, path)
        else:
            self._element(out, field, value, path)

    def _null(self, out: bytearray, field: FieldLayout, path: str) -> None:
        if not field.nullable:
            raise self._error("null", "null is not allowed here", path)
        code = "i" if field.array else FIELD_TYPES[field.type].length_code
        out += _COMPACT_NULL if field.compact else struct.pack(f">{code}", -1)

    def _array(self, out: bytearray, field: FieldLayout, value: object, path: str) -> None:
        try:
            elements = array_elements(value)
        except IllegalValueError as fault:
            raise self._error(fault.kind, fault.reason, path) from None
        out += _length(len(elements), "i", compact=field.compact)
        for index, element in enumerate(elements):
            if element is None:
                raise self._error("null", "an element must not be null", f"{path}[{index}]")
            self._element(out, field, element, f"{path}[{index}]")

    def _element(self, out: bytearray, field: FieldLayout, value: object, path: str) -> None:
        if field.struct is not None:
            self.struct(out, self._of_class(value, field.struct.name, path), field.struct, path)
        else:
            self._primitive(out, FIELD_TYPES[field.type], value, path, compact=field.compact)

    def _of_class(self, value: object, name: str, path: str) -> msgspec.Struct:
        cls: type[msgspec.Struct] = getattr(self._message_cls, name)
        if not isinstance(value, cls):
            raise self._error("type", f"expected {cls.__qualname__}, not {kind_of(value)}", path)
        return value

    def _primitive(self, out: bytearray, type_: FieldType, value: object, path: str, *, compact: bool) -> None:
        try:
            if type_.code is not None:
                out += struct.pack(f">{type_.code}", legal_value(type_, value))
                return
            octets = legal_octets(type_, value)
        except IllegalValueError as fault:
            raise self._error(fault.kind, fault.reason, path) from None
        except OverflowError:
            raise self._error("range", f"the number is too large for {type_.name}", path) from None
        out += _length(len(octets), type_.length_code, compact=compact)
        out += octets

    def _tagged_section(self, out: bytearray, value: msgspec.Struct, layout: StructLayout, path: str) -> None:
        """Known and unknown tagged fields in the order of their tags (tagged-order)."""
        known = {field.tag or 0: field for field in layout.fields if field.presence == "tagged"}
        entries = self._unknown_entries(getattr(value, UNKNOWN_TAGS), known.keys(), _join(path, UNKNOWN_TAGS))
        for tag, field in known.items():
            held, where = getattr(value, field.attribute), _join(path, field.attribute)
            if not self._is_default(value, field, where):
                # tagged-omit-default: what equals its default stays off the wire.
                entries.append((tag, self._payload(field, held, where)))
        out += _uvarint(len(entries))
        for tag, payload in sorted(entries):
            out += _uvarint(tag)
            out += _uvarint(len(payload))
            out += payload

    def _payload(self, field: FieldLayout, value: object, path: str) -> bytes:
        """A tagged field without tag and size; null is one byte for every type (tagged-null)."""
        out = bytearray()
        if field.type == STRUCT and not field.array and field.nullable:
            # wire-nullable-struct-tagged: another marker than in line.
            if value is None:
                return _COMPACT_NULL
            out += _STRUCT_IS_PRESENT
        self._value(out, field, value, path)
        return bytes(out)

    def _unknown_entries(self, value: object, known: Collection[int], path: str) -> list[tuple[int, bytes]]:
        """Unknown tagged fields: tags ascend, are in range and none is known (tagged-conflict)."""
        try:
            entries = [_unknown_entry(entry) for entry in array_elements(value)]
        except IllegalValueError as fault:
            raise self._error(fault.kind, fault.reason, path) from None
        previous = -1
        for tag, _ in entries:
            if tag in known:
                raise self._error("tag", f"tag {tag} is that of a known field", path)
            if not previous < tag <= LARGEST_TAG:
                raise self._error("tag", f"tag {tag} is out of order or not within 0 to {LARGEST_TAG}", path)
            previous = tag
        return entries

    def _is_default(self, owner: msgspec.Struct, field: FieldLayout, path: str) -> bool:
        try:
            return is_default(owner, field, getattr(owner, field.attribute))
        except IllegalValueError as fault:
            raise self._error(fault.kind, fault.reason, path) from None

    def _error(self, kind: str, reason: str, path: str) -> EncodeError:
        return EncodeError(kind, reason, message_name=self._message_name, version=self._version, path=path)


def _unknown_entry(entry: object) -> tuple[int, bytes]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise IllegalValueError("type", f"an unknown tagged field is a pair of tag and bytes, not {kind_of(entry)}")
    tag, payload = entry
    if not isinstance(tag, int) or not isinstance(payload, (bytes, bytearray, memoryview)):
        kinds = f"{kind_of(tag)} and {kind_of(payload)}"
        raise IllegalValueError("type", f"an unknown tagged field is a pair of tag and bytes, not {kinds}")
    return tag, bytes(payload)


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


def _join(path: str, attribute: str) -> str:
    return f"{path}.{attribute}" if path else attribute
