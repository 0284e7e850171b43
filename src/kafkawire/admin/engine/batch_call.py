"""Carrying out a call: from items to the outcome of each.

Items that go to one node share requests, requests are pipelined, and what fails for a passing reason is sent again
until the deadline of the call. At the end every item has a value or an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Generic, TypeAlias

from kafkawire.admin.backoff import Backoff
from kafkawire.admin.cluster import Cluster
from kafkawire.admin.engine.item_states import ItemState, by_lowest_version, chunks, maximum_version, minimum_version
from kafkawire.admin.engine.lookups import FindCoordinators, FindLeaders, leader_of
from kafkawire.admin.engine.operation import K, Operation, Outcomes, Progress, Request, V
from kafkawire.admin.engine.retrying import OUTCOME_UNKNOWN, is_retried
from kafkawire.admin.engine.route import AnyNode, Controller, CoordinatorOf, CoordinatorType, LeaderOf, OnNode, Route
from kafkawire.admin.event_loop import now, together
from kafkawire.admin.pool import Link
from kafkawire.admin.results import Results
from kafkawire.model.nodes import Node
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
from kafkawire.wire import EncodeError
from kafkawire.wire.kafka_errors import (
    ApiError,
    ClosedError,
    ConnectionFailedError,
    DisconnectedError,
    KafkaError,
    OperationTimeoutError,
)

Place: TypeAlias = AnyNode | Controller | OnNode
"""The destination of a request after coordinators and leaders were looked up."""


class BatchCall(Generic[K, V]):
    """One call, from its first request to the last outcome.

    Args:
        cluster: the destination.
        deadline: time of the event loop at which it ends.
        progress: called after each outcome.
        retries: whether to try again at all; lookups leave that to the call that they are for.
    """

    def __init__(
        self, cluster: Cluster, deadline: float, *, progress: Progress | None = None, retries: bool = True
    ) -> None:
        self._cluster = cluster
        self._began = now()
        self._deadline = deadline
        self._progress = progress
        self._retries = retries
        self._outcomes: dict[K, V | KafkaError] = {}
        self._in_flight: dict[tuple[int, int], asyncio.Semaphore] = {}
        self._total = 0
        self._tasks: asyncio.TaskGroup
        self._time = asyncio.timeout_at(deadline)
        self._is_ended = False

    async def run(self, operation: Operation[K, V, Any], items: Iterable[K]) -> Results[K, V]:
        """Carry out an operation on some items; equal ones are sent once. To be called once."""
        given = list(items)
        states = [ItemState(item) for item in dict.fromkeys(given)]
        self._total = len(states)
        sound = [state for state in states if not self._is_refused(operation, state)]
        with contextlib.suppress(TimeoutError):
            async with self._time, together() as self._tasks:
                self._spawn(self._dispatch(operation, sound))
        for state in states:
            if state.item not in self._outcomes:
                closed = ClosedError("the client was closed during the call")
                self._settle(operation, state, closed if self._is_ended else self._timeout(operation, state))
        return Results(self._outcomes, given)

    def end(self) -> None:
        """End at once; items without an outcome end with `ClosedError`."""
        self._is_ended = True
        if not self._time.expired():
            self._time.reschedule(now())

    def _is_refused(self, operation: Operation[K, V, Any], state: ItemState[K]) -> bool:
        """Settle an invalid item without sending it."""
        problem = operation.validate(state.item)
        if problem is None and self._asks_controllers() and not operation.on_controllers:
            problem = UnsupportedEndpointTypeError(
                f"{operation.name} is not served by controllers; connect to the brokers (bootstrap_servers)"
            )
        if problem is not None:
            self._settle(operation, state, problem)
        return problem is not None

    def _asks_controllers(self) -> bool:
        return self._cluster.kind == "controllers"

    async def _dispatch(self, operation: Operation[K, V, Any], states: Sequence[ItemState[K]]) -> None:
        """Resolve the routes of items, and send them."""
        for state in states:
            state.route = operation.route_of(state.item)
        coordinators = await self._coordinators(state.route for state in states)
        topics = await self._leaders(state.route for state in states)
        lost: list[tuple[ItemState[K], KafkaError]] = []
        grouped: defaultdict[tuple[Place, object], list[ItemState[K]]] = defaultdict(list)
        for state in states:
            place = _place(state.route, coordinators, topics)
            if isinstance(place, KafkaError):
                lost.append((state, place))
            else:
                grouped[place, operation.group_key(state.item)].append(state)
        self._handle_failures(operation, lost)
        for (place, _), group in grouped.items():
            for chunk in chunks(operation, group):
                self._spawn(self._send(operation, place, chunk))

    async def _coordinators(self, routes: Iterable[Route]) -> Outcomes[tuple[CoordinatorType, str], int]:
        keys: defaultdict[CoordinatorType, list[str]] = defaultdict(list)
        for route in routes:
            if isinstance(route, CoordinatorOf):
                keys[route.type].append(route.key)
        found: dict[tuple[CoordinatorType, str], int | KafkaError] = {}
        for type_, names in keys.items():
            lookup = BatchCall[str, int](self._cluster, self._deadline, retries=False)
            results = await lookup.run(FindCoordinators(type_), names)
            found.update({(type_, name): outcome for name, outcome in results.items()})
        return found

    async def _leaders(self, routes: Iterable[Route]) -> Outcomes[str, dict[int, int | KafkaError]]:
        topics = [route.partition.topic for route in routes if isinstance(route, LeaderOf)]
        if not topics:
            return {}
        lookup = BatchCall[str, dict[int, int | KafkaError]](self._cluster, self._deadline, retries=False)
        return dict((await lookup.run(FindLeaders(), topics)).items())

    async def _send(self, operation: Operation[K, V, Any], place: Place, states: Sequence[ItemState[K]]) -> None:
        """Send one request, and interpret its answer or its failure."""
        for state in states:
            state.attempts += 1
        node: Node | None = None
        outcomes: Outcomes[K, V]
        try:
            node, channel = await self._reach(place)
            outcomes = await self._ask(operation, node, channel, states)
        except UnsupportedVersionError as error:
            if self._send_otherwise(operation, place, states):
                return
            outcomes = {state.item: error for state in states}
        except EncodeError as error:
            if self._send_in_halves(operation, place, states):
                return
            outcomes = {state.item: _unsendable(error) for state in states}
        except KafkaError as error:
            self._notice(error, node)
            for state in states:
                state.lost_its_answer()
            outcomes = {state.item: error for state in states}
        except TimeoutError:
            return  # the deadline of the call: `run` settles the open items
        self._interpret(operation, states, outcomes, node)

    async def _reach(self, place: Place) -> tuple[Node, Link]:
        if isinstance(place, OnNode):
            return await self._cluster.node(place.node_id, self._deadline)
        if isinstance(place, Controller) or self._asks_controllers():
            return await self._cluster.controller(self._deadline)
        return await self._cluster.any_node(self._deadline)

    async def _ask(
        self, operation: Operation[K, V, Any], node: Node, channel: Link, states: Sequence[ItemState[K]]
    ) -> Outcomes[K, V]:
        """The answer of a node, in a version that both sides support, within the timeout of one request."""
        api = APIS[operation.api]
        version = channel.versions.choose(
            message_class(api.request), minimum=minimum_version(operation, states),
            maximum=maximum_version(operation), unstable=self._cluster.settings.proposals,
        )  # fmt: skip
        patience = self._cluster.settings.request_timeout
        async with self._turn(operation, node):
            if channel.throttled_until > now():
                for state in states:
                    state.throttled_until = channel.throttled_until
            await asyncio.sleep(max(0.0, channel.throttled_until - now()))
            request = Request([state.item for state in states], version, self._timeout_ms(), node.id)
            for state in states:
                state.is_out = True
            message, until = operation.build(request), now() + patience
            try:
                answer = await channel.request(message, operation.response_class(), version, min(self._deadline, until))
            except TimeoutError as error:
                if self._deadline <= until:
                    raise TimeoutError from error  # of the call, not of the request
                raise RequestTimedOutError(f"no answer within {patience:g} s") from error
        self._cluster.trust(node.id)
        for state in states:
            state.is_out = False
            state.throttled_until = channel.throttled_until
        return operation.outcomes(request, answer)

    def _turn(self, operation: Operation[K, V, Any], node: Node) -> asyncio.Semaphore:
        """The semaphore that limits the requests in flight to a node."""
        limit = self._cluster.settings.requests_in_flight
        limit = limit if operation.in_flight is None else min(limit, operation.in_flight)
        return self._in_flight.setdefault((node.id, limit), asyncio.Semaphore(limit))

    def _send_otherwise(self, operation: Operation[K, V, Any], place: Place, states: Sequence[ItemState[K]]) -> bool:
        """Send items separately that need different versions, or all by the fallback; False if neither is possible."""
        for state in states:
            state.was_not_sent()  # a downgrade is no attempt (admin-downgrade)
        parts = by_lowest_version(operation, states)
        fallback = operation.fallback()
        if len(parts) > 1:
            for part in parts:
                self._spawn(self._send(operation, place, part))
        elif fallback is not None:
            self._spawn(self._dispatch(fallback, states))
        return len(parts) > 1 or fallback is not None

    def _send_in_halves(self, operation: Operation[K, V, Any], place: Place, states: Sequence[ItemState[K]]) -> bool:
        """Send items in halves of which one cannot be encoded; False for a single item."""
        for state in states:
            state.was_not_sent()
        half = len(states) // 2
        if half:
            for some in (states[:half], states[half:]):
                self._spawn(self._send(operation, place, some))
        return half > 0

    def _interpret(
        self,
        operation: Operation[K, V, Any],
        states: Sequence[ItemState[K]],
        outcomes: Outcomes[K, V],
        node: Node | None,
    ) -> None:
        """Settle the items that have a value; note the errors of the others, each with the node that it is of."""
        missing = UnknownServerError("the answer has no result for this item")
        failed: list[tuple[ItemState[K], KafkaError]] = []
        for state in states:
            outcome = outcomes.get(state.item, missing)
            if isinstance(outcome, KafkaError):
                error = copy.copy(outcome)
                error.node = node.id if node is not None and node.id >= 0 else None
                failed.append((state, error))
            else:
                self._settle(operation, state, outcome)
        self._handle_failures(operation, failed)

    def _handle_failures(
        self, operation: Operation[K, V, Any], failures: Sequence[tuple[ItemState[K], KafkaError]]
    ) -> None:
        """Settle the items whose errors are final; send the others again, or by the operation's fallback."""
        again: list[ItemState[K]] = []
        otherwise: list[ItemState[K]] = []
        fallback = operation.fallback() if failures else None
        for state, error in failures:
            state.failure = error
            code = error.code if isinstance(error, ApiError) else None
            if code == NotControllerError.code or (code == NotLeaderOrFollowerError.code and self._asks_controllers()):
                self._cluster.forget_controller()
            if code in OUTCOME_UNKNOWN:
                state.is_uncertain = True
            if code == ThrottlingQuotaExceededError.code:
                error.throttle_ms = _throttle_ms(state)
            if fallback is not None and code in operation.fallback_codes:
                otherwise.append(state)
            elif self._is_worth_another_try(operation, state.route, error):
                again.append(state)
            else:
                self._settle(operation, state, error)
        if fallback is not None and otherwise:
            self._spawn(self._dispatch(fallback, otherwise))
        if again:
            self._spawn(self._try_again(operation, again))

    def _is_worth_another_try(self, operation: Operation[K, V, Any], route: Route, error: KafkaError) -> bool:
        # Without a throttle time only the deadline counts: the result must not depend on when the answer was read.
        in_time = not error.throttle_ms or now() + error.throttle_ms / 1000 < self._deadline
        return (
            self._retries
            and in_time
            and is_retried(operation, route, error, throttled=self._cluster.settings.retry_throttled)
        )

    async def _try_again(self, operation: Operation[K, V, Any], states: Sequence[ItemState[K]]) -> None:
        attempt = max(1, *(state.attempts for state in states))
        # Brokers close idle connections at any time; a call that finds one closed need not wait.
        if attempt > 1 or not all(isinstance(state.failure, DisconnectedError) for state in states):
            settings = self._cluster.settings
            pause = Backoff(settings.retry_backoff, settings.retry_backoff_maximum).seconds(attempt)
            await asyncio.sleep(pause)
        await self._dispatch(operation, states)

    def _notice(self, error: KafkaError, node: Node | None) -> None:
        """Note that a node gave no answer: others are preferred, and the list of live nodes is outdated."""
        if node is not None:
            self._cluster.doubt(node.id)
        if isinstance(error, (ConnectionFailedError, DisconnectedError)):
            self._cluster.outdate()

    def _settle(self, operation: Operation[K, V, Any], state: ItemState[K], outcome: V | KafkaError) -> None:
        if isinstance(outcome, KafkaError):
            outcome.attempts = state.attempts
            outcome.outcome_unknown = operation.mutates and (state.is_uncertain or state.is_out)
        self._outcomes[state.item] = outcome
        if self._progress is not None:
            self._progress(len(self._outcomes), self._total)

    def _timeout(self, operation: Operation[K, V, Any], state: ItemState[K]) -> KafkaError:
        """The error of an item that has no outcome at the deadline; its last failure is chained."""
        cause = state.failure
        if isinstance(cause, ThrottlingQuotaExceededError):
            cause.throttle_ms = _throttle_ms(state)
            return cause
        reason = None if cause is not None else self._waited_for(state)
        node = cause.node if cause is not None else None
        error = OperationTimeoutError(operation.name, reason, node=node, waited=now() - self._began)
        error.__cause__ = cause
        return error

    def _waited_for(self, state: ItemState[K]) -> str | None:
        """Why an item that never failed has no outcome."""
        if state.is_out:
            return "no answer came"
        seconds = _throttle_ms(state) / 1000
        if seconds:
            return (
                f"a quota throttles this client for {seconds:.1f} s more; give the call a longer timeout, or its user "
                "or client id a higher request_percentage or controller_mutation_rate"
            )
        return self._cluster.unreached()

    def _timeout_ms(self) -> int:
        return max(1, int(1000 * min(self._cluster.settings.request_timeout, self._deadline - now())))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.create_task(work)


def _place(
    route: Route,
    coordinators: Outcomes[tuple[CoordinatorType, str], int],
    topics: Outcomes[str, dict[int, int | KafkaError]],
) -> Place | KafkaError:
    """The destination of a route after coordinators and leaders were looked up, or the error of the lookup."""
    match route:
        case CoordinatorOf(type_, key):
            found = coordinators[type_, key]
        case LeaderOf(partition):
            found = leader_of(partition, topics)
        case _:
            return route
    return found if isinstance(found, KafkaError) else OnNode(found)


def _throttle_ms(state: ItemState[Any]) -> int:
    """The rest of the throttle time of the broker that answered last for an item."""
    return max(0, round(1000 * (state.throttled_until - now())))


def _unsendable(error: EncodeError) -> KafkaError:
    """The error of a value that no version can carry."""
    invalid = InvalidRequestError(str(error))
    invalid.__cause__ = error
    return invalid
