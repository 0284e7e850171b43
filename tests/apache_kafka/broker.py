"""A real Apache Kafka: one node, broker and controller (KRaft), on free ports, with its data in a scratch folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.apache_kafka.node import CLUSTER_ID, HOST, Node, free_ports, listed_brokers, started

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""Properties of a broker that keeps ACLs; clients of a plain listener have all rights."""

_NODE_ID = 1

ONE_NODE = {
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    # Without a record every half second, a controller that only waits takes a third less of a processor.
    "metadata.max.idle.interval.ms": "0",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
"""What one node needs to serve all its internal topics, and to cost little while it waits."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker that answers.

    Attributes:
        release: of Apache Kafka.
        host, port: of the plain listener.
        controller_port: of the controller listener.
        cluster_id: id of the cluster.
        node_id: id of the one node.
        data: the folder of its logs.
        output: the file with what it printed: warnings and errors.
        ports: of the further listeners, by their names.
    """

    release: str
    host: str
    port: int
    controller_port: int
    cluster_id: str
    node_id: int
    data: Path
    output: Path
    ports: Mapping[str, int] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """``host:port``, as clients want it."""
        return f"{self.host}:{self.port}"


@contextmanager
def running_broker(
    release: str,
    folder: Path,
    *,
    properties: Mapping[str, str] | None = None,
    listeners: Mapping[str, str] | None = None,
    format_arguments: Sequence[str] = (),
    heap: str = "512m",
    plugins: Sequence[Path] = (),
) -> Iterator[Broker]:
    """Format the storage of a new cluster and start its only node; it is stopped when the context ends.

    Args:
        release: of Apache Kafka.
        folder: an empty folder for its configuration, its data and its output.
        properties: further ``server.properties``; they win.
        listeners: name to security protocol, beside ``PLAINTEXT`` and ``CONTROLLER``, which are always there.
        format_arguments: further arguments of ``kafka-storage format``, such as ``--add-scram``.
        heap: the most memory that it may use, as Java writes it.
        plugins: folders with classes of the tests, which the properties name.

    Raises:
        BrokerError: if it does not answer in time.
    """

    def start(home: Path) -> tuple[Broker, Node]:
        broker = _broker_on_free_ports(release, home, listeners or {})
        settings = {**_settings(broker, listeners or {}), **ONE_NODE, **(properties or {})}
        node = Node(release, _NODE_ID, home, settings, heap=heap, plugins=plugins)
        node.format(format_arguments)
        try:
            node.start()
            node.wait_until(lambda: _NODE_ID in listed_brokers(broker.port))
        except BaseException:
            node.stop()
            raise
        return broker, node

    with started(start, lambda running: running[1].stop(), folder) as (broker, _):
        yield broker


def _broker_on_free_ports(release: str, home: Path, listeners: Mapping[str, str]) -> Broker:
    port, controller_port, *ports = free_ports(2 + len(listeners))
    return Broker(
        release=release,
        host=HOST,
        port=port,
        controller_port=controller_port,
        cluster_id=CLUSTER_ID,
        node_id=_NODE_ID,
        data=home / "data",
        output=home / "output.txt",
        ports=dict(zip(listeners, ports, strict=True)),
    )


def _settings(broker: Broker, protocols: Mapping[str, str]) -> dict[str, str]:
    controller = f"{broker.host}:{broker.controller_port}"
    addresses = [f"{name}://{broker.host}:{port}" for name, port in {"PLAINTEXT": broker.port, **broker.ports}.items()]
    protocol_map = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **protocols}
    return {
        "process.roles": "broker,controller",
        "node.id": str(broker.node_id),
        "controller.quorum.voters": f"{broker.node_id}@{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join([*addresses, f"CONTROLLER://{controller}"]),
        "advertised.listeners": ",".join(addresses),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocol_map.items()),
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(broker.data),
    }
