"""Requests and responses on the wire: frames and headers (frame, header-request).

A frame is an int32 size and that number of bytes: a header, then a body. The header is Kafka's ``RequestHeader`` or
``ResponseHeader``; its version belongs to the class of the body. Messages may be Kafka's own or those of a package
that was generated from other definitions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TypeVar

import msgspec

from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.protocol.clients.request_header import RequestHeader
from kafkawire.protocol.clients.response_header import ResponseHeader
from kafkawire.wire import DecodeError, Message, UnsupportedVersionError
from kafkawire.wire.api import Api

MAXIMUM_FRAME_SIZE = 104_857_600
"""Kafka's default for ``socket.request.max.bytes``."""

FRAME_HEAD = struct.Struct(">i")
"""The size before the content of a frame."""

UNSUPPORTED_VERSION = 35
KAFKAS_PACKAGE = "kafkawire.protocol"
"""The package of Apache Kafka's own messages."""

_API_VERSIONS = "ApiVersionsRequest"
_API_VERSIONS_RESPONSE = "ApiVersionsResponse"

_KEY_AND_VERSION = struct.Struct(">hh")
R = TypeVar("R", bound=Message)


class Request(msgspec.Struct, frozen=True):
    """A request as a server reads it.

    Attributes:
        header: its header: ``request_api_key``, ``request_api_version``, ``correlation_id``, ``client_id``.
        body: the message, or None for an ApiVersions request of a version that is not served
            (header-api-versions-unknown).
    """

    header: RequestHeader
    body: Message | None


def api_of(message: Message | type[Message]) -> Api:
    """The API of Kafka that a request or response belongs to.

    Raises:
        ValueError: if the message is neither, or is one of another package than ``kafkawire.protocol``.

    Example:
        ```python
        from kafkawire.protocol import CreateTopicsRequest
        from kafkawire.rpc import api_of

        api = api_of(CreateTopicsRequest)
        print(api.key, api.name, api.versions)
        ```
    """
    cls = message if isinstance(message, type) else type(message)
    api = APIS.get(cls.API_KEY) if cls.API_KEY is not None and cls.HEADER_NAME is not None else None
    if api is None or message_class(cls.NAME) is not cls:
        raise ValueError(f"{cls.NAME} of {cls.__module__} is neither a request nor a response of {KAFKAS_PACKAGE}")
    return api


def header_version(message: Message | type[Message], version: int) -> int:
    """The version of the header that goes with a version of a request or response.

    Raises:
        UnsupportedVersionError: if the message has no such version.
        ValueError: if the message is neither a request nor a response.

    Example:
        ```python
        from kafkawire.protocol import CreateTopicsRequest
        from kafkawire.rpc import header_version

        assert header_version(CreateTopicsRequest, 4) == 1
        assert header_version(CreateTopicsRequest, 5) == 2  # flexible: the header has tagged fields
        ```
    """
    if message.HEADER_NAME is None:
        raise ValueError(f"{message.NAME} has no header: it is neither a request nor a response")
    found = message.HEADER_VERSIONS.get(version)
    if found is None:
        raise UnsupportedVersionError(message.NAME, version, message.VERSIONS)
    return found


def encode_request(request: Message, version: int, *, correlation_id: int, client_id: str | None = None) -> bytes:
    """A request as a whole frame.

    Raises:
        UnsupportedVersionError, EncodeError: as :meth:`Message.encode`.
        ValueError: if the message is not a request.

    Example:
        ```python
        from kafkawire.protocol import MetadataRequest
        from kafkawire.rpc import encode_request

        frame = encode_request(MetadataRequest(topics=None), 12, correlation_id=1, client_id="billing")
        print(len(frame), "bytes to send")
        ```
    """
    if request.HEADER_NAME != RequestHeader.NAME or request.API_KEY is None:
        raise ValueError(f"{request.NAME} is not a request")
    number = header_version(request, version)
    header = RequestHeader(request.API_KEY, version, correlation_id, client_id if number > 0 else "")
    return _frame(header.encode(number), request.encode(version))


def encode_response(response: Message, version: int, *, correlation_id: int) -> bytes:
    """A response as a whole frame.

    Raises:
        UnsupportedVersionError, EncodeError: as :meth:`Message.encode`.
        ValueError: if the message is not a response.

    Example:
        ```python
        from kafkawire.protocol import MetadataResponse
        from kafkawire.rpc import encode_response

        frame = encode_response(MetadataResponse(cluster_id="MkU3OEVBNTcwNTJENDM2Qk"), 12, correlation_id=1)
        ```
    """
    number = _response_header_version(response, version)
    return _frame(ResponseHeader(correlation_id).encode(number), response.encode(version))


@cache
def _requests(package: str) -> tuple[Mapping[int, Api], Callable[[str], type[Message]]]:
    """The ``APIS`` and the ``message_class`` of a generated package."""
    return import_module(f"{package}.api_table").APIS, import_module(package).message_class


