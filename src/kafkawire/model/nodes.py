"""The nodes of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

_NOT_IN_A_HOST = re.compile(r"[\s@/\\?#]")


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
    """The nodes of a bootstrap list: ``host:port`` each, separated by commas or given one by one.

    Raises:
        ValueError: if there is none, or one is not ``host:port``; the message names it.
    """
    given = [servers] if isinstance(servers, str) else servers
    addresses = [_address(text.strip()) for texts in given for text in texts.split(",") if text.strip()]
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
    if not colon:
        raise ValueError(f"{text!r} has no port: write host:port, {text}:9092")
    if not host or _NOT_IN_A_HOST.search(host):
        raise ValueError(f"{text!r} is not host:port: write the name or the address of a broker before the colon")
    if not (port.isascii() and port.isdigit()) or not 0 < int(port[:6]) < 1 << 16:
        raise ValueError(f"{text!r} is not host:port: the port is a number from 1 to 65535, usually {host}:9092")
    return host, int(port)
