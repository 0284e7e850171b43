"""Who the broker is: the one node of its cluster."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cluster"]


@dataclass(slots=True)
class Cluster:
    """The cluster and its node.

    Attributes:
        cluster_id: 22 characters, a uuid in Kafka's text form.
        node_id: of the only node, broker and controller at once.
        host, port: where clients are told to connect.
    """

    cluster_id: str
    node_id: int
    host: str
    port: int
