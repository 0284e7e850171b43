"""The nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Node(msgspec.Struct, frozen=True, order=True):
    """A node of a cluster.

    Attributes:
        id: its node id; negative for a bootstrap address whose id is not known yet.
        host, port: of the listener for this client.
        rack: its rack, if the cluster has racks.
        cluster_id: id of the cluster that it belongs to; None for bootstrap addresses, and if the cluster has none.
    """

    id: int
    host: str
    port: int
    rack: str | None = None
    cluster_id: str | None = None

    @property
    def address(self) -> str:
        """``host:port``; IPv6 addresses in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return self.address if self.id < 0 else f"node {self.id} ({self.address})"


def bootstrap_nodes(servers: str | Iterable[str]) -> tuple[Node, ...]:
    """The nodes of a bootstrap list: ``host:port`` each, separated by commas in one text or given one by one.

    Raises:
        ValueError: if there is none, or one is not ``host:port``; the message names it.
    """
    texts = servers.split(",") if isinstance(servers, str) else list(servers)
    addresses = [_address(text.strip()) for text in texts if text.strip()]
    if not addresses:
        raise ValueError("no bootstrap server is given; give host:port, or several separated by commas")
    unique = dict.fromkeys(addresses)
    return tuple(Node(-1 - index, host, port) for index, (host, port) in enumerate(unique))


def _address(text: str) -> tuple[str, int]:
    scheme, slashes, rest = text.partition("://")
    if slashes:
        raise ValueError(f"{text!r}: write host:port without {scheme}://, {rest or 'localhost:9092'}")
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{text!r}: write IPv6 addresses in brackets, [::1]:9092")
    if not colon or not host or not (port.isascii() and port.isdigit()) or not 0 < int(port[:6]) < 1 << 16:
        raise ValueError(f"{text!r} is not host:port")
    return host, int(port)
