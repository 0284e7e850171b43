"""Fault injection: tests make a broker misbehave.

::

    broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=1)
    with broker.faults.delay(MetadataRequest, seconds=0.5):
        ...

Faults may be set and removed while clients are connected, and from any thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from types import TracebackType
from typing import Final, Self, TypeAlias, TypedDict, TypeVar, Unpack

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.request_log import check_message_class
from kafkawire.broker.requests import Answer, Call, Refused, RefusedRequestError
from kafkawire.near_names import did_you_mean
from kafkawire.protocol import ProduceRequest
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import api_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError
from kafkawire.wire.message import Struct

_TO_CONNECT: Final = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})

Api: TypeAlias = type[Message] | ApiKey
"""The class of an API's request, or its key."""


class Delay(Struct, frozen=True, gc=False):
    """The request is handled later."""

    seconds: float


class Drop(Struct, frozen=True, gc=False):
    """The connection is closed without a response."""

    after_handling: bool


class Refuse(Struct, frozen=True, gc=False):
    """The request is not handled, and the response is an error."""

    code: int
    message: str | None


class Throttle(Struct, frozen=True, gc=False):
    """The response has a throttle time."""

    milliseconds: int


class Cap(Struct, frozen=True, gc=False):
    """No version above this one is offered; none at all for -1."""

    highest: int


Action: TypeAlias = Delay | Drop | Refuse | Throttle | Cap
A = TypeVar("A", Delay, Drop, Refuse, Throttle)


_LIMITS: Final = "there are versions, client_id and times"


class FaultLimits(TypedDict, total=False):
    """The requests to which a fault applies; without limits, to all until it is removed.

    Attributes:
        versions: the versions of requests.
        client_id: the client id of requests.
        times: the number of requests.
    """

    versions: Collection[int] | None
    client_id: str | None
    times: int | None


class Fault:
    """A fault that was set; used as a context manager, it is removed at the end.

    Attributes:
        hits: to how many requests it was applied.
    """

    def __init__(
        self,
        action: Action,
        keys: frozenset[int],
        remove: Callable[[Fault], None],
        **limits: Unpack[FaultLimits],
    ) -> None:
        for name in limits.keys() - FaultLimits.__optional_keys__:
            hint = did_you_mean(name, FaultLimits.__optional_keys__)
            raise TypeError(f"a fault has no limit {name!r}; {hint or _LIMITS}")
        times = limits.get("times")
        if times is not None and times < 1:
            raise ValueError(f"times is {times}: pass 1 or more, or None to apply the fault until it is removed")
        self.action = action
        self.hits: int = 0
        self._keys = keys
        self._versions = limits.get("versions")
        self._client_id = limits.get("client_id")
        self._times = times
        self._remove = remove

    def __repr__(self) -> str:
        apis = ", ".join(ApiKey(key).name for key in sorted(self._keys)) or "all APIs"
        return f"<{self.action!r} for {apis}, {self.hits} hits>"

    def remove(self) -> None:
        """Stop applying it; nothing happens if it is no longer applied.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import MetadataRequest

            with ThreadedBroker() as broker:
                slow = broker.faults.delay(MetadataRequest, seconds=2.0)
                slow.remove()  # `with` does the same
            ```
        """
        self._remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def concerns(self, key: int) -> bool:
        """Whether it applies to an API; without named APIs, to all except those with which clients connect."""
        return key in self._keys if self._keys else key not in _TO_CONNECT

    def is_met_by(self, call: Call) -> bool:
        """Whether it applies to a request."""
        return (
            self.concerns(call.api_key)
            and (self._versions is None or call.version in self._versions)
            and (self._client_id is None or call.client_id == self._client_id)
        )

    def hit(self) -> None:
        """Count a request; after the last of its times it is removed."""
        self.hits += 1
        if self._times is not None and self.hits >= self._times:
            self.remove()


