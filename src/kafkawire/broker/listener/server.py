"""All listeners of a broker."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from kafkawire.broker.cluster import Endpoint
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.listener.acceptor import Acceptor, ListenerContext
from kafkawire.broker.listener.configured_listeners import ConfiguredListener


class Server:
    """Listens on all listeners.

    Args:
        listeners: the listeners, at least one.
        configuration: the broker's properties.
        context: the parts that listeners share.

    Raises:
        ConfigurationError: the properties of logins or certificates are invalid.
    """

    def __init__(
        self, listeners: Sequence[ConfiguredListener], configuration: BrokerConfiguration, context: ListenerContext
    ) -> None:
        self._acceptors = [Acceptor(listener, configuration, context) for listener in listeners]
        self._clock = context.service.clock
        self._watch: asyncio.Task[None] | None = None

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        """Name of each listener to its advertised address; ports are known once they are bound."""
        return {acceptor.endpoint.listener: acceptor.endpoint for acceptor in self._acceptors}

    @property
    def ports(self) -> Mapping[str, int]:
        """Name of each listener to its bound port."""
        return {acceptor.endpoint.listener: acceptor.port for acceptor in self._acceptors}

    def bind(self) -> None:
        """Bind all ports; clients are not served yet.

        Raises:
            OSError: an address cannot be bound.
        """
        for acceptor in self._acceptors:
            acceptor.bind()

    def start(self) -> None:
        """Serve on all listeners."""
        for acceptor in self._acceptors:
            acceptor.start()
        self._watch = asyncio.get_running_loop().create_task(self._close_idle())

    async def stop(self) -> None:
        """Close all sockets and connections."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        for acceptor in self._acceptors:
            await acceptor.stop()

    async def _close_idle(self) -> None:
        while True:
            wait = min(acceptor.close_idle() for acceptor in self._acceptors)
            if wait == math.inf:
                return
            await self._clock.sleep(wait)