def decode_request(frame: bytes, *, package: str = KAFKAS_PACKAGE, api_versions: range | None = None) -> Request:
    """Read a request from the content of a frame, without its size (header-parse).

    Bytes after the body are tolerated, as Kafka's RPC layer does.

    Args:
        frame: the content of a frame.
        package: the generated package whose requests are expected, Kafka's own by default.
        api_versions: the versions of ApiVersions that the reader serves; all that the package has by default. Of a
            request in any other version only the header is read (KIP-511).

    Raises:
        DecodeError: if the bytes are not a request of the package.
        ModuleNotFoundError: if there is no such package, or it has no requests.

    Example:
        ```python
        from kafkawire.protocol import MetadataRequest
        from kafkawire.rpc import decode_request, encode_request, split_frames

        received = encode_request(MetadataRequest(topics=None), 12, correlation_id=1, client_id="billing")
        for content in split_frames(received):
            request = decode_request(content)
            print(request.header.client_id, request.header.request_api_version, request.body)
        ```
    """
    if len(frame) < _KEY_AND_VERSION.size:
        raise DecodeError("truncated", f"needs 4 bytes, {len(frame)} are left", message_name="RequestHeader", offset=0)
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    apis, class_of = _requests(package)
    api = apis.get(key)
    if api is None:
        raise DecodeError("version", f"there is no API {key}", message_name="RequestHeader", offset=0)
    request = class_of(api.request)
    number = request.HEADER_VERSIONS.get(version)
    if request.NAME == _API_VERSIONS and version not in (api_versions or api.versions):
        nearest = api.versions[-1] if version >= api.versions.stop else api.versions[0]
        known = request.HEADER_VERSIONS[nearest] if number is None else number
        return Request(RequestHeader.decode_from(frame, 0, known)[0], None)
    if number is None:
        raise DecodeError("version", f"{api.request} has no version {version}", message_name="RequestHeader", offset=2)
    header, at = RequestHeader.decode_from(frame, 0, number)
    body, _ = request.decode_from(frame, at, version)
    return Request(header, body)


def decode_response(frame: bytes, response: type[R], version: int) -> tuple[int, R]:
    """Read a response from the content of a frame: its correlation id and its body.

    An ApiVersions response with error 35 is read as version 0, whatever version was requested: a broker that
    does not support the requested version answers in version 0 (header-api-versions-unknown).

    Raises:
        DecodeError: if the bytes are not that response.
        UnsupportedVersionError: if the response has no such version.
        ValueError: if the class is not that of a response.

    Example:
        ```python
        from kafkawire.protocol import MetadataResponse
        from kafkawire.rpc import decode_response, encode_response, split_frames

        received = encode_response(MetadataResponse(controller_id=1), 12, correlation_id=7)
        for content in split_frames(received):
            correlation_id, response = decode_response(content, MetadataResponse, 12)
            assert (correlation_id, response.controller_id) == (7, 1)
        ```
    """
    header, at = ResponseHeader.decode_from(frame, 0, _response_header_version(response, version))
    if response.NAME == _API_VERSIONS_RESPONSE and frame[at : at + 2] == UNSUPPORTED_VERSION.to_bytes(2):
        version = 0
    body, _ = response.decode_from(frame, at, version)
    return header.correlation_id, body


def frame_size(head: bytes | bytearray, *, maximum: int = MAXIMUM_FRAME_SIZE, offset: int = 0) -> int:
    """The size of the frame whose first four bytes are at an offset.

    Raises:
        DecodeError: for a negative size, or one above ``maximum``.

    Example:
        ```python
        from kafkawire.rpc import frame_size

        assert frame_size((42).to_bytes(4)) == 42
        ```
    """
    (size,) = FRAME_HEAD.unpack_from(head, offset)
    if not 0 <= size <= maximum:
        reason = f"a frame of {size} bytes; between 0 and {maximum} are allowed"
        raise DecodeError("length", reason, message_name="frame", offset=offset)
    return int(size)


class FrameBuffer:
    """Splits a stream of bytes into frames. Work and memory grow with the bytes received, not with announced sizes.

    Args:
        maximum: size above which a frame is refused.

    Attributes:
        waiting: the beginning of the frame whose rest has not been received.

    Example:
        ```python
        from kafkawire.protocol import MetadataRequest
        from kafkawire.rpc import FrameBuffer, decode_request, encode_request

        sent = encode_request(MetadataRequest(topics=None), 12, correlation_id=1)
        buffer = FrameBuffer()
        for received in (sent[:10], sent[10:]):  # as a socket gives them
            for content in buffer.add(received):
                print(decode_request(content).body)
        ```
    """

    def __init__(self, maximum: int = MAXIMUM_FRAME_SIZE) -> None:
        self._maximum = maximum
        self.waiting = bytearray()

    def add(self, data: bytes | bytearray | memoryview) -> Iterator[bytes]:
        """Receive bytes, and yield the contents of the frames that are complete.

        Raises:
            DecodeError: as `frame_size`, after the frames before it.
        """
        self.waiting += data
        at = 0
        try:
            while len(self.waiting) - at >= FRAME_HEAD.size:
                end = at + FRAME_HEAD.size + frame_size(self.waiting, maximum=self._maximum, offset=at)
                if end > len(self.waiting):
                    return
                with memoryview(self.waiting) as view:
                    frame = bytes(view[at + FRAME_HEAD.size : end])
                at = end
                yield frame
        finally:
            del self.waiting[:at]


def split_frames(buffer: bytes | bytearray, *, maximum: int = MAXIMUM_FRAME_SIZE) -> Iterator[bytes]:
    """The contents of the complete frames at the start of a buffer; an incomplete frame at its end is ignored.

    Raises:
        DecodeError: as `frame_size`.

    Example:
        ```python
        from kafkawire.protocol import MetadataRequest
        from kafkawire.rpc import encode_request, split_frames

        frame = encode_request(MetadataRequest(topics=None), 12, correlation_id=1)
        assert len(list(split_frames(frame + frame))) == 2
        ```
    """
    yield from FrameBuffer(maximum).add(buffer)


def _response_header_version(response: Message | type[Message], version: int) -> int:
    if response.HEADER_NAME != ResponseHeader.NAME:
        raise ValueError(f"{response.NAME} is not a response")
    return header_version(response, version)


def _frame(header: bytes, body: bytes) -> bytes:
    return b"".join((FRAME_HEAD.pack(len(header) + len(body)), header, body))
