"""Limits on the number of connections, in all and from one address."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Final

from kafkawire.broker.configuration.broker_configuration import ConfigurationError, Values

_PER_IP: Final = "max.connections.per.ip"
_OVERRIDES: Final = "max.connections.per.ip.overrides"


class Admission:
    """Counts the connections of a broker.

    Args:
        configuration: the current ``max.connections``, ``max.connections.per.ip`` and its overrides.

    Raises:
        ConfigurationError: the overrides are invalid.
    """

    def __init__(self, configuration: Values) -> None:
        self._configuration = configuration
        self._overrides = _overrides(configuration.text(_OVERRIDES))
        self._of_host: Counter[str] = Counter()
        self._of_listener: Counter[str] = Counter()
        self._left = asyncio.Event()

    async def room(self, listener: str, maximum: int) -> None:
        """Wait until the broker and one of its listeners may have one more connection.

        Args:
            listener: its name.
            maximum: the most connections that it may have.
        """
        while self._of_listener[listener] >= maximum or self._is_full():
            self._left.clear()
            await self._left.wait()

    def enter(self, listener: str, host: str) -> bool:
        """Count a connection, unless its address has too many; returns whether it was counted."""
        if self._of_host[host] >= self._overrides.get(host, self._configuration.integer(_PER_IP)):
            return False
        self._of_host[host] += 1
        self._of_listener[listener] += 1
        return True

    def leave(self, listener: str, host: str) -> None:
        """Uncount a connection that is closed."""
        self._of_listener[listener] -= 1
        self._of_host[host] -= 1
        if not self._of_host[host]:
            del self._of_host[host]
        self._left.set()

    def _is_full(self) -> bool:
        return self._of_listener.total() >= self._configuration.integer("max.connections")


def address_text(host: str) -> str:
    """An address as Java writes it and ACLs have it: IPv6 in full, and IPv4 even if it arrived as IPv6."""
    address = ip_address(host.partition("%")[0])
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":"))


def _overrides(text: str) -> Mapping[str, int]:
    return dict(_override(entry.strip()) for entry in text.split(",") if entry.strip())


def _override(entry: str) -> tuple[str, int]:
    host, _, maximum = entry.rpartition(":")
    try:
        address = socket.getaddrinfo(host.strip("[] "), None)[0][4][0]
        return address_text(str(address)), int(maximum)
    except (OSError, ValueError):
        raise ConfigurationError(f"{_OVERRIDES} has {entry!r}: write address:number") from None
