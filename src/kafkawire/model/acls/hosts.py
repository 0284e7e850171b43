"""Hosts of ACLs: addresses in the form that brokers compare, and ranges of addresses, new in Kafka 4.4 (A23)."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from kafkawire.model.acls.bindings import WILDCARD

RANGES_SINCE: Final = 32
"""The level of ``metadata.version``, 4.4-IV1, from which on a host may be a range of addresses."""

_IPV4_RANGE: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})/([0-9]{1,2})")
_IPV6_RANGE: Final = re.compile(r"([^/]*:[^/]*)/\+?0*([0-9]{1,3})")
_BITS: Final = {4: 32, 6: 128}


class _Addresses(NamedTuple):
    """Addresses that follow each other.

    Attributes:
        version: 4 or 6.
        first, last: the first and the last one, as numbers.
    """

    version: int
    first: int
    last: int


@cache
def is_address_of_client(host: str) -> bool:
    """Whether brokers write some client's address in this form.

    They compare texts. Java writes IPv6 addresses in full, without leading zeros: ``0:0:0:0:0:0:0:1``, never ``::1``.
    """
    return address_as_brokers_write(host) == host


def address_as_brokers_write(host: str) -> str | None:
    """An address in the form that brokers compare, or None if it is none."""
    from ipaddress import IPv4Address, ip_address  # noqa: PLC0415 slow to import, and few ACLs name a host

    try:
        address = ip_address(host)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    plain = address.exploded.partition("%")[0]
    groups = ":".join(f"{int(group, 16):x}" for group in plain.split(":"))
    return groups if address.scope_id is None else f"{groups}%{address.scope_id}"


def is_range(host: str) -> bool:
    """Whether brokers since 4.4 read a host as a range of addresses, ``10.0.0.0/8``; in older ones it matches none."""
    return "/" in host and _addresses_of(host) is not None


def is_within(host: str, other: str) -> bool:
    """Whether all clients of a host are clients of another one, as brokers since 4.4 read them.

    Args:
        host: an address in the form that brokers write, a range or ``*``.
        other: the same, of an ACL.
    """
    if other in (host, WILDCARD):
        return True
    if "/" not in other or host == WILDCARD:
        return False
    inner, outer = _addresses_of(host), _addresses_of(other)
    return (
        inner is not None
        and outer is not None
        and inner.version == outer.version
        and outer.first <= inner.first
        and inner.last <= outer.last
    )


def meet(one: str, other: str) -> bool:
    """Whether a client may be of both hosts; of two ranges one is in the other, or they have nothing in common."""
    return is_within(one, other) or is_within(other, one)


@lru_cache(maxsize=10_000)
def _addresses_of(host: str) -> _Addresses | None:
    """The addresses of a range, or the single one; None if it is neither."""
    text, slash, _ = host.partition("/")
    address = _number_of(text)
    if address is None:
        return None
    version, number = address
    if not slash:
        return _Addresses(version, number, number)
    found = (_IPV4_RANGE if version == 4 else _IPV6_RANGE).fullmatch(host)
    if found is None or int(found[2]) > _BITS[version]:
        return None
    free = (1 << _BITS[version] - int(found[2])) - 1
    return _Addresses(version, number & ~free, number | free)


def _number_of(address: str) -> tuple[int, int] | None:
    """The version of an address and the address as a number; zones are ignored, as Kafka does."""
    from ipaddress import AddressValueError, IPv4Address, IPv6Address  # noqa: PLC0415 as above

    try:
        if ":" not in address:
            return 4, int(IPv4Address(".".join(map(_without_zeros, address.split(".")))))
        plain = address[1:-1] if address.startswith("[") and address.endswith("]") else address
        found = IPv6Address(":".join(map(_without_zeros, plain.partition("%")[0].split(":"))))
    except AddressValueError:
        return None
    return None if found.ipv4_mapped is not None else (6, int(found))


def _without_zeros(digits: str) -> str:
    """Digits without zeros in front, which Kafka allows and Python does not."""
    return digits and (digits.lstrip("0") or "0")
