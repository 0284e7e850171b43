"""Messages to JSON."""

from __future__ import annotations

import msgspec

from kafkawire.layout import StructLayout
from kafkawire.wire.json_form.decoded import struct_writer
from kafkawire.wire.reference import decode_struct, encode_struct


def struct_to_json(
    value: msgspec.Struct, layout: StructLayout, *, message_name: str, version: int
) -> dict[str, object]:
    """The JSON form of a message: keys in file order, unknown tagged fields left out (json-unknown-tags).

    The message is encoded and decoded again, which checks all values and gives each its plain form.

    Args:
        value: the message, an instance of a class that has the classes of its structs as attributes.
        layout: the layout of the version.
        message_name: Kafka's name of the message, for errors.
        version: the version, for errors.

    Raises:
        EncodeError: if the version cannot carry the value, with kind and path.
    """
    cls = type(value)
    octets = encode_struct(value, layout, message_name=message_name, version=version, unknown_tags=False)
    plain, _ = decode_struct(cls, layout, octets, 0, message_name=message_name, version=version)
    return struct_writer(cls, layout)(plain)
