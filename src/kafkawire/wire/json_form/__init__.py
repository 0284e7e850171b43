"""Kafka's JSON form of messages: plain dicts, lists and scalars that ``json`` prints and parses.

Kafka's request logs and dump tools show this form. Reading distinguishes integers from floating-point numbers by their
Python types. Use a parser that keeps ``1`` and ``1.0`` distinct and reads all of an int64, such as the ``json`` module
of the standard library.
"""

from __future__ import annotations

from typing import TypeVar

from kafkawire.layout import StructLayout
from kafkawire.wire.errors import UnsupportedVersionError
from kafkawire.wire.json_form.decoded import StructWriter, decoded_writer, struct_writer
from kafkawire.wire.json_form.from_json import struct_from_json
from kafkawire.wire.json_form.to_json import struct_to_json
from kafkawire.wire.message import Message
from kafkawire.wire.message_codec import FAST_PATH_FAILS

M = TypeVar("M", bound=Message)

__all__ = [
    "StructWriter",
    "decoded_writer",
    "message_from_json",
    "message_to_json",
    "struct_from_json",
    "struct_to_json",
    "struct_writer",
]


def message_to_json(message: Message, version: int) -> dict[str, object]:
    """The JSON form of a message at a version.

    Raises:
        UnsupportedVersionError: if the message has no such version.
        EncodeError: if the version cannot carry a value.

    Example:
        ```python
        import json

        from kafkawire.protocol import MetadataRequest
        from kafkawire.wire.json_form import message_to_json

        print(json.dumps(message_to_json(MetadataRequest(topics=None), 12)))
        ```
    """
    cls = type(message)
    layout = _layout(cls, version)
    try:
        # The generated code gives each value its plain form quickly.
        plain = cls.decode(message.fast_codec(version).write(message), version)
    except FAST_PATH_FAILS:
        return struct_to_json(message, layout, message_name=message.NAME, version=version)
    return decoded_writer(cls, version)(plain)


def message_from_json(cls: type[M], obj: object, version: int) -> M:
    """Read the JSON form of a message at a version.

    Raises:
        UnsupportedVersionError: if the message has no such version.
        DecodeError: if the JSON is not a message of the version; says where.

    Example:
        ```python
        from kafkawire.protocol import ApiVersionsRequest
        from kafkawire.wire.json_form import message_from_json

        form = {"clientSoftwareName": "billing", "clientSoftwareVersion": "1.2"}
        assert message_from_json(ApiVersionsRequest, form, 3) == ApiVersionsRequest("billing", "1.2")
        ```
    """
    return struct_from_json(cls, _layout(cls, version), obj, message_name=cls.NAME, version=version)


def _layout(cls: type[Message], version: int) -> StructLayout:
    if version not in cls.VERSIONS:
        raise UnsupportedVersionError(cls.NAME, version, cls.VERSIONS)
    return cls.layouts().of_version(version)
