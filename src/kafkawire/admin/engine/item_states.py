"""The items of a call: the state of each, and which of them share a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeAlias

import msgspec

from kafkawire.admin.engine.operation import K, Operation
from kafkawire.admin.engine.route import ANY_NODE, Route
from kafkawire.admin.first_versions import first_version
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class ItemState(msgspec.Struct, Generic[K]):
    """One item of a call, until it has an outcome.

    Attributes:
        item: the item itself.
        route: where its operation sends it.
        attempts: how many requests have carried it.
        failure: why the last of them failed; None for none so far.
        throttled_until: the end of the throttle time of the node that answered last, in the time of the event loop.
        is_out: whether a request with it waits for its answer.
        is_uncertain: whether a request may have been carried out although no answer says so.
    """

    item: K
    route: Route = ANY_NODE
    attempts: int = 0
    failure: KafkaError | None = None
    throttled_until: float = 0.0
    is_out: bool = False
    is_uncertain: bool = False

    def was_not_sent(self) -> None:
        """Take back an attempt that did not leave this client."""
        self.attempts -= 1
        self.is_out = False

    def lost_its_answer(self) -> None:
        """Note that a request ended without an answer; what was sent may have been carried out."""
        self.is_uncertain |= self.is_out
        self.is_out = False


AnyOperation: TypeAlias = Operation[Any, Any, Any] | type[Operation[Any, Any, Any]]


def minimum_version(operation: Operation[K, Any, Any], states: Sequence[ItemState[K]]) -> int:
    """The lowest version that can carry all of some items."""
    return max(lowest_version(operation), *(operation.lowest_version(state.item) for state in states))


def maximum_version(operation: AnyOperation) -> int | None:
    """The highest version that serves an operation; None for no limit."""
    if operation.lacks is None:
        return operation.maximum_version
    return first_version(_request_class(operation), operation.lacks) - 1


def lowest_version(operation: AnyOperation) -> int:
    """The lowest version that serves an operation, whatever its items."""
    return max(operation.minimum_version, 0, *(first_version(_request_class(operation), it) for it in operation.needs))


def _request_class(operation: AnyOperation) -> type[Message]:
    return message_class(APIS[operation.api].request)


def by_lowest_version(operation: Operation[K, Any, Any], states: Sequence[ItemState[K]]) -> list[list[ItemState[K]]]:
    """Items in groups, so that those which an older node can serve are separate from the others."""
    minimum = lowest_version(operation)
    parts: defaultdict[int, list[ItemState[K]]] = defaultdict(list)
    for state in states:
        parts[max(minimum, operation.lowest_version(state.item))].append(state)
    return list(parts.values())


def chunks(operation: Operation[K, Any, Any], states: Sequence[ItemState[K]]) -> Iterator[list[ItemState[K]]]:
    """Items split so that no request carries more than the operation allows, but each at least one."""
    chunk: list[ItemState[K]] = []
    weight = 0
    for state in states:
        more = operation.weight(state.item)
        if chunk and operation.batch is not None and weight + more > operation.batch:
            yield chunk
            chunk, weight = [], 0
        chunk.append(state)
        weight += more
    yield chunk
