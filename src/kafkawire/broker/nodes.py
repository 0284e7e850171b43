"""The brokers that clients see: this one, or for a twin all that are registered in the cluster that it copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final

from kafkawire.broker.cluster import Cluster
from kafkawire.broker.image.registrations import RegistrationsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import RegisterBrokerRecord
from kafkawire.wire.message import Struct

_UNASSIGNED: Final = Uuid()
"""The directory of a replica that the broker itself assigns, because it has several (KIP-858)."""


class BrokerNode(Struct, frozen=True, gc=False):
    """A broker as clients see it.

    Attributes:
        node_id: its id.
        host, port: where clients connect.
        rack: its rack.
        is_fenced: whether it serves no clients.
        directory_id: where it puts new replicas.
    """

    node_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool
    directory_id: Uuid


class Nodes:
    """The only broker of a cluster.

    Args:
        cluster: the node and its listeners.
        directory_id: of its data directory.
    """

    def __init__(self, cluster: Cluster, directory_id: Uuid) -> None:
        self._cluster = cluster
        self._directory_id = directory_id

    def all(self, listener: str = "") -> Sequence[BrokerNode]:
        """All brokers.

        Args:
            listener: name of the listener for whose clients the addresses are; empty for the first one.
        """
        own, at = self._cluster, self._cluster.endpoint(listener)
        return (BrokerNode(own.node_id, at.host, at.port, own.rack, is_fenced=False, directory_id=self._directory_id),)

    def live(self, listener: str = "") -> Sequence[BrokerNode]:
        """The brokers that are not fenced; ``listener`` as for `all`."""
        return [node for node in self.all(listener) if not node.is_fenced]

    def has(self, node_id: int) -> bool:
        """Whether there is such a broker."""
        return node_id == self._cluster.node_id

    def is_live(self, node_id: int) -> bool:
        """Whether there is such a broker, and it is not fenced."""
        return self.has(node_id)

    def offline(self, replicas: Sequence[int]) -> tuple[int, ...]:
        """The replicas that are not on a live broker."""
        return tuple(replica for replica in replicas if not self.is_live(replica))

    def across_racks(self) -> Sequence[BrokerNode]:
        """All brokers in the order in which replicas are placed: live ones first, and neighbours in other racks."""
        brokers = self.all()
        return (*_striped([node for node in brokers if not node.is_fenced]), *(n for n in brokers if n.is_fenced))


class RegisteredNodes(Nodes):
    """All brokers that are registered; clients reach each of them at the address of this one.

    Args:
        cluster: this node and its listeners.
        registrations: the brokers.
    """

    def __init__(self, cluster: Cluster, registrations: RegistrationsImage) -> None:
        super().__init__(cluster, _UNASSIGNED)
        self._brokers = registrations.brokers

    def all(self, listener: str = "") -> Sequence[BrokerNode]:
        """All brokers, by id."""
        at = self._cluster.endpoint(listener)
        return [
            BrokerNode(node_id, at.host, at.port, broker.rack, broker.fenced, _directory(broker))
            for node_id, broker in sorted(self._brokers.items())
        ]

    def has(self, node_id: int) -> bool:
        """Whether such a broker is registered."""
        return node_id in self._brokers

    def is_live(self, node_id: int) -> bool:
        """Whether such a broker is registered, and not fenced."""
        broker = self._brokers.get(node_id)
        return broker is not None and not broker.fenced


def _directory(broker: RegisterBrokerRecord) -> Uuid:
    return broker.log_dirs[0] if len(broker.log_dirs) == 1 else _UNASSIGNED


def _striped(brokers: Sequence[BrokerNode]) -> Iterator[BrokerNode]:
    """One broker of each rack, then the next one of each."""
    by_rack: dict[str, list[BrokerNode]] = {}
    for node in brokers:
        by_rack.setdefault(node.rack or "", []).append(node)
    return (node for node in chain.from_iterable(zip_longest(*by_rack.values())) if node is not None)
