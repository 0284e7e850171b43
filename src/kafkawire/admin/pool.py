"""Connections to nodes: one for each node, made when it is first needed, shared by all calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from kafkawire.admin.backoff import Backoff
from kafkawire.admin.event_loop import now, retrieve, shared
from kafkawire.model.nodes import Node
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import ClosedError, ConnectionFailedError, DisconnectedError, KafkaError

if TYPE_CHECKING:
    from kafkawire.admin.connection.versions import BrokerVersions

R = TypeVar("R", bound=Message)


class Link(Protocol):
    """A connection, as calls use it."""

    @property
    def versions(self) -> BrokerVersions:
        """The API versions that the node offers."""

    @property
    def in_flight(self) -> int:
        """The number of requests without an answer."""

    @property
    def is_usable(self) -> bool:
        """Whether requests can be sent."""

    @property
    def throttled_until(self) -> float:
        """The end of the node's throttle time (KIP-219)."""

    async def request(self, request: Message, response_class: type[R], version: int, deadline: float) -> R:
        """The answer to a request."""

    def retire(self) -> None:
        """Close the connection as soon as nothing is in flight."""

    async def close(self, error: KafkaError | None = None) -> None:
        """Close the connection; whatever is in flight fails, with `ClosedError` if nothing else is given."""


Connect = Callable[[Node, float], Awaitable[Link]]
"""Connects to a node before a deadline and logs in."""


class _NodeLink(msgspec.Struct, eq=False):
    """The connection to one node.

    Attributes:
        node: where it leads.
        channel: the connection, if it was ever made.
        connecting: the attempt that is going on.
        failures: attempts since the last that succeeded.
        resting_until: when the next attempt may begin.
    """

    node: Node
    channel: Link | None = None
    connecting: asyncio.Task[Link] | None = None
    failures: int = 0
    resting_until: float = 0.0


class ConnectionPool:
    """The connections of one client.

    Args:
        connect: makes a connection.
        backoff: pauses between attempts at one node.
        connect_timeout: seconds that one attempt may take.
    """

    def __init__(self, connect: Connect, backoff: Backoff, connect_timeout: float) -> None:
        self._connect = connect
        self._backoff = backoff
        self._connect_timeout = connect_timeout
        self._slots: dict[int, _NodeLink] = {}
        self._outgoing: list[Link] = []
        self._closed = False

    def connected(self, node: Node) -> Link | None:
        """The connection to a node, if there is one that can be used."""
        slot = self._slots.get(node.id)
        if slot is None or slot.channel is None or not slot.channel.is_usable or not _same_place(slot.node, node):
            return None
        return slot.channel

    def is_resting(self, node: Node) -> bool:
        """Whether the last attempt at a node failed so recently that the next one waits."""
        slot = self._slots.get(node.id)
        return slot is not None and slot.resting_until > now()

    async def channel(self, node: Node, deadline: float) -> Link:
        """The connection to a node; callers that want the same one share one attempt.

        Raises:
            ConnectionFailedError: if it cannot be made; the cause is chained.
            ApiError: if the login fails, or the node refuses to list its versions.
            ClosedError: if the pool was closed.
            TimeoutError: if the deadline is over first; the attempt goes on for others.
        """
        if self._closed:
            raise ClosedError("the client was closed")
        channel = self.connected(node)
        if channel is not None:
            return channel
        slot = await self._slot(node)
        if slot.connecting is None:
            slot.connecting = asyncio.create_task(self._attempt(slot), name=f"kafkawire: connect to {node}")
            slot.connecting.add_done_callback(retrieve)
        return await shared(slot.connecting, deadline, lambda: self._stopped(node))

    def adopt(self, bootstrap: Node, node: Node) -> None:
        """Keep the connection to a bootstrap address as that of the node which was found there."""
        slot = self._slots.get(bootstrap.id)
        if slot is None or self.connected(bootstrap) is None or slot.connecting is not None or self._has_use_of(node):
            return
        del self._slots[bootstrap.id]
        if node.id in self._slots:
            self._let_end(self._slots[node.id])
        slot.node = node
        self._slots[node.id] = slot

    async def start_over(self) -> None:
        """Abandon all connections; those with requests in flight are closed after their answers."""
        slots, self._slots = list(self._slots.values()), {}
        idle = [slot.channel for slot in slots if slot.channel is not None and not slot.channel.in_flight]
        for slot in slots:
            if slot.connecting is not None:
                slot.connecting.cancel()
            if slot.channel not in idle:
                self._let_end(slot)
        reason = "the client starts again from its bootstrap addresses"
        await asyncio.gather(*(channel.close(DisconnectedError(reason)) for channel in idle))

    async def close(self) -> None:
        """Close all connections and stop all attempts; the pool cannot be used afterwards."""
        self._closed = True
        slots, self._slots = list(self._slots.values()), {}
        for slot in slots:
            if slot.connecting is not None:
                slot.connecting.cancel()
        channels = [*self._outgoing, *(slot.channel for slot in slots if slot.channel is not None)]
        await asyncio.gather(*(channel.close() for channel in channels))

    async def _slot(self, node: Node) -> _NodeLink:
        slot = self._slots.get(node.id)
        if slot is None:
            slot = self._slots[node.id] = _NodeLink(node)
        elif not _same_place(slot.node, node):
            old, slot = slot, _NodeLink(node)
            self._slots[node.id] = slot
            if old.connecting is not None:
                old.connecting.cancel()
            if old.channel is not None:
                await old.channel.close(DisconnectedError(f"the cluster says that {old.node} is at {node.address} now"))
        return slot

    def _let_end(self, slot: _NodeLink) -> None:
        """Retire a connection, and keep it while callers still wait for answers on it."""
        if slot.channel is not None:
            slot.channel.retire()
            self._outgoing = [*(old for old in self._outgoing if old.in_flight), slot.channel]

    def _has_use_of(self, node: Node) -> bool:
        slot = self._slots.get(node.id)
        return self.connected(node) is not None or (slot is not None and slot.connecting is not None)

    def _stopped(self, node: Node) -> KafkaError:
        if self._closed:
            return ClosedError("the client was closed")
        return ConnectionFailedError(f"{node} is no longer at this address", node=node.id)

    async def _attempt(self, slot: _NodeLink) -> Link:
        try:
            await asyncio.sleep(max(0.0, slot.resting_until - now()))
            channel = await self._connect(slot.node, now() + self._connect_timeout)
        except ConnectionFailedError:
            slot.failures += 1
            slot.resting_until = now() + self._backoff.seconds(slot.failures)
            raise
        finally:
            slot.connecting = None
        slot.failures = 0
        self._let_end(slot)
        slot.channel = channel
        if self._closed:
            await channel.close()
        return channel


def _same_place(one: Node, other: Node) -> bool:
    return (one.host, one.port) == (other.host, other.port)
