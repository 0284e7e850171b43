"""How an operation declares itself to the engine."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import msgspec

from kafkawire.admin.engine.route import ANY_NODE, Route
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.errors import error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
R = TypeVar("R", bound=Message)

_REQUEST_OBJECT = re.compile(r"\ARequest Request\(.*\) (?=needs |is not )", re.DOTALL)

Outcomes: TypeAlias = Mapping[K, V | KafkaError]
"""Each item of a request to its value, or to its error."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called after each outcome with the number of items that have one, and the number of all items."""


class Request(msgspec.Struct, Generic[K], frozen=True):
    """The parameters of one request.

    Attributes:
        items: its items, each once.
        version: of the API, supported by the node and this client.
        timeout_ms: the time that is left for the node, for requests that carry a timeout.
        node_id: the node it goes to; negative for a bootstrap address whose id is not known yet.
    """

    items: Sequence[K]
    version: int
    timeout_ms: int
    node_id: int


class Operation(ABC, Generic[K, V, R]):
    """One kind of request: where its items go, how requests are built, and how answers are read.

    An instance belongs to one call and holds the call's arguments; it has no state of its own. The engine does
    everything else: it looks up nodes, splits, sends, waits, retries and times out.

    Attributes:
        name: the method that users call; errors name it.
        api: the API of its requests. Messages are named, not imported, by operations: a client loads what it sends.
        route: the destination of all its items; see `route_of` where that depends on the item.
        mutates: whether it changes the cluster, so that an attempt without an answer may have been carried out.
        on_controllers: whether a controller listener serves it (KIP-919).
        batch: the largest sum of the weights of a request's items; None for no limit.
        in_flight: the largest number of its requests in flight to one node, where the settings' ``requests_in_flight``
            is too high: requests that are hard work for a node would time out waiting for each other.
        retried_codes: error codes that are retried in addition to those that every operation retries.
        final_codes: error codes that are not retried although every operation retries them.
        fallback_codes: error codes of items after which the fallback is tried for them.
        needs: fields of the request that the call cannot do without.
        lacks: a field of the request from whose first version on another operation serves the call.
        minimum_version, maximum_version: the versions that serve the call, where no field decides; see `lowest_version`
            where that depends on the item.
    """

    name: str
    api: ClassVar[ApiKey]
    route: Route = ANY_NODE
    mutates: ClassVar[bool] = False
    on_controllers: ClassVar[bool] = False
    batch: ClassVar[int | None] = None
    in_flight: ClassVar[int | None] = None
    retried_codes: ClassVar[frozenset[int]] = frozenset()
    final_codes: ClassVar[frozenset[int]] = frozenset()
    fallback_codes: ClassVar[frozenset[int]] = frozenset()

    needs: Collection[str] = ()
    lacks: str | None = None
    minimum_version: int = 0
    maximum_version: int | None = None

    def named(self, method: str) -> Self:
        """The same operation for another method, whose name its errors have."""
        self.name = method
        return self

    if not TYPE_CHECKING:

        def __class_getitem__(cls, parameters: object) -> type:
            return cls  # types are for checkers: the aliases of `typing` would be 4 % of the import of the client

    @abstractmethod
    def build(self, request: Request[K]) -> Message:
        """The request for some items."""

    def response_class(self) -> type[Message]:
        """The class that reads answers."""
        return message_class(APIS[self.api].response)

    @abstractmethod
    def read(self, request: Request[K], response: R) -> Outcomes[K, V]:
        """The outcome of each item, from an answer without an error for the whole request.

        An item that is missing is reported as an error. An error that can be retried is retried by the engine.
        """

    def outcomes(self, request: Request[K], response: R) -> Outcomes[K, V]:
        """The outcome of each item: the error of the whole request if the answer has one, else what `read` returns."""
        code: int = getattr(response, "error_code", 0)
        if not code:
            return self.read(request, response)
        return dict.fromkeys(request.items, self.error(code, getattr(response, "error_message", None)))

    def error(self, code: int, message: str | None) -> KafkaError:
        """The error of a whole request."""
        return failed_as(code, message)

    def route_of(self, item: K) -> Route:
        """The destination of an item, for operations whose items go to different places."""
        return self.route

    def validate(self, item: K) -> KafkaError | None:
        """Why an item is invalid, if that can be decided without a broker; it is not sent then."""
        return None

    def lowest_version(self, item: K) -> int:
        """The lowest version that can express an item. Only items that need more fail at an older node."""
        return 0

    def group_key(self, item: K) -> Hashable:
        """Items share a request only if their keys are equal."""
        return None

    def weight(self, item: K) -> int:
        """What an item counts towards ``batch``: for changes, the metadata records that it makes."""
        return 1

    def fallback(self) -> Operation[K, V, Any] | None:
        """The operation to use where a node does not have the API or the version; None to fail."""
        return None


def failure(code: int, message: str | None = None) -> KafkaError | None:
    """The error of a code, or None for code 0; ``failure(...) or value`` is the outcome of an item."""
    return failed_as(code, message) if code else None


def failed_as(code: int, message: str | None) -> KafkaError:
    """The error of a code that is not 0, with the broker's message for people.

    Into refusals Kafka 4 prints its own request object, with the connection and buffers; it is left out.
    """
    return error_of(code, message and _REQUEST_OBJECT.sub("the request ", message))


class TotalProgress:
    """Adds up the progress of several calls for the caller of one method.

    Args:
        progress: called with the sums; None for no one.
        total: the number of items of all calls.
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def one_more(self, _done: int, _total: int) -> None:
        """The progress function of each of the calls."""
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)
