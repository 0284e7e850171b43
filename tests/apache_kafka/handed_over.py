"""Apache Kafka on a data directory that it has not formatted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.node import HOST, Node, free_ports, listed_brokers

from kafkawire.broker.served_apis import RELEASE

_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A broker that answers.

    Attributes:
        address: of the plain listener, which may do everything.
        scram_address: of the listener for logins by SCRAM-SHA-256.
        output: the file with what it printed: warnings and errors.
    """

    address: str
    scram_address: str
    output: Path


@contextmanager
def kafka_on(data: Path, home: Path, *, properties: Mapping[str, str] | None = None) -> Iterator[HandedOver]:
    """Start Apache Kafka, node 1 and alone, on a directory; it is stopped when the context ends.

    Args:
        data: the directory.
        home: an empty folder, for its configuration and its output.
        properties: further ``server.properties``.

    Raises:
        BrokerError: if it does not answer in time.
    """
    port, scram_port, controller_port = free_ports(3)
    settings = {
        **AUTHORIZER,
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{HOST}:{port},LOGIN://{HOST}:{scram_port},CONTROLLER://{HOST}:{controller_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listener.name.login.sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "listener.name.login.scram-sha-256.sasl.jaas.config": _SCRAM,
        "group.initial.rebalance.delay.ms": "0",
        "log.cleaner.backoff.ms": "200",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "log.initial.task.delay.ms": "1000",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "log.dirs": str(data),
        **(properties or {}),
    }
    node = Node(RELEASE, 1, home, settings, heap="512m")
    node.start()
    try:
        node.wait_until(lambda: 1 in listed_brokers(port))
        yield HandedOver(f"{HOST}:{port}", f"{HOST}:{scram_port}", node.output)
    finally:
        node.stop()
