"""The quota on new connections from an address (KIP-612)."""

from __future__ import annotations

import logging
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias

from kafkawire.broker.clock import Clock
from kafkawire.broker.quotas.buckets import BETWEEN_SWEEPS_MS, UNUSED_MS
from kafkawire.broker.quotas.measured_rates import throttle_ms
from kafkawire.broker.quotas.rate import QuotaWindows, Rate
from kafkawire.model.quotas.entities import IP, ClientQuotaEntity

_Address: TypeAlias = IPv4Address | IPv6Address

_log = logging.getLogger(__name__)


class ConnectionRates:
    """Limits the connections per second from each address (D18).

    Args:
        windows: of the measurement.
        clock: the broker's.
    """

    def __init__(self, windows: QuotaWindows, clock: Clock) -> None:
        self._windows = windows
        self._clock = clock
        self._limits: dict[_Address | None, float] = {}
        self._addresses: dict[str, _Address] = {}
        self._default: float | None = None
        self._rates: dict[str, tuple[Rate, int]] = {}
        self._swept_ms = 0

    def record(self, host: str) -> int:
        """Count a new connection.

        Args:
            host: the client's address.

        Returns:
            0 to accept it, or the milliseconds after which to close it without any response.
        """
        limit = self._limit(host)
        if limit is None:
            return 0
        now_ms = round(self._clock.seconds() * 1000)
        self._sweep(now_ms)
        rate = self._rates[host][0] if host in self._rates else Rate(self._windows)
        self._rates[host] = (rate, now_ms)
        rate.record(1, now_ms)
        wait_ms = min(throttle_ms(rate, limit, now_ms), self._windows.window_ms)
        if wait_ms:
            rate.record(-1, now_ms)
        return wait_ms

    def update(self, entity: ClientQuotaEntity, limit: float | None) -> None:
        """Set the limit of an address or of all others, or remove it with None.

        The name of a host is resolved now.
        """
        name = entity[IP]
        if name is None:
            self._default = limit
        elif limit is None:
            self._limits.pop(self._addresses.pop(name, None), None)
        elif (address := _address(name)) is not None:
            self._addresses[name] = address
            self._limits[address] = limit

    def _limit(self, host: str) -> float | None:
        if not self._limits:
            return self._default
        return self._limits.get(ip_address(host), self._default)

    def _sweep(self, now_ms: int) -> None:
        if now_ms - self._swept_ms < BETWEEN_SWEEPS_MS:
            return
        self._swept_ms = now_ms
        self._rates = {host: used for host, used in self._rates.items() if now_ms - used[1] <= UNUSED_MS}


def _address(name: str) -> _Address | None:
    """An address, or the first one of a host, IPv4 if it has one; None if it does not resolve."""
    try:
        return ip_address(name)
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        _log.warning("The quota on connections of %s has no effect: the name does not resolve", name)
        return None
    first = min(found, key=lambda one: one[0] != socket.AF_INET)
    return ip_address(first[4][0])
