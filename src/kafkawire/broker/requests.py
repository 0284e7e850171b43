"""What a handler receives besides the message of a request, and what it may answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from kafkawire.broker.sessions import Session
from kafkawire.wire import Message
from kafkawire.wire.message import Struct


class RequestTime:
    """The time that the broker spends on a request; this one is not measured, since there is no quota on time."""

    def throttle_time_ms(self) -> int:
        """For how long the client is throttled because of the time of its requests; 0 within its quota.

        This call ends the measurement. Only handlers whose answer depends on the result call it, such as Fetch.
        """
        return 0


UNMEASURED: Final = RequestTime()


class DurableLog(Protocol):
    """The records of a partition."""

    @property
    def high_watermark(self) -> int:
        """All records below it are durable."""

    async def durable(self, offset: int | None = None) -> None:
        """Wait until the records below an offset are durable."""


Appended: TypeAlias = tuple[DurableLog, int]
"""A log, and the offset below which its records must be durable before a response is sent."""


class Call(Struct, frozen=True, gc=False):
    """The version, client and connection of a request.

    Attributes:
        api_key, version: from the request's header; the response has the same version.
        client_id: from the request's header; empty if it has none.
        session: the client's connection and principal.
        size: bytes of the request with its header, without the four bytes of the frame's size.
        time: measures the time that the broker spends on the request.
        appended: what must be durable before the response is sent; the handler adds it.
    """

    api_key: int
    version: int
    client_id: str
    session: Session
    size: int = 0
    time: RequestTime = UNMEASURED
    appended: list[Appended] = msgspec.field(default_factory=list)


class RefusedRequestError(Exception):
    """A request that Kafka refuses by closing the connection; the message is the reason."""


class TooLargeRequestError(RefusedRequestError):
    """A request that exceeds a limit that only this broker has; the message says what to do."""


class Unanswered(Struct, frozen=True, gc=False):
    """No response, as to Produce with acks 0.

    Attributes:
        throttle_time_ms: for how long the client is throttled.
    """

    throttle_time_ms: int = 0


class Refused(Struct, frozen=True, gc=False):
    """One error for everything in the request; the dispatcher makes the response from it.

    Attributes:
        code: the error.
        message: its text, for responses that have a field for it.
        request: the request to take names from, if not the one that was received.
    """

    code: int
    message: str | None = None
    request: Message | None = None


Answer: TypeAlias = Message | Refused | Unanswered | None
Handler: TypeAlias = Callable[[Any, Call], Answer | Awaitable[Answer]]
"""Answers a request: ``handler(request, call)``. None means no response and no throttling.

A ``throttle_time_ms`` above 0 in the answer throttles the client: its connection is muted for that time. The
dispatcher adds the throttling for the time that the request takes.

Handlers that read or change the state are plain functions, so that no other task runs between the read and the change.
"""
