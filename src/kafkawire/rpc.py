"""Requests and responses on the wire: frames and headers (frame, header-request).

A frame is an int32 size and so many bytes: a header, then a body. Which header version goes with which version
of an API stands in the generated API table.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
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

API_VERSIONS_KEY = 18
UNSUPPORTED_VERSION = 35

_SIZE = struct.Struct(">i")
_KEY_AND_VERSION = struct.Struct(">hh")
R = TypeVar("R", bound=Message)


class Request(msgspec.Struct, frozen=True):
    """A request as a server reads it.

    Attributes:
        header: its header; ``request_api_key``, ``request_api_version``, ``correlation_id``, ``client_id``.
        body: the message, or None for an ApiVersions request of a version that is not served
            (header-api-versions-unknown).
    """

    header: RequestHeader
    body: Message | None


def api_of(message: Message | type[Message]) -> Api:
    """The API that a request or response belongs to.

    Raises:
        ValueError: if the message is neither.
    """
    api = APIS.get(message.API_KEY) if message.API_KEY is not None else None
    if api is None or message.NAME not in (api.request, api.response):
        raise ValueError(f"{message.NAME} is neither a request nor a response")
    return api


def encode_request(request: Message, version: int, *, correlation_id: int, client_id: str | None = None) -> bytes:
    """A request as a whole frame.

    Raises:
        UnsupportedVersionError, EncodeError: as :meth:`Message.encode`.
        ValueError: if the message is not a request.
    """
    api = api_of(request)
    if api.request != request.NAME:
        raise ValueError(f"{request.NAME} is not a request")
    header_version = api.request_headers.get(version)
    if header_version is None:
        raise UnsupportedVersionError(request.NAME, version, request.VERSIONS)
    header = RequestHeader(api.key, version, correlation_id, client_id if header_version > 0 else "")
    return _frame(header.encode(header_version), request.encode(version))


def encode_response(response: Message, version: int, *, correlation_id: int) -> bytes:
    """A response as a whole frame.

    Raises:
        UnsupportedVersionError, EncodeError: as :meth:`Message.encode`.
        ValueError: if the message is not a response.
    """
    header_version = _response_header_version(response, version)
    return _frame(ResponseHeader(correlation_id).encode(header_version), response.encode(version))


def decode_request(frame: bytes, *, api_versions: range | None = None) -> Request:
    """Read a request from the content of a frame, without its size (header-parse).

    Bytes after the body are tolerated, as Kafka's RPC layer does.

    Args:
        frame: the content.
        api_versions: the versions of ApiVersions that the reader serves; all that the package has by default. Of a
            request above them only the header is read (KIP-511).

    Raises:
        DecodeError: if the bytes are not a request that is known here.
    """
    if len(frame) < _KEY_AND_VERSION.size:
        raise DecodeError("truncated", f"needs 4 bytes, {len(frame)} are left", message_name="RequestHeader", offset=0)
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    api = APIS.get(key)
    if api is None:
        raise DecodeError("version", f"there is no API {key}", message_name="RequestHeader", offset=0)
    header_version = api.request_headers.get(version)
    if key == API_VERSIONS_KEY and version not in (api_versions or api.versions):
        nearest = api.versions[-1] if version >= api.versions.stop else api.versions[0]
        header_version = api.request_headers.get(version, api.request_headers[nearest])
        return Request(RequestHeader.decode_from(frame, 0, header_version)[0], None)
    if header_version is None:
        raise DecodeError("version", f"{api.request} has no version {version}", message_name="RequestHeader", offset=2)
    header, at = RequestHeader.decode_from(frame, 0, header_version)
    body, _ = message_class(api.request).decode_from(frame, at, version)
    return Request(header, body)


def decode_response(frame: bytes, response: type[R], version: int) -> tuple[int, R]:
    """Read a response from the content of a frame: its correlation id and its body.

    An ApiVersions response with error 35 is read as version 0, whatever was asked for: so answers a broker that
    does not know the version (header-api-versions-unknown).

    Raises:
        DecodeError: if the bytes are not that response.
        UnsupportedVersionError: if the response has no such version.
        ValueError: if the class is not that of a response.
    """
    header_version = _response_header_version(response, version)
    header, at = ResponseHeader.decode_from(frame, 0, header_version)
    if response.API_KEY == API_VERSIONS_KEY and frame[at : at + 2] == UNSUPPORTED_VERSION.to_bytes(2):
        version = 0
    body, _ = response.decode_from(frame, at, version)
    return header.correlation_id, body


def split_frames(buffer: bytes | bytearray, *, maximum: int = MAXIMUM_FRAME_SIZE) -> Iterator[bytes]:
    """The contents of the whole frames at the start of a buffer; a part of a frame at its end is left alone.

    Raises:
        DecodeError: for a negative size, or one above ``maximum``.
    """
    at = 0
    while len(buffer) - at >= _SIZE.size:
        (size,) = _SIZE.unpack_from(buffer, at)
        if not 0 <= size <= maximum:
            reason = f"a frame of {size} bytes, between 0 and {maximum} are allowed"
            raise DecodeError("length", reason, message_name="frame", offset=at)
        end = at + _SIZE.size + size
        if end > len(buffer):
            return
        yield bytes(buffer[at + _SIZE.size : end])
        at = end


def _response_header_version(response: Message | type[Message], version: int) -> int:
    api = api_of(response)
    if api.response != response.NAME:
        raise ValueError(f"{response.NAME} is not a response")
    header_version = api.response_headers.get(version)
    if header_version is None:
        raise UnsupportedVersionError(response.NAME, version, response.VERSIONS)
    return header_version


def _frame(header: bytes, body: bytes) -> bytes:
    return b"".join((_SIZE.pack(len(header) + len(body)), header, body))
