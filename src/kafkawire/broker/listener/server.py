"""All listeners of a broker."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from kafkawire.broker.cluster import Endpoint
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.listener.acceptor import Acceptor, Reception
from kafkawire.broker.listener.configured_listeners import ConfiguredListener

__all__ = ["Server"]

_LOOKS_PER_LIMIT: Final = 10
_SECONDS_BETWEEN_LOOKS: Final = 10.0


class Server:
    """Listens.

    Args:
        listeners: where, one at least.
        configuration: the broker's properties.
        reception: what all listeners share.

    Raises:
        ConfigurationError: logins or certificates make no sense.
    """

    def __init__(
        self, listeners: Sequence[ConfiguredListener], configuration: BrokerConfiguration, reception: Reception
    ) -> None:
        self._acceptors = [Acceptor(listener, configuration, reception) for listener in listeners]
        self._watch: asyncio.Task[None] | None = None

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        """Name of each listener to where its clients are told to connect; ports are known once they are bound."""
        return {acceptor.endpoint.listener: acceptor.endpoint for acceptor in self._acceptors}

    def bind(self) -> None:
        """Take all ports; nobody is served yet.

        Raises:
            OSError: an address cannot be had.
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
        limits = [limit for acceptor in self._acceptors if (limit := acceptor.idle_seconds) is not None]
        if not limits:
            return
        while True:
            # In the machine's time: a clock that stands still must not be what keeps connections open.
            await asyncio.sleep(min(min(limits) / _LOOKS_PER_LIMIT, _SECONDS_BETWEEN_LOOKS))
            for acceptor in self._acceptors:
                acceptor.close_idle()
