"""A request on its way through the broker, beside its message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from kafkawire.broker.sessions import Session
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

__all__ = [
    "Answer",
    "Call",
    "Handler",
    "Refused",
    "RefusedRequestError",
    "RequestTime",
    "Routes",
    "TooLargeRequestError",
    "Unanswered",
]


class RequestTime(Protocol):
    """What the broker spends on a request."""

    def throttle_time_ms(self) -> int:
        """How long the client is throttled for the time that its requests take; 0 if it is within its quota.

        Asking ends the measurement. Only handlers ask that answer otherwise if it is not 0, as a fetch does.
        """


class _FreeTime:
    def throttle_time_ms(self) -> int:
        return 0


FREE_TIME: Final[RequestTime] = _FreeTime()
"""There is no quota on time."""


class Call(Struct, frozen=True, gc=False):
    """Who asks, in which version.

    Attributes:
        api_key, version: from the request's header; the response has the same version.
        client_id: what the client calls itself; empty if it says nothing.
        session: who it is.
        size: bytes of the request, with its header and without the four that say how many there are.
        time: what the broker spends on it.
    """

    api_key: int
    version: int
    client_id: str
    session: Session
    size: int = 0
    time: RequestTime = FREE_TIME


class RefusedRequestError(Exception):
    """A request that Kafka answers by closing the connection; the message says why."""


class TooLargeRequestError(RefusedRequestError):
    """A request that Kafka might answer and this broker does not; the message says what to do."""


class Unanswered(Struct, frozen=True, gc=False):
    """No answer, as Produce with acks 0 wants it.

    Attributes:
        throttle_time_ms: how long the client is throttled all the same.
    """

    throttle_time_ms: int = 0


class Refused(Struct, frozen=True, gc=False):
    """An answer that is one error for all that was asked; it is made of the request after the handler.

    Attributes:
        code: the error.
        message: in words, where the response has room for them.
        request: names what was asked, if not the request as it came.
    """

    code: int
    message: str | None = None
    request: Message | None = None


Answer: TypeAlias = Message | Refused | Unanswered | None
Handler: TypeAlias = Callable[[Any, Call], Answer | Awaitable[Answer]]
"""Answers a request: ``handler(request, call)``. None is no answer and no throttling.

A ``throttle_time_ms`` above 0 in the answer throttles the client: its connection is muted for so long. The time that
the request takes is seen to elsewhere.

Handlers that change or read what is stored are plain functions, so that nothing comes between their look and their
change. Only those that wait (a fetch for data to come) are coroutines. An ``ApiError`` that one raises becomes the
answer to everything that was asked, any other exception becomes UNKNOWN_SERVER_ERROR.
"""

Routes: TypeAlias = Mapping[type[Message], Handler]
"""Request class to what answers it."""
