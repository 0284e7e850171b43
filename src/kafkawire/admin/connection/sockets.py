"""From a host and a port to a socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, cast

_Found: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str | int, ...] | tuple[int, bytes]]


class Place(NamedTuple):
    """One address of a host.

    Attributes:
        family: of the address.
        address: as ``socket.connect`` wants it.
    """

    family: socket.AddressFamily
    address: tuple[str | int, ...]

    def __str__(self) -> str:
        return str(self.address[0])


async def places_of(host: str, port: int) -> list[Place]:
    """All addresses of a host, in the order of the resolver; an address is its own.

    Raises:
        OSError: if the name cannot be resolved.
    """
    # Bytes, since text is encoded by a module for international names, which takes longer to import than to connect.
    name = host.encode() if host.isascii() else host
    found = _as_address(name, port) or await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(Place(row[0], cast(tuple[str | int, ...], row[4])) for row in found))


def _as_address(name: bytes | str, port: int) -> Sequence[_Found]:
    """Where an address is, without the thread that a resolver needs; nothing for a name."""
    try:
        return socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        return []


async def connected_socket(place: Place) -> socket.socket:
    """A socket that is connected and sends small writes at once.

    Raises:
        OSError: if nothing listens there, or the address is unreachable.
    """
    connected = socket.socket(place.family, socket.SOCK_STREAM)
    try:
        connected.setblocking(False)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        await asyncio.get_running_loop().sock_connect(connected, place.address)
    except BaseException:
        connected.close()
        raise
    return connected
