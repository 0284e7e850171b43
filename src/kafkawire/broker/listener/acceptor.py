"""Accepts connections on one listener."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from kafkawire.broker.cluster import Endpoint
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.listener.admission import Admission, address_text
from kafkawire.broker.listener.configured_listeners import ConfiguredListener
from kafkawire.broker.listener.connection import Connection, FrameLimits, Service
from kafkawire.broker.listener.sasl.login import Login
from kafkawire.broker.listener.sasl.offered import Users, offered_mechanisms
from kafkawire.broker.listener.tls import principal_of, server_context
from kafkawire.broker.quotas.connection_rates import ConnectionRates
from kafkawire.broker.sessions import ANONYMOUS, Session

_log = logging.getLogger(__name__)
_BUFFERED: Final = 1 << 18
_SECONDS_FOR_TLS: Final = 30.0
_SECONDS_AFTER_ERROR: Final = 1.0
_MILLISECONDS: Final = 1000.0
_SYSTEMS_CHOICE: Final = -1
_SHORTEST_WAIT: Final = 0.01
"""Seconds between two looks for idle connections; a connection is idle a moment after its time, not at it."""


@dataclass(frozen=True, slots=True)
class ListenerContext:
    """The parts of a broker that its listeners share.

    Attributes:
        service: answers requests.
        admission: counts connections.
        rate: the quota on new connections.
        users: who may log in.
    """

    service: Service
    admission: Admission
    rate: ConnectionRates
    users: Users


class _Listening(socket.socket):
    """A listening socket that knows the connection that it has accepted last, and which is not admitted yet.

    A task that is cancelled at the wrong moment never gets the connection that it has waited for.
    """

    accepted: socket.socket | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection and the address of its client."""
        self.accepted, address = super().accept()
        return self.accepted, address


class Acceptor:
    """Listens on one address, and serves the clients that connect.

    Args:
        listener: its name, protocol and address.
        configuration: the broker's properties.
        context: the parts that listeners share.

    Raises:
        ConfigurationError: the properties of its logins or certificates are invalid.
    """

    def __init__(
        self, listener: ConfiguredListener, configuration: BrokerConfiguration, context: ListenerContext
    ) -> None:
        own = configuration.of_listener(listener.name)
        self._listener = listener
        self._context = context
        self._limits = FrameLimits(
            own.integer("socket.request.max.bytes"),
            own.integer("sasl.server.max.receive.size"),
            own.integer("connection.failed.authentication.delay.ms") / _MILLISECONDS,
        )
        self._maximum = own.integer("max.connections")
        self._backlog = own.integer("socket.listen.backlog.size")
        self._buffers = {
            socket.SO_RCVBUF: own.integer("socket.receive.buffer.bytes"),
            socket.SO_SNDBUF: own.integer("socket.send.buffer.bytes"),
        }
        self._idle_ms = own.integer("connections.max.idle.ms")
        self._tls = server_context(own, listener) if listener.has_tls else None
        self._mechanisms = None
        if listener.has_sasl:
            self._mechanisms = offered_mechanisms(listener, own, context.users)
        self._socket: _Listening | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: set[Connection] = set()

    @property
    def endpoint(self) -> Endpoint:
        """The advertised address; the port is known once it is bound."""
        listener = self._listener
        port = listener.advertised_port or self.port
        return Endpoint(listener.name, listener.protocol_code, listener.advertised_host, port)

    @property
    def port(self) -> int:
        """The bound port; 0 before it is bound."""
        return int(self._socket.getsockname()[1]) if self._socket is not None else 0

    @property
    def idle_seconds(self) -> float | None:
        """After how many seconds without a request connections are closed; None for never."""
        return self._idle_ms / _MILLISECONDS if self._idle_ms >= 0 else None

    def bind(self) -> None:
        """Bind the port: clients can connect, but are not served yet.

        Raises:
            OSError: the address cannot be bound.
        """
        host, port = self._listener.host, self._listener.port
        everywhere = not host and socket.has_dualstack_ipv6()
        is_ipv6 = everywhere or ":" in host
        bound = socket.create_server(
            (host, port),
            family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
            backlog=self._backlog,
            dualstack_ipv6=everywhere,
        )
        self._socket = _Listening(fileno=bound.detach())
        for option, size in self._buffers.items():
            if size != _SYSTEMS_CHOICE:
                self._socket.setsockopt(socket.SOL_SOCKET, option, size)
        self._socket.setblocking(False)

    def start(self) -> None:
        """Serve clients."""
        if self._socket is None:
            raise RuntimeError("the listener is not bound: call bind before start")
        self._spawn(self._accept(self._socket))

    async def stop(self) -> None:
        """Close the socket and all connections."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._socket is not None:
            self._socket.close()
            if self._socket.accepted is not None:
                self._socket.accepted.close()

    def close_idle(self) -> float:
        """Close the connections that have been idle for too long; returns in how many seconds another one may be."""
        limit = self.idle_seconds
        if limit is None:
            return math.inf
        wait = limit
        for connection in tuple(self._connections):
            left = connection.seconds_left(limit)
            if left < 0:
                connection.abort()
            else:
                wait = min(wait, left)
        return max(wait, _SHORTEST_WAIT)

    def _spawn(self, work: Coroutine[None, None, None], *at_end: Callable[[asyncio.Task[None]], object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        for callback in (self._tasks.discard, *at_end):
            task.add_done_callback(callback)

    async def _accept(self, listening: _Listening) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._context.admission.room(self._listener.name, self._maximum)
            try:
                client, address = await loop.sock_accept(listening)
            except OSError as error:
                _log.warning("No connection can be accepted on %s: %s", self._listener.name, error)
                await asyncio.sleep(_SECONDS_AFTER_ERROR)
                continue
            listening.accepted = None
            self._admit(client, address_text(address[0]))

    def _admit(self, client: socket.socket, host: str) -> None:
        admission, name = self._context.admission, self._listener.name
        if not admission.enter(name, host):
            _log.info("Closing the connection from %s: the address has the most connections that are allowed", host)
            client.close()
            return

        def left(_: asyncio.Task[None]) -> None:  # also of a task that was cancelled before it began
            client.close()
            admission.leave(name, host)

        self._spawn(self._serve(client, host), left)

    async def _serve(self, client: socket.socket, host: str) -> None:
        try:
            wait_ms = self._context.rate.record(host)
            if wait_ms:
                await self._context.service.clock.sleep(wait_ms / _MILLISECONDS)
                return
            await self._serve_admitted(client, host)
        except OSError as error:  # errors of TLS are OSErrors
            _log.info("Closing the connection from %s on %s: %s", host, self._listener.name, error)

    async def _serve_admitted(self, client: socket.socket, host: str) -> None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_BUFFERED, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        handshake = None if self._tls is None else _SECONDS_FOR_TLS
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol, client, ssl=self._tls, ssl_handshake_timeout=handshake
        )
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        service = self._context.service
        login = None if self._mechanisms is None else Login(self._mechanisms, service.dispatcher.offered)
        principal = ANONYMOUS if self._tls is None or login is not None else principal_of(writer)
        session = Session(principal, host, self._listener.name, connection=next(service.numbers))
        connection = Connection(reader, writer, session, login=login, limits=self._limits, service=service)
        self._connections.add(connection)
        try:
            await connection.serve()
        finally:
            self._connections.discard(connection)
            service.on_closed(session.connection)