class Faults:
    """The faults of a broker.

    The methods that set a fault take the APIs that it applies to, as request classes or keys; without any it applies to
    all APIs except ApiVersions, SaslHandshake and SaslAuthenticate. Keyword arguments limit it to some requests, see
    `FaultLimits`. Of several faults of one kind, the one that was set first applies to a request; faults of different
    kinds are combined.

    All raise ``ValueError`` for numbers out of range, and for messages that are not requests; ``TypeError`` for limits
    that do not exist, and for anything else in place of an API.

    Example:
        ```python
        from kafkawire.admin import BlockingAdminClient, NewTopic
        from kafkawire.broker import ThreadedBroker
        from kafkawire.protocol import CreateTopicsRequest
        from kafkawire.protocol.errors import NotControllerError

        with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
            with broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=1) as fault:
                admin.create_topics([NewTopic("orders")]).all()  # the client tries again
            assert fault.hits == 1
        ```
    """

    def __init__(self) -> None:
        self._set: tuple[Fault, ...] = ()

    def delay(self, *apis: Api, seconds: float, **limits: Unpack[FaultLimits]) -> Fault:
        """Handle requests only after a number of seconds on the broker's clock.

        Later requests on the same connection wait too, as always.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import MetadataRequest
            from kafkawire.wire.kafka_errors import OperationTimeoutError

            with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                with broker.faults.delay(MetadataRequest, seconds=0.5):
                    try:
                        admin.list_topics(timeout=0.1)
                    except OperationTimeoutError:
                        print("the application would now show its last list")
            ```
        """
        if seconds < 0:
            raise ValueError(f"a delay of {seconds} seconds: pass 0 or more")
        return self._add(Delay(seconds), apis, **limits)

    def drop(self, *apis: Api, after_handling: bool = False, **limits: Unpack[FaultLimits]) -> Fault:
        """Close the connection without a response.

        Args:
            apis, limits: see the class.
            after_handling: whether the request is handled first, so that the client does not learn its outcome.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import MetadataRequest

            with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                lost = broker.faults.drop(MetadataRequest, times=2)
                assert set(admin.list_topics()) == {"orders"}  # the client has connected again, twice
                assert lost.hits == 2
            ```
        """
        return self._add(Drop(after_handling), apis, **limits)

    def refuse(
        self,
        *apis: Api,
        error: int | type[ApiError],
        message: str | None = None,
        **limits: Unpack[FaultLimits],
    ) -> Fault:
        """Do not handle requests, and respond with an error for everything in them.

        Args:
            apis, limits: see the class.
            error: its class, such as ``NotControllerError``, or its code, which need not be one of Kafka's.
            message: its text, in versions that have a field for it.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient, NewTopic
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import CreateTopicsRequest
            from kafkawire.protocol.errors import PolicyViolationError

            with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                broker.faults.refuse(CreateTopicsRequest, error=PolicyViolationError, message="use three replicas")
                results = admin.create_topics([NewTopic("orders")])
                assert isinstance(results.errors()["orders"], PolicyViolationError)
            ```
        """
        code = error if isinstance(error, int) else error.code
        if not -(1 << 15) <= code < 1 << 15:
            raise ValueError(f"error code {code} is not an int16")
        return self._add(Refuse(code, message), apis, **limits)

    def throttle(self, *apis: Api, milliseconds: int, **limits: Unpack[FaultLimits]) -> Fault:
        """Put a throttle time into responses that have a field for it; the broker does not mute the connection.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import MetadataRequest

            with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                with broker.faults.throttle(MetadataRequest, milliseconds=50, client_id="kafkawire-admin"):
                    admin.list_topics()
                    admin.list_topics()  # sent 50 ms later
            ```
        """
        if not 0 <= milliseconds < 1 << 31:
            raise ValueError(f"a throttle time of {milliseconds} ms: pass 0 or more, within an int32")
        return self._add(Throttle(milliseconds), apis, **limits)

    def cap_versions(self, *apis: Api, highest: int) -> Fault:
        """Do not offer versions above ``highest``, and refuse them like versions that do not exist.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import MetadataRequest

            with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                broker.faults.cap_versions(MetadataRequest, highest=9)  # as a broker of 2.7: it has no ids of topics
                assert admin.list_topics()["orders"].topic_id is None
            ```
        """
        return self._add(Cap(highest), apis)

    def hide(self, *apis: Api) -> Fault:
        """Do not offer the APIs, and refuse their requests like those of APIs that do not exist.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import DescribeClusterRequest

            with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                broker.faults.hide(DescribeClusterRequest)  # as a broker before 2.8
                assert admin.describe_cluster().cluster_id == broker.cluster_id  # the client falls back to Metadata
            ```
        """
        return self._add(Cap(-1), apis)

    def clear(self) -> None:
        """Remove all faults.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker

            with ThreadedBroker() as broker:
                broker.faults.drop()  # every request
                broker.faults.clear()  # at the end of a test, for the next one
            ```
        """
        self._set = ()

    def of(self, kind: type[A], call: Call) -> A | None:
        """The fault of one kind that applies to a request; None if there is none."""
        for fault in self._set:
            if isinstance(fault.action, kind) and fault.is_met_by(call):
                fault.hit()
                return fault.action
        return None

    def cap(self, key: int) -> int | None:
        """The highest version of an API that faults let the broker offer; None if they set none."""
        caps = (fault.action.highest for fault in self._set if isinstance(fault.action, Cap) and fault.concerns(key))
        return min(caps, default=None)

    def __bool__(self) -> bool:
        return bool(self._set)

    def __repr__(self) -> str:
        return f"<Faults {list(self._set)!r}>"

    def _add(self, action: Action, apis: Collection[Api], **limits: Unpack[FaultLimits]) -> Fault:
        fault = Fault(action, frozenset(map(_key, apis)), self._take_away, **limits)
        self._set = (*self._set, fault)
        return fault

    def _take_away(self, fault: Fault) -> None:
        self._set = tuple(each for each in self._set if each is not fault)


class CappedVersions(Mapping[int, range]):
    """The versions that a broker offers, limited by faults.

    Args:
        offered: API key to versions.
        faults: may limit them.
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
    """An answer with a throttle time, if its version has a field for it."""
    if not isinstance(answer, Message):
        return answer
    fields = type(answer).layouts().of_version(version).fields
    if any(field.attribute == "throttle_time_ms" and field.presence != "absent" for field in fields):
        return replace(answer, throttle_time_ms=milliseconds)
    return answer


def _key(api: Api) -> int:
    if isinstance(api, int):
        return int(api)
    check_message_class(api)
    known = api_of(api)
    if known.request != api.NAME:
        raise ValueError(f"{api.NAME} is not a request")
    return known.key
