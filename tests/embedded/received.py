"""Requests as a broker receives them: equal to those that a test has made, but with values of their own."""

from __future__ import annotations

from typing import TypeVar

from kafkawire.wire import Message

M = TypeVar("M", bound=Message)


def received(request: M, version: int) -> M:
    """The request after its bytes were read, so that no text or number of it is an object of the broker's code."""
    return type(request).decode(request.encode(version), version)
