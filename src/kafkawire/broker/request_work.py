"""Decoding of requests and encoding of responses, with limits on the memory and time that one client can use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Final, TypeVar

import msgspec

from kafkawire.broker.refusals import refusal
from kafkawire.broker.requests import Refused, RefusedRequestError, TooLargeRequestError
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.clients.request_header import RequestHeader
from kafkawire.rpc import Request, decode_request, encode_response
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.element_count import element_count

T = TypeVar("T")

MAXIMUM_ELEMENTS: Final = 100_000
"""The most elements of arrays, at all depths together, that a request may have."""

_MANY: Final = 10_000
"""Requests with more elements are answered one at a time, so that their memory does not add up."""

SMALL_FRAME: Final = 4096
"""Bytes of a frame that is decoded within about a millisecond, even if it is malformed and the error must be found."""

_SMALL_ANSWER: Final = 500
"""The most elements of a response that is encoded in the event loop."""

WAITING: Final = frozenset({ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})
"""APIs whose requests may wait for long: no other request waits for them."""


class RequestWork:
    """Decodes large requests and encodes large responses in a thread, while the event loop serves other clients.

    Args:
        maximum_elements: the most elements of a request.
    """

    def __init__(self, maximum_elements: int = MAXIMUM_ELEMENTS) -> None:
        self._maximum = maximum_elements
        self._thread = ThreadPoolExecutor(1, "kafkawire large requests")
        self._lane = asyncio.Lock()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(cancel_futures=True)

    @asynccontextmanager
    async def request(self, frame: bytes, *, api_versions: range | None = None) -> AsyncIterator[Request]:
        """The request in a frame; until the context ends, no other large request is decoded.

        Args:
            frame: without its size.
            api_versions: the versions of ApiVersions that the broker offers; all that the package has by default.

        Raises:
            RefusedRequestError: the frame is malformed.
            TooLargeRequestError: it has too many elements.
        """
        if await self._may_be_many(frame):
            async with self._lane:
                yield await self.in_thread(decoded, frame, api_versions)
        else:
            yield await self.in_thread(decoded, frame, api_versions)

    async def _may_be_many(self, frame: bytes) -> bool:
        """Whether a request has many elements, or enough bytes for many: an element takes at least a byte."""
        key = int.from_bytes(frame[:2])
        most = len(frame)
        if most > self._maximum or key == ApiKey.PRODUCE:
            most = await self.in_thread(_elements_of, frame, self._maximum)
        return most > _MANY and key not in WAITING

    async def answer(self, answer: Message, version: int, correlation_id: int) -> bytes:
        """The frame of a response.

        Raises:
            EncodeError: it cannot be encoded.
        """
        encode = partial(encode_response, answer, version, correlation_id=correlation_id)
        return encode() if _left_of(answer, _SMALL_ANSWER) >= 0 else await self.in_thread(encode)

    async def in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Call a function in the thread, and return its result; it must not use the state of the broker."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(function, *arguments))

    async def refusal(
        self, request: Message, version: int, refused: Refused, refuse: Callable[..., Message] = refusal
    ) -> Message:
        """The response to a request that is refused as a whole.

        Args:
            request: the request.
            version: of request and response.
            refused: the error.
            refuse: makes the response, as `kafkawire.broker.refusals.refusal` does.
        """
        made = partial(refuse, request, version, refused.code, message=refused.message)
        return made() if _left_of(request, _SMALL_ANSWER) >= 0 else await self.in_thread(made)


def decoded(frame: bytes, api_versions: range | None = None) -> Request:
    """The request in a frame without its size.

    Args:
        frame: the content.
        api_versions: the versions of ApiVersions that the broker offers; all that the package has by default.

    Raises:
        RefusedRequestError: the frame is malformed.
    """
    try:
        return decode_request(frame, api_versions=api_versions)
    except DecodeError as error:
        raise RefusedRequestError(str(error)) from error


def _elements_of(frame: bytes, most: int) -> int:
    """How many elements a request has.

    Raises:
        TooLargeRequestError: more than ``most``.
        RefusedRequestError: its header is malformed.
    """
    key, version = int.from_bytes(frame[:2], signed=True), int.from_bytes(frame[2:4], signed=True)
    api = APIS.get(key)
    if api is None:
        return 0  # decoding it raises the error
    request = message_class(api.request)
    header_version = request.HEADER_VERSIONS.get(version)
    if header_version is None:
        return 0  # the same
    try:
        header, at = RequestHeader.decode_from(frame, 0, header_version)
    except DecodeError as error:
        raise RefusedRequestError(str(error)) from error
    count = element_count(request, version, frame, at, most=most) + len(header.unknown_tagged_fields)
    if count > most:
        reason = f"{request.NAME} with more than {most} items, the limit of this broker: split the request"
        raise TooLargeRequestError(reason)
    return count


def _left_of(struct: msgspec.Struct, most: int) -> int:
    """What is left of a number of elements without those of a struct; below 0 if the struct has more."""
    for name in _arrays_of(type(struct)):
        value = getattr(struct, name)
        if not value or not isinstance(value, (tuple, list)):
            continue
        most -= len(value)
        if isinstance(value[0], msgspec.Struct) and _arrays_of(type(value[0])):
            for item in value:
                if most < 0:
                    return most
                most = _left_of(item, most)
    return most


@cache
def _arrays_of(cls: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a struct that may be arrays, without unknown tagged fields, which this broker does not send."""
    defaults = zip(cls.__struct_fields__, cls.__struct_defaults__, strict=True)
    arrays = (name for name, default in defaults if isinstance(default, (tuple, list)) or default is None)
    return tuple(name for name in arrays if name != "unknown_tagged_fields")
