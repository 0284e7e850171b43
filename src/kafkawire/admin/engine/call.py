"""Carrying out a call: from items to the outcome of each.

Items that go to one node share requests, requests are pipelined, and what fails for a passing reason is sent again
until the one deadline of the call. Nothing is lost: at the end every item has a value or an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias

from kafkawire.admin.backoff import Backoff
from kafkawire.admin.cluster import Cluster
from kafkawire.admin.engine.lookups import FindCoordinators, FindLeaders, leader_of
from kafkawire.admin.engine.operation import K, Operation, R, Request, V
from kafkawire.admin.engine.progress import Progress
from kafkawire.admin.engine.retrying import OUTCOME_UNKNOWN, is_retried
from kafkawire.admin.engine.route import AnyNode, Controller, CoordinatorOf, CoordinatorType, LeaderOf, OnNode, Route
from kafkawire.admin.engine.tasks import together
from kafkawire.admin.nodes import Node
from kafkawire.admin.pool import Channel
from kafkawire.admin.results import Results
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.protocol.errors import (
    InvalidRequestError,
    NotControllerError,
    NotLeaderOrFollowerError,
    RequestTimedOutError,
    ThrottlingQuotaExceededError,
    UnknownServerError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
)
from kafkawire.wire import EncodeError, Message
from kafkawire.wire.kafka_errors import (
    ApiError,
    ClosedError,
    ConnectionFailedError,
    DisconnectedError,
    KafkaError,
    OperationTimeoutError,
)

Place: TypeAlias = AnyNode | Controller | OnNode
"""Where a request goes once coordinators and leaders are looked up."""


class Call(Generic[K, V]):
    """One call, from its first request to the last outcome.

    Args:
        cluster: where to.
        deadline: time of the event loop at which it ends, whatever is still open.
        progress: told of each outcome.
        retries: whether to try again at all; lookups leave that to the call that they are for.
    """

    def __init__(
        self, cluster: Cluster, deadline: float, *, progress: Progress | None = None, retries: bool = True
    ) -> None:
        self._cluster = cluster
        self._settings = cluster.settings
        self._deadline = deadline
        self._progress = progress
        self._retries = retries
        self._backoff = Backoff(cluster.settings.retry_backoff, cluster.settings.retry_backoff_maximum)
        self._outcomes: dict[K, V | KafkaError] = {}
        self._attempts: dict[K, int] = {}
        self._failures: dict[K, KafkaError] = {}
        self._out: set[K] = set()
        self._uncertain: set[K] = set()
        self._throttled_until: dict[K, float] = {}
        self._in_flight: dict[tuple[int, int], asyncio.Semaphore] = {}
        self._total = 0
        self._tasks: asyncio.TaskGroup
        self._time = asyncio.timeout_at(deadline)
        self._is_ended = False

    async def run(self, operation: Operation[K, V, Any], items: Iterable[K]) -> Results[K, V]:
        """Carry out an operation on some items; equal ones are sent once. To be called once."""
        given = list(items)
        wanted = list(dict.fromkeys(given))
        self._total = len(wanted)
        sound = [item for item in wanted if not self._is_refused(operation, item)]
        with contextlib.suppress(TimeoutError):
            async with self._time, together() as self._tasks:
                self._spawn(self._dispatch(operation, sound))
        for item in wanted:
            if item not in self._outcomes:
                closed = ClosedError("the client was closed during the call")
                self._settle(operation, item, closed if self._is_ended else self._timeout(operation, item))
        return Results(self._outcomes, given)

    def end(self) -> None:
        """End at once; what has no outcome yet ends with `ClosedError`."""
        self._is_ended = True
        if not self._time.expired():
            self._time.reschedule(_now())

    def _is_refused(self, operation: Operation[K, V, Any], item: K) -> bool:
        """Settle an item that need not be sent to know what is wrong with it."""
        problem = operation.validate(item)
        if problem is None and self._asks_controllers() and not operation.on_controllers:
            problem = UnsupportedEndpointTypeError(
                f"{operation.name} is not served by controllers; connect to the brokers (bootstrap_servers)"
            )
        if problem is not None:
            self._settle(operation, item, problem)
        return problem is not None

    def _asks_controllers(self) -> bool:
        return self._cluster.kind == "controllers"

    async def _dispatch(self, operation: Operation[K, V, Any], items: Sequence[K]) -> None:
        """Find out where items go, and send them there."""
        if not items:
            return
        routes = {item: operation.route(item) for item in items}
        places, failures = await self._places(routes)
        self._sort_out(operation, routes, failures)
        together: defaultdict[tuple[Place, object], list[K]] = defaultdict(list)
        for item, place in places.items():
            together[place, operation.group_key(item)].append(item)
        for (place, _), group in together.items():
            for chunk in _chunks(group, operation):
                self._spawn(self._send(operation, place, routes, chunk))

    async def _places(self, routes: Mapping[K, Route]) -> tuple[dict[K, Place], dict[K, KafkaError]]:
        """The place of each item, or what went wrong in looking it up."""
        coordinators = await self._coordinators(routes.values())
        topics = await self._leaders(routes.values())
        places: dict[K, Place] = {}
        failures: dict[K, KafkaError] = {}
        for item, route in routes.items():
            match route:
                case CoordinatorOf(type_, key):
                    found = coordinators[type_, key]
                case LeaderOf(partition):
                    found = leader_of(partition, topics)
                case _:
                    places[item] = route
                    continue
            if isinstance(found, KafkaError):
                failures[item] = found
            else:
                places[item] = OnNode(found)
        return places, failures

    async def _coordinators(self, routes: Iterable[Route]) -> dict[tuple[CoordinatorType, str], int | KafkaError]:
        keys: defaultdict[CoordinatorType, list[str]] = defaultdict(list)
        for route in routes:
            if isinstance(route, CoordinatorOf):
                keys[route.type].append(route.key)
        found: dict[tuple[CoordinatorType, str], int | KafkaError] = {}
        for type_, names in keys.items():
            lookup = Call[str, int](self._cluster, self._deadline, retries=False)
            results = await lookup.run(FindCoordinators(type_), names)
            found.update({(type_, name): outcome for name, outcome in results.items()})
        return found

    async def _leaders(self, routes: Iterable[Route]) -> dict[str, dict[int, int | KafkaError] | KafkaError]:
        topics = [route.partition.topic for route in routes if isinstance(route, LeaderOf)]
        if not topics:
            return {}
        lookup = Call[str, dict[int, int | KafkaError]](self._cluster, self._deadline, retries=False)
        return dict((await lookup.run(FindLeaders(), topics)).items())

    async def _send(
        self, operation: Operation[K, V, Any], place: Place, routes: Mapping[K, Route], items: Sequence[K]
    ) -> None:
        """Send one request and deal with its answer, or with what came instead of it."""
        node_id: int | None = None
        api = APIS[operation.api]
        for item in items:
            self._attempts[item] = self._attempts.get(item, 0) + 1
        try:
            node, channel = await self._reach(place)
            node_id = node.id
            version = channel.versions.choose(
                message_class(api.request), minimum=_minimum_version(operation, items),
                maximum=operation.maximum_version, unstable=self._settings.proposals,
            )  # fmt: skip
            async with self._turn(operation, node):
                await asyncio.sleep(max(0.0, channel.throttled_until - _now()))
                request = Request(items, version, self._timeout_ms(), node.id)
                self._out.update(items)
                answer = await self._ask(channel, operation.build(request), message_class(api.response), version)
            self._cluster.trust(node.id)
            self._out.difference_update(items)
            self._throttled_until.update(dict.fromkeys(items, channel.throttled_until))
            outcomes = operation.read(request, answer)
        except UnsupportedVersionError as error:
            self._was_not_sent(items)  # a downgrade is no attempt (admin-downgrade)
            parts = _by_lowest_version(operation, items)
            if len(parts) > 1:
                for part in parts:
                    self._spawn(self._send(operation, place, routes, part))
                return
            fallback = operation.fallback()
            if fallback is not None:
                self._spawn(self._dispatch(fallback, items))
                return
            outcomes = dict.fromkeys(items, error)
        except EncodeError as error:
            self._was_not_sent(items)
            if len(items) > 1:
                half = len(items) // 2
                for some in (items[:half], items[half:]):
                    self._spawn(self._send(operation, place, routes, some))
                return
            outcomes = dict.fromkeys(items, _unsendable(error))
        except KafkaError as error:
            self._notice(error, node_id)
            self._uncertain.update(self._out.intersection(items))
            self._out.difference_update(items)
            outcomes = dict.fromkeys(items, error)
        except TimeoutError:
            return  # the deadline of the call: `run` has the last word
        missing = UnknownServerError("the answer says nothing about it")
        failures = self._take(operation, {item: outcomes.get(item, missing) for item in items}, node_id)
        self._sort_out(operation, routes, failures)

    def _turn(self, operation: Operation[K, V, Any], node: Node) -> asyncio.Semaphore:
        """What a request waits for while too many are on their way to its node."""
        limit = self._settings.requests_in_flight
        limit = limit if operation.in_flight is None else min(limit, operation.in_flight)
        return self._in_flight.setdefault((node.id, limit), asyncio.Semaphore(limit))

    def _was_not_sent(self, items: Sequence[K]) -> None:
        self._out.difference_update(items)
        for item in items:
            self._attempts[item] -= 1

    async def _reach(self, place: Place) -> tuple[Node, Channel]:
        if isinstance(place, OnNode):
            return await self._cluster.node(place.node_id, self._deadline)
        if isinstance(place, Controller) or self._asks_controllers():
            return await self._cluster.controller(self._deadline)
        return await self._cluster.any_node(self._deadline)

    async def _ask(self, channel: Channel, message: Message, response_class: type[R], version: int) -> R:
        """The answer to a request, which has the time of one request for itself."""
        patience = self._settings.request_timeout
        try:
            return await channel.request(message, response_class, version, min(self._deadline, _now() + patience))
        except TimeoutError as error:
            raise RequestTimedOutError(f"no answer within {patience:g} s") from error

    def _take(
        self, operation: Operation[K, V, Any], outcomes: Mapping[K, V | KafkaError], node_id: int | None
    ) -> dict[K, KafkaError]:
        """Settle the items that have a value; the others with their errors, each of which knows the node."""
        failures: dict[K, KafkaError] = {}
        for item, outcome in outcomes.items():
            if isinstance(outcome, KafkaError):
                error = copy.copy(outcome)
                error.node = node_id if node_id is None or node_id >= 0 else None
                failures[item] = error
            else:
                self._settle(operation, item, outcome)
        return failures

    def _sort_out(
        self, operation: Operation[K, V, Any], routes: Mapping[K, Route], failures: Mapping[K, KafkaError]
    ) -> None:
        """Settle the items whose errors are final; send the others again, or by the operation's fallback."""
        again: list[K] = []
        otherwise: list[K] = []
        fallback = operation.fallback()
        for item, error in failures.items():
            code = error.code if isinstance(error, ApiError) else None
            self._failures[item] = error
            if code == NotControllerError.code or (code == NotLeaderOrFollowerError.code and self._asks_controllers()):
                self._cluster.forget_controller()
            if code in OUTCOME_UNKNOWN:
                self._uncertain.add(item)
            if code == ThrottlingQuotaExceededError.code:
                error.throttle_ms = self._throttle_ms(item)
            if fallback is not None and code in operation.fallback_codes:
                otherwise.append(item)
            elif self._is_worth_another_try(operation, routes[item], error):
                again.append(item)
            else:
                self._settle(operation, item, error)
        if fallback is not None and otherwise:
            self._spawn(self._dispatch(fallback, otherwise))
        if again:
            self._spawn(self._try_again(operation, again))

    def _is_worth_another_try(self, operation: Operation[K, V, Any], route: Route, error: KafkaError) -> bool:
        # Without a time to wait the deadline itself decides, so that the end is the same whenever the answer was read.
        in_time = not error.throttle_ms or _now() + error.throttle_ms / 1000 < self._deadline
        return (
            self._retries and in_time and is_retried(operation, route, error, throttled=self._settings.retry_throttled)
        )

    async def _try_again(self, operation: Operation[K, V, Any], items: Sequence[K]) -> None:
        attempt = max(self._attempts.get(item, 1) for item in items)
        # A broker closes idle connections whenever it likes; a call that meets one need not wait.
        if attempt > 1 or not all(isinstance(self._failures[item], DisconnectedError) for item in items):
            await asyncio.sleep(self._backoff.seconds(attempt))
        await self._dispatch(operation, items)

    def _notice(self, error: KafkaError, node_id: int | None) -> None:
        """Learn from a request that got no answer: other nodes first, and who is alive has to be asked again."""
        if node_id is not None:
            self._cluster.doubt(node_id)
        if isinstance(error, (ConnectionFailedError, DisconnectedError)):
            self._cluster.outdate()

    def _settle(self, operation: Operation[K, V, Any], item: K, outcome: V | KafkaError) -> None:
        if isinstance(outcome, KafkaError):
            outcome.attempts = self._attempts.get(item, 0)
            outcome.outcome_unknown = operation.mutates and (item in self._uncertain or item in self._out)
        self._outcomes[item] = outcome
        if self._progress is not None:
            self._progress(len(self._outcomes), self._total)

    def _timeout(self, operation: Operation[K, V, Any], item: K) -> KafkaError:
        """What an item ends with that has no outcome when the time is up; the last cause is chained."""
        cause = self._failures.get(item)
        if isinstance(cause, ThrottlingQuotaExceededError):
            cause.throttle_ms = self._throttle_ms(item)
            return cause
        told = None if cause is not None else "no answer came" if item in self._out else "no node could be reached yet"
        error = OperationTimeoutError(operation.name, told, node=cause.node if cause is not None else None)
        error.__cause__ = cause
        return error

    def _throttle_ms(self, item: K) -> int:
        """For how long the broker that last answered for an item still wants no request."""
        return max(0, round(1000 * (self._throttled_until.get(item, 0.0) - _now())))

    def _timeout_ms(self) -> int:
        return max(1, int(1000 * min(self._settings.request_timeout, self._deadline - _now())))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.create_task(work)


def _unsendable(error: EncodeError) -> KafkaError:
    """What a value comes to that no version can carry."""
    invalid = InvalidRequestError(str(error))
    invalid.__cause__ = error
    return invalid


def _minimum_version(operation: Operation[K, Any, Any], items: Sequence[K]) -> int:
    return max(operation.minimum_version, *map(operation.lowest_version, items))


def _by_lowest_version(operation: Operation[K, Any, Any], items: Sequence[K]) -> list[list[K]]:
    """Items that an older node may serve apart from those that it cannot."""
    parts: defaultdict[int, list[K]] = defaultdict(list)
    for item in items:
        parts[max(operation.minimum_version, operation.lowest_version(item))].append(item)
    return list(parts.values())


def _chunks(items: Sequence[K], operation: Operation[K, Any, Any]) -> Iterator[list[K]]:
    """Items split so that no request carries more than the operation allows, but each at least one."""
    chunk: list[K] = []
    weight = 0
    for item in items:
        more = operation.weight(item)
        if chunk and operation.batch is not None and weight + more > operation.batch:
            yield chunk
            chunk, weight = [], 0
        chunk.append(item)
        weight += more
    yield chunk


def _now() -> float:
    return asyncio.get_running_loop().time()
