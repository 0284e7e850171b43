"""Who the broker is: the one node of its cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkawire.wire.message import Struct

__all__ = ["Cluster", "Endpoint"]


class Endpoint(Struct, frozen=True, gc=False):
    """Where the clients of a listener are told to connect.

    Attributes:
        listener: its name, ``PLAINTEXT``.
        security_protocol: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
        host, port: the advertised address.
    """

    listener: str
    security_protocol: int
    host: str
    port: int


@dataclass(slots=True)
class Cluster:
    """The cluster and its node.

    Attributes:
        cluster_id: 22 characters, a uuid in Kafka's text form.
        node_id: of the only node, broker and controller at once.
        host, port: where clients of the first listener are told to connect.
        rack: where the node stands (``broker.rack``).
        endpoints: name of each listener to where its clients connect; known once the broker listens.
    """

    cluster_id: str
    node_id: int
    host: str
    port: int
    rack: str | None = None
    endpoints: dict[str, Endpoint] = field(default_factory=dict)

    def endpoint(self, listener: str) -> Endpoint:
        """Where clients of a listener are told to connect."""
        return self.endpoints.get(listener) or Endpoint(listener, 0, self.host, self.port)
