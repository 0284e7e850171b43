"""What a handler of the embedded broker answers, without a broker around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from kafkawire.broker.calls import Answer, Call, Handler, Refused
from kafkawire.broker.refusals import refusal
from kafkawire.wire import Message

__all__ = ["handled"]


def handled(handler: Handler, request: Message, call: Call) -> Message:
    """The answer of a handler, which may be a coroutine; to be asked where no event loop runs."""
    answer = handler(request, call)
    if isinstance(answer, Awaitable):
        answer = asyncio.run(_awaited(answer))
    if isinstance(answer, Refused):
        return refusal(answer.request or request, call.version, answer.code, message=answer.message)
    assert isinstance(answer, Message)
    return answer


async def _awaited(answer: Awaitable[Answer]) -> Answer:
    return await answer
