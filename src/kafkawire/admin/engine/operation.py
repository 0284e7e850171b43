"""How an operation declares itself to the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec

from kafkawire.admin.engine.route import ANY_NODE, Route
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
R = TypeVar("R", bound=Message)

Outcomes: TypeAlias = Mapping[K, V | KafkaError]
"""What an answer says about the items of its request: a value, or what went wrong."""


class Request(msgspec.Struct, Generic[K], frozen=True):
    """What a request is made of.

    Attributes:
        items: what it asks for, each once.
        version: of the API, which the node and this client have in common.
        timeout_ms: what is left for the node to do it in, for requests that carry a timeout.
        node_id: the node it goes to; negative for a bootstrap address whose id is not known yet.
    """

    items: Sequence[K]
    version: int
    timeout_ms: int
    node_id: int


class Operation(ABC, Generic[K, V, R]):
    """One kind of request, and how its items find their way there and back.

    An instance belongs to one call and holds the call's arguments; it has no state of its own. The engine asks it
    where each item goes, has it build requests and read answers, and does everything else: looking up nodes,
    splitting, sending, waiting, retrying and timing out.

    Attributes:
        name: the method that users call; errors name it.
        api: the API of its requests. Messages are named, not imported, by operations: a client loads what it sends.
        route: where all its items go; see `route_of` where that depends on the item.
        mutates: whether it changes the cluster, so that an attempt without an answer may have been carried out.
        on_controllers: whether a controller listener serves it (KIP-919).
        batch: how much one request may carry at most, in the sum of the weights of its items; None for no limit.
        in_flight: how many of its requests may be on their way to one node, where the settings' ``requests_in_flight``
            are too many: requests that are hard work for a node would time out waiting for each other.
        retried_codes: error codes that are retried beside those that every operation retries.
        final_codes: error codes that are not retried although every operation retries them.
        fallback_codes: error codes of items after which the fallback is tried for them.
        needs: fields of the request without which it cannot say what the call asks for.
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

    @abstractmethod
    def build(self, request: Request[K]) -> Message:
        """The request for some items."""

    @abstractmethod
    def read(self, request: Request[K], response: R) -> Outcomes[K, V]:
        """What an answer says about each item.

        An item that is missing is reported as an error. An error that can be retried is retried by the engine.
        """

    def route_of(self, item: K) -> Route:
        """Where an item goes, for operations whose items go to different places."""
        return self.route

    def validate(self, item: K) -> KafkaError | None:
        """What is wrong with an item, if that can be told without a broker; it is not sent then."""
        return None

    def lowest_version(self, item: K) -> int:
        """The lowest version that can say what an item asks for. Only items that need more fail at an older node."""
        return 0

    def group_key(self, item: K) -> Hashable:
        """Items share a request only if their keys are equal."""
        return None

    def weight(self, item: K) -> int:
        """What an item counts towards ``batch``: for changes, the metadata records that it makes."""
        return 1

    def fallback(self) -> Operation[K, V, Any] | None:
        """What to do where a node does not have the API or the version; None to fail."""
        return None


def failure(code: int, message: str | None = None) -> KafkaError | None:
    """What went wrong, or None for code 0; ``failure(...) or value`` is the outcome of an item."""
    return error_of(code, message) if code else None
