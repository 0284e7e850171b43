"""Settings of connections."""

from __future__ import annotations

import re

import msgspec

from kafkawire.admin.settings import SOFTWARE_NAME, SOFTWARE_VERSION
from kafkawire.model.nodes import Node
from kafkawire.rpc import MAXIMUM_FRAME_SIZE

_SOFTWARE = r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?"


class ConnectionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Times are in seconds, sizes in bytes.

    Attributes:
        client_id: the client id in logs and quotas of the broker; None for none.
        software_name, software_version: sent to the broker (KIP-511): letters, digits, inner
            dots and hyphens.
        cluster_id, node_id: the cluster and the node that the broker should be; it refuses the connection if it is
            another (KIP-1242, Kafka 4.4). None and -1 if they are not known: brokers want both or neither.
        maximum_frame_size: a larger answer ends the connection.
        setup_timeout: how long connecting to one address, TLS, login and negotiation may take together.
        idle_timeout: after this time without requests the connection is closed (``connections.max.idle.ms``).
        abandoned_timeout: how long an abandoned request may stay unanswered before the connection is closed.
        maximum_abandoned: how many abandoned requests may be unanswered before the connection is closed.
        maximum_scram_iterations: a server that wants more iterations for a SCRAM login is refused: they would block the
            program. RFC 5802 names no bound; brokers accept at most 16 384 when they store a password.

    Raises:
        ValueError: for a name that brokers refuse, a bound that is not positive, or only one of ``cluster_id`` and
            ``node_id``.
    """

    client_id: str | None = "kafkawire"
    software_name: str = SOFTWARE_NAME
    software_version: str = SOFTWARE_VERSION
    cluster_id: str | None = None
    node_id: int = -1
    maximum_frame_size: int = MAXIMUM_FRAME_SIZE
    setup_timeout: float = 10.0
    idle_timeout: float = 300.0
    abandoned_timeout: float = 30.0
    maximum_abandoned: int = 1_000
    maximum_scram_iterations: int = 100_000

    def expecting(self, node: Node) -> ConnectionSettings:
        """The same for a connection that should lead to a node; bootstrap addresses may be any node."""
        if node.cluster_id is None:
            return self
        return msgspec.structs.replace(self, cluster_id=node.cluster_id, node_id=node.id)

    def __post_init__(self) -> None:
        for name in ("software_name", "software_version"):
            text = getattr(self, name)
            if not re.fullmatch(_SOFTWARE, text):
                raise ValueError(
                    f"{name} {text!r}: brokers accept letters and digits, with dots and hyphens between them"
                )
        if (self.cluster_id is None) != (self.node_id < 0):
            raise ValueError(
                f"cluster_id and node_id must both be given or neither, got {self.cluster_id!r} and {self.node_id}"
            )
        for name in (
            "maximum_frame_size", "setup_timeout", "idle_timeout", "abandoned_timeout", "maximum_abandoned",
            "maximum_scram_iterations",
        ):  # fmt: skip
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
