"""The cluster and its only node, the broker."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkawire.wire.message import Struct


class Endpoint(Struct, frozen=True, gc=False):
    """The advertised address of a listener.

    Attributes:
        listener: its name, ``PLAINTEXT``.
        security_protocol: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
        host, port: where clients connect.
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
        node_id: of the only node, which is broker and controller.
        host, port: the advertised address of the first listener.
        rack: the node's rack (``broker.rack``).
        endpoints: name of each listener to its advertised address; set once the broker listens.
    """

    cluster_id: str
    node_id: int
    host: str
    port: int
    rack: str | None = None
    endpoints: dict[str, Endpoint] = field(default_factory=dict)

    def endpoint(self, listener: str) -> Endpoint:
        """The advertised address of a listener."""
        return self.endpoints.get(listener) or Endpoint(listener, 0, self.host, self.port)
