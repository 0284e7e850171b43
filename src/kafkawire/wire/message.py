"""The base of all generated classes: encoding and decoding that is fast, with exact errors.

The generated readers and writers do not track paths and positions. When one fails, the reference codec repeats the
work, slowly. It decides whether the input is legal, and reports what is wrong and where.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, TypeAlias, cast

import msgspec

from kafkawire.layout import MessageLayouts, Uuid
from kafkawire.wire.errors import DecodeError, UnsupportedVersionError
from kafkawire.wire.message_codec import FAST_PATH_FAILS, MessageCodec

Octets = bytes | bytearray | memoryview
"""The types of buffers that decoding accepts."""

RecordBytes: TypeAlias = bytes | memoryview
"""The type of a ``records`` field: decoding gives a read-only view of the buffer, encoding takes either."""

_FAILS = (*FAST_PATH_FAILS, KeyError)
"""The same, and the error if there is no codec for the version."""


class Struct(msgspec.Struct, frozen=True, gc=False):
    """A struct of a message: immutable, compared and hashed by its fields, unknown tagged fields included.

    Arrays are tuples after decoding. Encoding takes other sequences, too, but a struct that holds a list is unequal to
    one that holds a tuple, and has no hash.

    Octets are shown by their size only: they may be large, and they may be secrets (SASL tokens, salted
    passwords).
    """

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__qualname__}({shown})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        fields = [(name, _without_octets(getattr(self, name))) for name in self.__struct_fields__]
        return fields if fields[-1][1] else fields[:-1]


class Message(Struct, frozen=True, gc=False):
    """A message of Kafka's protocol with all its versions.

    It cannot be changed: ``msgspec.structs.replace(message, timeout_ms=5)`` returns a copy with other values, as
    ``copy.replace`` does from Python 3.13 on.

    Attributes:
        NAME: Kafka's name.
        API_KEY: API key of a request or response, id of a record; None where the message has none.
        VERSIONS: all versions.
        FLEXIBLE_VERSIONS: those with compact lengths and tagged fields.
        UNSTABLE_VERSIONS: those that are not final and never chosen by default.
        HEADER_NAME: ``RequestHeader`` for a request, ``ResponseHeader`` for a response, None for anything else.
        HEADER_VERSIONS: version of a request or response to the version of its header (header-request,
            header-response, header-api-versions-response, headerVersions).

    Example:
        ```python
        from kafkawire.protocol import MetadataRequest

        orders = MetadataRequest.MetadataRequestTopic(name="orders")
        request = MetadataRequest(topics=(orders,), allow_auto_topic_creation=False)
        octets = request.encode(12)
        assert MetadataRequest.decode(octets, 12) == request
        ```
    """

    NAME: ClassVar[str] = ""
    API_KEY: ClassVar[int | None] = None
    VERSIONS: ClassVar[range] = range(0)
    FLEXIBLE_VERSIONS: ClassVar[range] = range(0)
    UNSTABLE_VERSIONS: ClassVar[range] = range(0)
    HEADER_NAME: ClassVar[str | None] = None
    HEADER_VERSIONS: ClassVar[Mapping[int, int]] = {}

    _codecs: ClassVar[Mapping[int, MessageCodec]] = {}

    def encode(self, version: int) -> bytes:
        """The bytes of the message at a version.

        Raises:
            UnsupportedVersionError: if the message has no such version.
            EncodeError: if the version cannot carry a value; says which and why.

        Example:
            ```python
            from kafkawire.protocol import MetadataRequest
            from kafkawire.wire import EncodeError

            try:
                octets = MetadataRequest(topics=None).encode(0)
            except EncodeError as error:
                print(error)  # version 0 cannot carry null
            ```
        """
        try:
            return self._codecs[version].write(self)
        except _FAILS:
            return self._encode_exactly(version)

    @classmethod
    def decode(cls, buffer: Octets, version: int) -> Self:
        """Read a message that fills the whole buffer.

        Fields of type ``records`` become views of the buffer, which stays in memory as long as one of them does; use
        ``bytes(...)`` for what you keep for long. A buffer that is not ``bytes`` is copied once, so a view never
        changes.

        Raises:
            UnsupportedVersionError: if the message has no such version.
            DecodeError: if the bytes are not a message of the version, or if bytes follow it; says where.

        Example:
            ```python
            from kafkawire.protocol import ApiVersionsRequest
            from kafkawire.wire import DecodeError

            try:
                ApiVersionsRequest.decode(b"abc", 3)
            except DecodeError as error:
                print(error.kind, error.path, error.offset)
            ```
        """
        try:
            message: Self = cls._codecs[version].decode(buffer)
        except _FAILS:
            octets = buffer if isinstance(buffer, bytes) else bytes(buffer)
            message, end = cls.decode_from(octets, 0, version)
            cls.refuse_trailing(octets, end, version)
        return message

    @classmethod
    def refuse_trailing(cls, buffer: bytes, end: int, version: int) -> None:
        """Check that a message that ends at ``end`` fills the buffer.

        Raises:
            DecodeError: if bytes are left.
        """
        left = len(buffer) - end
        if left:
            reason = f"{left} byte{'s are' if left > 1 else ' is'} left after the message"
            raise DecodeError("trailing", reason, message_name=cls.NAME, version=version, offset=end)

    @classmethod
    def decode_from(cls, buffer: Octets, offset: int, version: int) -> tuple[Self, int]:
        """Read a message at an offset and return it with the position after it; more bytes may follow.

        Raises:
            UnsupportedVersionError: if the message has no such version.
            DecodeError: if the bytes are not a message of the version; says where.

        Example:
            ```python
            from kafkawire.protocol import ApiVersionsRequest

            octets = ApiVersionsRequest("billing", "1.2").encode(3) + b"more"
            request, end = ApiVersionsRequest.decode_from(octets, 0, 3)
            assert octets[end:] == b"more"
            ```
        """
        codec = cls.fast_codec(version)
        octets = buffer if isinstance(buffer, bytes) else bytes(buffer)
        if not 0 <= offset <= len(octets):
            raise DecodeError("length", f"the buffer has {len(octets)} bytes", message_name=cls.NAME, offset=offset)
        try:
            read: tuple[Self, int] = codec.read(octets, offset)
        except FAST_PATH_FAILS:
            from kafkawire.wire.reference import decode_struct  # noqa: PLC0415 loaded when needed

            layout = cls.layouts().of_version(version)
            return decode_struct(cls, layout, octets, offset, message_name=cls.NAME, version=version)
        return read

    def _encode_exactly(self, version: int) -> bytes:
        """Let the reference codec write the message, or report what is wrong with it."""
        from kafkawire.wire.reference import encode_struct  # noqa: PLC0415 loaded when needed

        self.fast_codec(version)  # raises UnsupportedVersionError
        return encode_struct(self, self.layouts().of_version(version), message_name=self.NAME, version=version)

    @classmethod
    def fast_codec(cls, version: int) -> MessageCodec:
        """The codec of the engine in use; it does not say what is wrong.

        Raises:
            UnsupportedVersionError: if the message has no such version.
        """
        try:
            return cls._codecs[version]
        except KeyError:
            raise UnsupportedVersionError(cls.NAME, version, cls.VERSIONS) from None

    @classmethod
    def layouts(cls) -> MessageLayouts:
        """The layouts of all versions, as data; loaded on first use.

        Example:
            ```python
            from kafkawire.protocol import MetadataRequest

            for field in MetadataRequest.layouts().of_version(12).fields:
                print(field.json_name, field.attribute, field.presence)
            ```
        """
        package, _, module = cls.__module__.rpartition(".")
        name = f"{package}._layouts.{module}"
        __import__(name)
        return cast("MessageLayouts", sys.modules[name].LAYOUTS)


class _Sized:
    """Shows octets in a representation by their size."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __repr__(self) -> str:
        return f"<{self._size} bytes>"


def _without_octets(value: object) -> object:
    """The value with octets replaced by their size, also inside sequences; uuids stay."""
    if isinstance(value, (bytes, bytearray, memoryview)) and not isinstance(value, Uuid):
        return _Sized(memoryview(value).nbytes)
    if isinstance(value, tuple):
        return tuple(map(_without_octets, value))
    if isinstance(value, Sequence) and not isinstance(value, (str, Uuid)):
        return list(map(_without_octets, value))
    return value
