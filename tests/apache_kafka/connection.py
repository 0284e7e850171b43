"""A connection to a broker that sends one request at a time and checks the bytes of each answer."""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from kafkawire.rpc import decode_response, encode_request, encode_response
from kafkawire.wire import Message

R = TypeVar("R", bound=Message)

_SECONDS = 20.0


class Connection:
    """Requests and responses over a socket."""

    def __init__(self, connected: socket.socket, client_id: str) -> None:
        self._socket = connected
        self._client_id = client_id
        self._correlation_ids = itertools.count(1)

    def ask(self, request: Message, version: int, response: type[R]) -> R:
        """The answer to a request, which must be what we would write for it, byte by byte.

        Raises:
            OSError: if the broker closes the connection or does not answer in time.
        """
        return self.answer(self.send(request, version), version, response)

    def send(self, request: Message, version: int) -> int:
        """Send a request, whose answer may be a long time coming; its correlation id."""
        correlation_id = next(self._correlation_ids)
        self._socket.sendall(encode_request(request, version, correlation_id=correlation_id, client_id=self._client_id))
        return correlation_id

    def answer(self, correlation_id: int, version: int, response: type[R]) -> R:
        """The answer to a request that was sent, which must be what we would write for it, byte by byte.

        Raises:
            OSError: if the broker closes the connection or does not answer in time.
        """
        frame = self._frame()
        answered, answer = decode_response(frame, response, version)
        assert answered == correlation_id
        assert encode_response(answer, version, correlation_id=correlation_id)[4:] == frame
        return answer

    def exchange(self, frame: bytes) -> bytes:
        """Send a frame and return the content of the one that comes back."""
        self._socket.sendall(frame)
        return self._frame()

    def _frame(self) -> bytes:
        (size,) = struct.unpack(">i", self._receive(4))
        return self._receive(size)

    def _receive(self, count: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            chunk = self._socket.recv(count - len(received))
            if not chunk:
                raise ConnectionResetError(f"the broker closed the connection after {len(received)} of {count} bytes")
            received += chunk
        return bytes(received)


@contextmanager
def connected_to(host: str, port: int, *, client_id: str = "kafkawire") -> Iterator[Connection]:
    """Connect to a listener; the connection is closed when the context ends."""
    with socket.create_connection((host, port), timeout=_SECONDS) as connection:
        yield Connection(connection, client_id)
