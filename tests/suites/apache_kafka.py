"""Apache Kafka itself, from the same properties as the embedded broker: what fails there too, and how long it takes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.apache_kafka.broker import ONE_NODE
from tests.apache_kafka.node import HOST, Node, free_ports, listed_brokers
from tests.apache_kafka.releases import newest_broker_release

HEAP: Final = "1g"


@contextmanager
def running_kafka(properties: Mapping[str, str], tools_port: int, folder: Path) -> Iterator[None]:
    """A node of the newest release, formatted and started; it is stopped when the context ends.

    Args:
        properties: of the broker, with a listener for tools.
        tools_port: of that listener.
        folder: holds the folder of the node.

    Raises:
        BrokerError: it does not start.
    """
    node_id = int(properties["node.id"])
    home = folder / f"apache-kafka-{os.getpid()}"
    node = Node(newest_broker_release(), node_id, home, _whole(properties, home), heap=HEAP)
    node.format()
    try:
        node.start()
        node.wait_until(lambda: node_id in listed_brokers(tools_port))
        yield
    finally:
        node.stop()


def _whole(properties: Mapping[str, str], home: Path) -> dict[str, str]:
    """The properties with a controller, if they have none, and with what one node needs for its internal topics.

    Each process formats a folder of its own: a suite may end a slow start, and begin another with the same properties.
    """
    settings = {**ONE_NODE, **properties, "log.dirs": str(home / "data")}
    if "process.roles" in properties:
        return _with_voter(settings)
    (port,) = free_ports(1)
    protocols = properties["listener.security.protocol.map"]
    return {
        **settings,
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"{properties['node.id']}@{HOST}:{port}",
        "listeners": f"{properties['listeners']},CONTROLLER://{HOST}:{port}",
        "listener.security.protocol.map": f"{protocols},CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "TOOLS",
        "super.users": "User:ANONYMOUS",
    }


def _with_voter(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings with the node as the only voter, where they name its controller as a bootstrap server instead.

    ``kafka-storage format`` would need ``--standalone`` for a quorum that is found by bootstrap servers.
    """
    others = dict(settings)
    controller = others.pop("controller.quorum.bootstrap.servers", None)
    if controller is None or "controller.quorum.voters" in others:
        return others
    return {**others, "controller.quorum.voters": f"{others['node.id']}@{controller}"}
