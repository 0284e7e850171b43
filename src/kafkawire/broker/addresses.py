"""Where clients connect to a broker, and what every kind of broker has for tests."""

from __future__ import annotations

from kafkawire.broker.cluster import Cluster
from kafkawire.broker.faults import Faults
from kafkawire.broker.request_log import RequestLog
from kafkawire.wire.unknown_names import UnknownNameError


class BrokerAddresses:
    """Where clients connect to a broker.

    Args:
        cluster: the node and its listeners.
        faults: the faults of the broker.
        requests: the requests that it has handled.

    Attributes:
        faults: makes the broker misbehave, for tests.
        requests: the last requests that it has handled, with their responses.
    """

    def __init__(self, cluster: Cluster, faults: Faults, requests: RequestLog) -> None:
        self.faults = faults
        self.requests = requests
        self._cluster = cluster

    def __repr__(self) -> str:
        """Where the broker listens, or that it does not."""
        if not hasattr(self, "_cluster") or not self._is_running():
            return f"<{type(self).__name__}, not running>"
        listeners = ",".join(f"{name}://{at.host}:{at.port}" for name, at in self._cluster.endpoints.items())
        return f"<{type(self).__name__} {listeners}, node {self._cluster.node_id}, cluster {self.cluster_id}>"

    def _is_running(self) -> bool:
        """Whether the broker listens; each kind of broker implements it."""
        raise NotImplementedError

    @property
    def bootstrap_servers(self) -> str:
        """Host and port of the first listener, ``127.0.0.1:9092``.

        Raises:
            RuntimeError: the broker has not been started, so that it has no port yet.
        """
        if not self._cluster.port:
            raise RuntimeError("the broker has no port before it runs: enter its `with` block, or call start()")
        return f"{self._cluster.host}:{self._cluster.port}"

    @property
    def host(self) -> str:
        """Host of the first listener."""
        return self._cluster.host

    @property
    def port(self) -> int:
        """Port of the first listener, assigned when the broker starts."""
        return self._cluster.port

    @property
    def cluster_id(self) -> str:
        """22 characters; from the data directory, or a new one at every start."""
        return self._cluster.cluster_id

    def address(self, listener: str) -> str:
        """Host and port of a listener, ``127.0.0.1:9092``.

        Raises:
            KeyError: there is no such listener; the text names those that are similar.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker

            listeners = {
                "listeners": "PLAIN://127.0.0.1:0,OTHER://127.0.0.1:0",
                "listener.security.protocol.map": "PLAIN:PLAINTEXT,OTHER:PLAINTEXT",
            }
            with ThreadedBroker(listeners) as broker:
                print(broker.address("PLAIN"), broker.address("OTHER"))
            ```
        """
        endpoint = self._cluster.endpoints.get(listener)
        if endpoint is None:
            raise UnknownNameError("listener", listener, self._cluster.endpoints)
        return f"{endpoint.host}:{endpoint.port}"
