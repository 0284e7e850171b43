"""Fault injection: tests make a broker misbehave.

::

    broker.faults.refuse(CreateTopicsRequest, error=NotControllerError, times=1)
    with broker.faults.delay(MetadataRequest, seconds=0.5, topic="orders"):
        ...

Faults may be set and removed while clients are connected, and from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias, TypeVar, Unpack

from kafkawire.broker.faults.actions import Action, Cap, Delay, Drop, Refuse, Throttle
from kafkawire.broker.faults.chance import NOTHING, Chance, Decision, Draws
from kafkawire.broker.faults.fault import Fault, FaultLimits, Occasion
from kafkawire.broker.faults.parts import Parts
from kafkawire.broker.request_log import check_message_class
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import api_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ApiError

Api: TypeAlias = type[Message] | ApiKey
"""The class of an API's request, or its key."""

A = TypeVar("A", Delay, Drop, Throttle)


class Faults:
    """The faults of a broker.

    Args:
        on_restart: restarts the broker; None if it would lose its state.

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

    def __init__(self, on_restart: Callable[[], None] | None = None) -> None:
        self._set: tuple[Fault, ...] = ()
        self._on_restart = on_restart

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

    def by_chance(self, chance: Chance, *apis: Api, **limits: Unpack[FaultLimits]) -> Fault:
        """Let a seed decide which requests are delayed, refused or cut off, when the broker restarts, and so on.

        Requests are counted from now on. ``times`` limits the number of requests to which something happens. Of several
        such faults, the one that was set first applies to a request; other kinds of faults come on top. With a
        `ManualClock`, a delay moves the clock.

        Args:
            chance: the seed, and how often which fault happens.
            apis, limits: see the class.

        Raises:
            ValueError: the broker is to restart, but has no data directory: it would lose its state.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient, NewTopic
            from kafkawire.broker import Chance, ThreadedBroker

            with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                with broker.faults.by_chance(Chance(seed=7, cuts=0.3)) as faults:
                    for number in range(10):
                        admin.create_topics([NewTopic(f"orders-{number}")])  # some are acknowledged, some are not
                print(faults.hits, "requests of ten or more met a fault, and always the same ones")
            ```
        """
        if chance.restarts and self._on_restart is None:
            raise ValueError("a broker in memory loses its state when it restarts: give it a data_dir, or no restarts")
        return self._add(Draws(chance), apis, **limits)

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

    def of(self, kind: type[A], occasion: Occasion) -> A | None:
        """The fault of one kind that applies to a request; None if there is none."""
        for fault in self._set:
            if isinstance(fault.action, kind) and fault.parts(occasion).matching is not None:
                fault.hit()
                return fault.action
        return None

    def decision(self, occasion: Occasion) -> tuple[Decision, Parts]:
        """What chance decides about a request, and the part of it which that concerns."""
        for fault in self._set:
            if isinstance(fault.action, Draws):
                parts = fault.parts(occasion)
                if parts.matching is not None:
                    decision = fault.action.decision(occasion.call.client_id, occasion.call.api_key)
                    if decision is not NOTHING:
                        fault.hit()
                    return decision, parts
        return NOTHING, Parts(None, occasion.request)

    def seconds_before_write(self, files: str) -> float:
        """For how long the next write to some files waits.

        Args:
            files: their name.
        """
        draws = (fault.action for fault in self._set if isinstance(fault.action, Draws))
        return next((each.seconds_before_write(files) for each in draws), 0.0)

    def restart(self) -> None:
        """Restart the broker, soon."""
        if self._on_restart is not None:
            self._on_restart()

    def refusals(self, occasion: Occasion) -> tuple[list[tuple[Refuse, Message]], Message | None]:
        """The parts of a request that are refused, and the rest; None if nothing is left."""
        refused: list[tuple[Refuse, Message]] = []
        rest: Message | None = occasion.request
        for fault in self._set:
            if isinstance(fault.action, Refuse) and rest is not None:
                matching, others = fault.parts(occasion._replace(request=rest))
                if matching is not None:
                    fault.hit()
                    refused.append((fault.action, matching))
                    rest = others
        return refused, rest

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


def _key(api: Api) -> int:
    if isinstance(api, int):
        return int(api)
    check_message_class(api)
    known = api_of(api)
    if known.request != api.NAME:
        raise ValueError(f"{api.NAME} is not a request")
    return known.key
