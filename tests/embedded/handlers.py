"""The answers of a handler of the embedded broker, without a broker around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import cast

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.controller import Controller
from kafkawire.broker.handlers.context import HandlerContext, Handlers
from kafkawire.broker.refusals import refusal
from kafkawire.broker.requests import Answer, Call, Handler, Refused
from kafkawire.wire import Message

__all__ = ["handled", "handlers_by_request"]


def handlers_by_request(
    handlers: Callable[[HandlerContext], Handlers], controller: Controller, access: Authorization
) -> Mapping[type[Message], Handler]:
    """The handlers of a family of APIs that use nothing else of a broker, by the class of the request."""
    context = cast(HandlerContext, SimpleNamespace(controller=controller, access=access))
    return {api.request: api.handler for api in handlers(context).apis}


def handled(handler: Handler, request: Message, call: Call) -> Message:
    """The answer of a handler, which may be a coroutine; only where no event loop runs."""
    answer = handler(request, call)
    if isinstance(answer, Awaitable):
        answers: list[Answer] = []
        asyncio.run(_keep(answer, answers))
        (answer,) = answers
    if isinstance(answer, Refused):
        return refusal(answer.request or request, call.version, answer.code, message=answer.message)
    assert isinstance(answer, Message)
    return answer


async def _keep(answer: Awaitable[Answer], answers: list[Answer]) -> None:
    """Not as the result of a task: asyncio would format it, when it takes back its handler of SIGINT."""
    answers.append(await answer)
