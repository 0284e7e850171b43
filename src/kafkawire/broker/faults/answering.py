"""Answers requests to which faults apply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from kafkawire.broker.clock import Clock, pass_time
from kafkawire.broker.faults.actions import Delay, Drop, Refuse, Throttle
from kafkawire.broker.faults.chance import Decision
from kafkawire.broker.faults.fault import Occasion
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.faults.merging import items_only, with_refused
from kafkawire.broker.faults.parts import Parts
from kafkawire.broker.requests import Answer, Refused, RefusedRequestError
from kafkawire.protocol import FetchRequest, ProduceRequest
from kafkawire.wire import Message

_BEFORE: Final = "a fault closes the connection in place of handling the request"
_AFTER: Final = "a fault closes the connection after the request was handled"
_UNACKNOWLEDGED: Final = "a fault refuses a Produce request with acks 0, which has no response for the error"


class Answering(NamedTuple):
    """How requests are answered.

    Attributes:
        handle: the answer of the handler.
        refuse: the response to a request that is refused as a whole.
        refuse_items: the response to a request all whose items are refused.
        clock: measures delays.
    """

    handle: Callable[[Message], Awaitable[Answer]]
    refuse: Callable[[Message, Refused], Awaitable[Message]]
    refuse_items: Callable[[Message, Refused], Awaitable[Message]]
    clock: Clock


async def answer_with_faults(faults: Faults, answering: Answering, occasion: Occasion) -> Answer:
    """Answer a request to which faults may apply.

    Args:
        faults: those of the broker.
        answering: how it is answered without faults, and how it is refused.
        occasion: the request.

    Raises:
        RefusedRequestError: the connection is to be closed.
    """
    by_chance, parts = faults.decision(occasion)
    if by_chance.delay:
        await pass_time(answering.clock, by_chance.delay)
    delay = faults.of(Delay, occasion)
    if delay is not None:
        await answering.clock.sleep(delay.seconds)
    drop = faults.of(Drop, occasion) or (Drop(by_chance.after_handling) if by_chance.cuts else None)
    refused, rest = faults.refusals(occasion)
    throttle = faults.of(Throttle, occasion)
    if drop is not None and not drop.after_handling:
        _close(faults, by_chance, _BEFORE)
    if refused:
        answered = await _partly_refused(answering, refused, rest, occasion)
    elif by_chance.code:
        answered = await _refused_by_chance(answering, by_chance, parts, occasion)
    else:
        answered = await answering.handle(occasion.request)
    if drop is not None:
        _close(faults, by_chance, _AFTER)
    return throttled(answered, occasion.call.version, throttle.milliseconds) if throttle is not None else answered


def _close(faults: Faults, by_chance: Decision, reason: str) -> None:
    if by_chance.restarts:
        faults.restart()
    raise RefusedRequestError(reason)


async def _refused_by_chance(answering: Answering, by_chance: Decision, parts: Parts, occasion: Occasion) -> Answer:
    matching, rest = parts
    if matching is None:
        return await answering.handle(occasion.request)
    if by_chance.after_handling and not _is_unacknowledged(matching):
        await answering.handle(matching)
    if rest is None and isinstance(matching, FetchRequest):
        part = await answering.refuse_items(matching, Refused(by_chance.code))
        return items_only(part, occasion.call.version)  # a partition has such an error, not the whole response
    return await _partly_refused(answering, [(Refuse(by_chance.code), matching)], rest, occasion)


async def _partly_refused(
    answering: Answering, refused: list[tuple[Refuse, Message]], rest: Message | None, occasion: Occasion
) -> Answer:
    """The answer to a request of which faults refuse parts, or all."""
    if _is_unacknowledged(occasion.request):
        raise RefusedRequestError(_UNACKNOWLEDGED)
    if len(refused) == 1 and rest is None:
        ((refuse, request),) = refused
        return await answering.refuse(request, Refused(refuse.code, refuse.message))
    answered: Answer = None if rest is None else await answering.handle(rest)
    for refuse, request in refused:
        part = await answering.refuse_items(request, Refused(refuse.code, refuse.message))
        version = occasion.call.version
        answered = items_only(part, version) if answered is None else with_refused(answered, part, version)
    return answered


def _is_unacknowledged(request: Message) -> bool:
    return isinstance(request, ProduceRequest) and not request.acks


def throttled(answer: Answer, version: int, milliseconds: int) -> Answer:
    """An answer with a throttle time, if its version has a field for it."""
    if not isinstance(answer, Message):
        return answer
    fields = type(answer).layouts().of_version(version).fields
    if any(field.attribute == "throttle_time_ms" and field.presence != "absent" for field in fields):
        return replace(answer, throttle_time_ms=milliseconds)
    return answer
