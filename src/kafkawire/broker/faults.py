"""Faults on demand: how a test makes a broker misbehave.

::

    broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=1)
    with broker.faults.delay(MetadataRequest, seconds=0.5):
        ...

They may be set and removed while clients are connected, and from any thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from types import TracebackType
from typing import Final, Self, TypeAlias, TypeVar

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.requests import Answer, Call, Refused, RefusedRequestError
from kafkawire.protocol import ProduceRequest
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import api_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError
from kafkawire.wire.message import Struct

__all__ = ["CappedVersions", "Drop", "Fault", "Faults", "answer_with_faults", "throttled"]

_TO_CONNECT: Final = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})

AnApi: TypeAlias = type[Message] | ApiKey
"""An API: the class of its request, or its key."""


class Delay(Struct, frozen=True, gc=False):
    """The request is looked at so many seconds later."""

    seconds: float


class Drop(Struct, frozen=True, gc=False):
    """The connection is closed in place of an answer."""

    after_handling: bool


class Refuse(Struct, frozen=True, gc=False):
    """Nothing is done, and the answer is an error."""

    code: int
    message: str | None


class Throttle(Struct, frozen=True, gc=False):
    """The answer asks the client to wait."""

    milliseconds: int


class Cap(Struct, frozen=True, gc=False):
    """No version above this one is offered; -1 for none at all."""

    highest: int


Action: TypeAlias = Delay | Drop | Refuse | Throttle | Cap
A = TypeVar("A", Delay, Drop, Refuse, Throttle)


class Fault:
    """A fault that is set; as a context it is removed in the end.

    Attributes:
        hits: how many requests have met it.
    """

    def __init__(
        self,
        action: Action,
        keys: frozenset[int],
        *,
        versions: Collection[int] | None = None,
        client_id: str | None = None,
        times: int | None = None,
        remove: Callable[[Fault], None],
    ) -> None:
        if times is not None and times < 1:
            raise ValueError(f"times is {times}; it must be 1 at least, or None for until it is removed")
        self.action = action
        self.hits = 0
        self._keys = keys
        self._versions = versions
        self._client_id = client_id
        self._times = times
        self._remove = remove

    def remove(self) -> None:
        """Requests no longer meet it; nothing happens if it is removed or spent already."""
        self._remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def concerns(self, key: int) -> bool:
        """Whether it is about an API; one that names none is about all but those by which clients connect."""
        return key in self._keys if self._keys else key not in _TO_CONNECT

    def is_met_by(self, call: Call) -> bool:
        """Whether a request meets it."""
        return (
            self.concerns(call.api_key)
            and (self._versions is None or call.version in self._versions)
            and (self._client_id is None or call.client_id == self._client_id)
        )

    def hit(self) -> None:
        """A request has met it; after the last of its times it is removed."""
        self.hits += 1
        if self._times is not None and self.hits >= self._times:
            self.remove()


class Faults:
    """The faults of a broker.

    All methods that set one take the APIs that it is about: request classes or keys, none for all APIs but
    ApiVersions, SaslHandshake and SaslAuthenticate. Where they have them, ``versions`` are those of requests that meet
    it, ``client_id`` is whose requests do, and ``times`` is how many do; None is all, until the fault is removed. A
    request that could meet two faults of one kind meets the one that was set first; faults of different kinds work
    together.

    All raise ``ValueError`` for numbers that make no sense, and for messages that are no requests.
    """

    def __init__(self) -> None:
        self._set: tuple[Fault, ...] = ()

    def delay(
        self,
        *apis: AnApi,
        seconds: float,
        versions: Collection[int] | None = None,
        client_id: str | None = None,
        times: int | None = None,
    ) -> Fault:
        """Requests wait for so many seconds on the broker's clock before they are looked at.

        Those behind them on the same connection wait too, as always.
        """
        if seconds < 0:
            raise ValueError(f"a delay of {seconds} seconds")
        return self._add(Delay(seconds), apis, versions, client_id, times)

    def drop(
        self,
        *apis: AnApi,
        after_handling: bool = False,
        versions: Collection[int] | None = None,
        client_id: str | None = None,
        times: int | None = None,
    ) -> Fault:
        """The connection is closed in place of an answer.

        Args:
            apis, versions, client_id, times: see the class.
            after_handling: whether what is asked for is done first, so that the client does not know of it.
        """
        return self._add(Drop(after_handling), apis, versions, client_id, times)

    def refuse(
        self,
        *apis: AnApi,
        error: int | type[ApiError],
        message: str | None = None,
        versions: Collection[int] | None = None,
        client_id: str | None = None,
        times: int | None = None,
    ) -> Fault:
        """Nothing is done, and the answer is an error for everything that was asked.

        Args:
            apis, versions, client_id, times: see the class.
            error: its class, ``NotControllerError``, or its code, known or not.
            message: its text, in versions that have one.
        """
        code = error if isinstance(error, int) else error.code
        if not -(1 << 15) <= code < 1 << 15:
            raise ValueError(f"error code {code} is no int16")
        return self._add(Refuse(code, message), apis, versions, client_id, times)

    def throttle(
        self,
        *apis: AnApi,
        milliseconds: int,
        versions: Collection[int] | None = None,
        client_id: str | None = None,
        times: int | None = None,
    ) -> Fault:
        """Answers ask the client to wait, in versions in which they can; the broker itself does not slow down."""
        if not 0 <= milliseconds < 1 << 31:
            raise ValueError(f"a throttle time of {milliseconds} ms")
        return self._add(Throttle(milliseconds), apis, versions, client_id, times)

    def cap_versions(self, *apis: AnApi, highest: int) -> Fault:
        """Versions above ``highest`` are not offered, and refused as those that never were."""
        return self._add(Cap(highest), apis)

    def hide(self, *apis: AnApi) -> Fault:
        """The APIs are not offered at all, and refused as if there were none."""
        return self._add(Cap(-1), apis)

    def clear(self) -> None:
        """Remove all faults."""
        self._set = ()

    def of(self, kind: type[A], call: Call) -> A | None:
        """What a request meets of one kind."""
        for fault in self._set:
            if isinstance(fault.action, kind) and fault.is_met_by(call):
                fault.hit()
                return fault.action
        return None

    def cap(self, key: int) -> int | None:
        """The highest version of an API that is offered; None if that is as it would be."""
        caps = (fault.action.highest for fault in self._set if isinstance(fault.action, Cap) and fault.concerns(key))
        return min(caps, default=None)

    def __bool__(self) -> bool:
        return bool(self._set)

    def _add(
        self,
        action: Action,
        apis: Collection[AnApi],
        versions: Collection[int] | None = None,
        client_id: str | None = None,
        times: int | None = None,
    ) -> Fault:
        keys = frozenset(map(_key, apis))
        fault = Fault(action, keys, versions=versions, client_id=client_id, times=times, remove=self._take_away)
        self._set = (*self._set, fault)
        return fault

    def _take_away(self, fault: Fault) -> None:
        self._set = tuple(each for each in self._set if each is not fault)


class CappedVersions(Mapping[int, range]):
    """What a broker offers, as far as faults let it.

    Args:
        offered: API key to versions.
        faults: may cap them.
    """

    def __init__(self, offered: Mapping[int, range], faults: Faults) -> None:
        self._offered = offered
        self._faults = faults

    def __getitem__(self, key: int) -> range:
        versions = self._offered[key]
        highest = self._faults.cap(key) if self._faults else None
        if highest is None or highest >= versions[-1]:
            return versions
        if highest < versions[0]:
            raise KeyError(key)
        return range(versions[0], highest + 1)

    def __iter__(self) -> Iterator[int]:
        return (key for key in self._offered if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


async def answer_with_faults(
    faults: Faults, clock: Clock, answer: Callable[[Refused | None], Awaitable[Answer]], request: Message, call: Call
) -> Answer:
    """Answer a request to which faults may apply.

    Args:
        faults: those of the broker.
        clock: measures delays.
        answer: makes the answer of the handler, or that of a refusal in its place.
        request: the request.
        call: its version and client.

    Raises:
        RefusedRequestError: the connection is to be closed.
    """
    delay = faults.of(Delay, call)
    if delay is not None:
        await clock.sleep(delay.seconds)
    drop, refuse, throttle = faults.of(Drop, call), faults.of(Refuse, call), faults.of(Throttle, call)
    if drop is not None and not drop.after_handling:
        raise RefusedRequestError("a fault closes the connection in place of handling the request")
    if refuse is not None and isinstance(request, ProduceRequest) and not request.acks:
        raise RefusedRequestError("a fault refuses a Produce request with acks 0, which has no response for the error")
    answered = await answer(Refused(refuse.code, refuse.message) if refuse is not None else None)
    if drop is not None:
        raise RefusedRequestError("a fault closes the connection after the request was handled")
    return throttled(answered, call.version, throttle.milliseconds) if throttle is not None else answered


def throttled(answer: Answer, version: int, milliseconds: int) -> Answer:
    """An answer that asks the client to wait, if there is room for that in its version."""
    if not isinstance(answer, Message):
        return answer
    fields = type(answer).layouts().of_version(version).fields
    if any(field.attribute == "throttle_time_ms" and field.presence != "absent" for field in fields):
        return replace(answer, throttle_time_ms=milliseconds)
    return answer


def _key(api: AnApi) -> int:
    if isinstance(api, int):
        return int(api)
    known = api_of(api)
    if known.request != api.NAME:
        raise ValueError(f"{api.NAME} is not a request")
    return known.key
