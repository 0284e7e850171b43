"""Frames to requests and answers to frames, with bounds on what one client can make of the broker's memory and time."""

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

__all__ = ["MAXIMUM_ELEMENTS", "SMALL_FRAME", "RequestWork", "decoded"]

T = TypeVar("T")

MAXIMUM_ELEMENTS: Final = 100_000
"""The most elements of arrays, at all depths together, that a request may have."""

_MANY: Final = 10_000
"""Requests with more elements are answered one at a time, so that their memory does not add up."""

SMALL_FRAME: Final = 4096
"""Bytes that take about a millisecond at most, even if they are no request and the reason must be found."""

_SMALL_ANSWER: Final = 500
"""Elements of answers that are encoded at once."""

_WAITING: Final = frozenset({ApiKey.FETCH})
"""Requests that may wait for long, so none waits for them."""


class RequestWork:
    """Decodes large requests and encodes large answers in a thread, beside which others are served.

    Args:
        maximum_elements: the most that a request may have.
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
        """The request in a frame; while the context lasts, no other large request is decoded.

        Args:
            frame: without its size.
            api_versions: the versions of ApiVersions that the broker serves; all that the package has by default.

        Raises:
            RefusedRequestError: it is none.
            TooLargeRequestError: it has too many elements.
        """
        if await self._may_be_many(frame):
            async with self._lane:
                yield await self.in_thread(decoded, frame, api_versions)
        else:
            yield await self.in_thread(decoded, frame, api_versions)

    async def _may_be_many(self, frame: bytes) -> bool:
        """Whether a request has many elements, or so many bytes that it may; an element takes a byte at least."""
        key = int.from_bytes(frame[:2])
        most = len(frame)
        if most > self._maximum or key == ApiKey.PRODUCE:
            most = await self.in_thread(_elements_of, frame, self._maximum)
        return most > _MANY and key not in _WAITING

    async def answer(self, answer: Message, version: int, correlation_id: int) -> bytes:
        """The frame of an answer.

        Raises:
            EncodeError: it cannot be written.
        """
        encode = partial(encode_response, answer, version, correlation_id=correlation_id)
        return encode() if _left_of(answer, _SMALL_ANSWER) >= 0 else await self.in_thread(encode)

    async def in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """What a function returns, called in the thread; it must not touch the state of the broker."""
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
        api_versions: the versions of ApiVersions that the broker serves; all that the package has by default.

    Raises:
        RefusedRequestError: it is none.
    """
    try:
        return decode_request(frame, api_versions=api_versions)
    except DecodeError as error:
        raise RefusedRequestError(str(error)) from error


def _elements_of(frame: bytes, most: int) -> int:
    """How many elements a request has.

    Raises:
        TooLargeRequestError: more than may be.
        RefusedRequestError: there is no such request.
    """
    key, version = int.from_bytes(frame[:2], signed=True), int.from_bytes(frame[2:4], signed=True)
    api = APIS.get(key)
    if api is None:
        return 0  # decoding it says what is wrong
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
        reason = f"{request.NAME} with more than {most} items, which is what this broker takes: ask in parts"
        raise TooLargeRequestError(reason)
    return count


def _left_of(struct: msgspec.Struct, most: int) -> int:
    """How many of so many elements a struct leaves; below 0 if it has more."""
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
    """The fields of a struct that may be arrays; unknown tagged fields are none that this broker sends."""
    defaults = zip(cls.__struct_fields__, cls.__struct_defaults__, strict=True)
    arrays = (name for name, default in defaults if isinstance(default, (tuple, list)) or default is None)
    return tuple(name for name in arrays if name != "unknown_tagged_fields")
