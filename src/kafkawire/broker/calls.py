"""A request on its way through the broker, beside its message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from kafkawire.broker.sessions import Session
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

__all__ = ["Answer", "Call", "Handler", "RefusedRequestError", "Routes"]


class Call(Struct, frozen=True, gc=False):
    """Who asks, in which version.

    Attributes:
        api_key, version: from the request's header; the response has the same version.
        client_id: what the client calls itself; empty if it says nothing.
        session: who it is.
    """

    api_key: int
    version: int
    client_id: str
    session: Session


class RefusedRequestError(Exception):
    """A request that Kafka answers by closing the connection; the message says why."""


Answer: TypeAlias = Message | None
Handler: TypeAlias = Callable[[Any, Call], Answer | Awaitable[Answer]]
"""Answers a request: ``handler(request, call)``. None is no answer at all (Produce with acks 0).

Handlers that change or read what is stored are plain functions, so that nothing comes between their look and their
change. Only those that wait (a fetch for data to come) are coroutines.
"""

Routes: TypeAlias = Mapping[type[Message], Handler]
"""Request class to what answers it."""
