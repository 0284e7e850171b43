"""A cluster of Apache Kafka on one machine: each node is broker and controller, and can be killed and started again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.node import CLUSTER_ID, HOST, Node, free_ports, listed_brokers, started
from tests.apache_kafka.storage import copy_storage

from kafkawire.protocol import DescribeQuorumRequest, DescribeQuorumResponse

_LOG_DIRS = 2
_PARTITIONS = "6"

_SPREAD = {
    "group.initial.rebalance.delay.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "metadata.max.idle.interval.ms": "0",
    "offsets.topic.num.partitions": _PARTITIONS,
    "share.coordinator.state.topic.num.partitions": _PARTITIONS,
    "transaction.state.log.num.partitions": _PARTITIONS,
    # A killed node is missed sooner than after the 9 s of production, and every topic outlives one node.
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "controlled.shutdown.enable": "false",
}
"""Coordinators on all nodes; internal topics have three replicas by default."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """Where a node of a cluster is.

    Attributes:
        node_id: its id.
        host, port: of its broker's listener.
        controller_port: of its controller's listener.
        log_dirs: the folders of its logs; the metadata log is in the first.
        output: the file with what it printed: warnings and errors.
    """

    node_id: int
    host: str
    port: int
    controller_port: int
    log_dirs: tuple[Path, ...]
    output: Path

    @property
    def address(self) -> str:
        """``host:port`` of the broker's listener."""
        return f"{self.host}:{self.port}"

    @property
    def controller_address(self) -> str:
        """``host:port`` of the controller's listener."""
        return f"{self.host}:{self.controller_port}"


class Cluster:
    """A running cluster, without security.

    Attributes:
        release: of Apache Kafka.
        cluster_id: its id.
        nodes: all nodes by id, those that are down as well.
    """

    def __init__(self, release: str, nodes: Sequence[ClusterNode], processes: Mapping[int, Node]) -> None:
        self.release = release
        self.cluster_id = CLUSTER_ID
        self.nodes = {node.node_id: node for node in nodes}
        self._processes = processes

    @property
    def bootstrap(self) -> str:
        """The brokers as clients want them: ``host:port`` with commas between them."""
        return ",".join(node.address for node in self.nodes.values())

    @property
    def controllers(self) -> str:
        """The controllers as clients want them: ``host:port`` with commas between them."""
        return ",".join(node.controller_address for node in self.nodes.values())

    @property
    def running(self) -> set[int]:
        """The ids of the nodes whose process is there."""
        return {node_id for node_id, process in self._processes.items() if process.is_running}

    def active_controller(self) -> int:
        """The id of the node that leads the quorum, as a controller that runs says.

        Raises:
            LookupError: if no controller answers with one: an election takes place, or most nodes are down.
        """
        topic = DescribeQuorumRequest.TopicData("__cluster_metadata", (DescribeQuorumRequest.PartitionData(0),))
        for node_id in self.running:
            with connected_to(HOST, self.nodes[node_id].controller_port) as connection:
                answer = connection.ask(DescribeQuorumRequest((topic,)), 1, DescribeQuorumResponse)
            leaders = [partition.leader_id for topics in answer.topics for partition in topics.partitions]
            if answer.error_code == 0 and leaders[0] in self.running:
                return leaders[0]
        raise LookupError("there is no active controller")

    def kill(self, node_id: int) -> None:
        """End a node at once, as a power failure does; the others take a few seconds to miss it."""
        self._processes[node_id].kill()

    def start(self, *node_ids: int) -> None:
        """Start nodes again on their data and their ports; back when all nodes that run list each other.

        Raises:
            BrokerError: if one does not start, or is not let in within a minute.
        """
        for node_id in node_ids:
            self._processes[node_id].start()
        self.wait_until_nodes_agree()

    def wait_until_nodes_agree(self) -> None:
        """Wait until every running node lists exactly the running nodes.

        Raises:
            BrokerError: if that takes longer than a minute.
        """
        for node_id in self.running:
            self._processes[node_id].wait_until(partial(self._is_agreed_on, node_id))

    def make_whole(self) -> None:
        """Start the nodes that are down, if any."""
        self.start(*self.nodes.keys() - self.running)

    def stop(self) -> None:
        """End all nodes at once; one after the other in good order, the last ones would wait for a quorum."""
        for node_id in self.running:
            self.kill(node_id)

    def _is_agreed_on(self, node_id: int) -> bool:
        return listed_brokers(self.nodes[node_id].port) == self.running


@contextmanager
def running_cluster(
    release: str, folder: Path, *, nodes: int = 3, properties: Mapping[str, str] | None = None, heap: str = "256m"
) -> Iterator[Cluster]:
    """Format the storage of a new cluster and start its nodes; they are killed when the context ends.

    Args:
        release: of Apache Kafka.
        folder: an empty folder for configurations, data and output.
        nodes: how many; their ids begin at 1. Internal topics want three.
        properties: further ``server.properties`` of all nodes; they win. There are a ``PLAINTEXT`` and a ``CONTROLLER``
            listener.
        heap: the most memory that a node may use, as Java writes it.

    Raises:
        BrokerError: if it does not answer in time.
    """

    def start(home: Path) -> Cluster:
        members = _members_on_free_ports(home, nodes)
        processes = {
            member.node_id: Node(
                release, member.node_id, home / f"node-{member.node_id}",
                {**_settings(member, members), **_SPREAD, **(properties or {})}, heap=heap,
            )
            for member in members
        }  # fmt: skip
        cluster = Cluster(release, members, processes)
        first, *others = members
        processes[first.node_id].format()
        for other in others:
            copy_storage(first.log_dirs, other.log_dirs, str(other.node_id))
        try:
            cluster.start(*processes)
        except BaseException:
            cluster.stop()
            raise
        return cluster

    with started(start, Cluster.stop, folder) as cluster:
        yield cluster


def _members_on_free_ports(home: Path, count: int) -> list[ClusterNode]:
    ports = free_ports(2 * count)
    return [
        ClusterNode(
            node_id=node_id,
            host=HOST,
            port=ports.pop(),
            controller_port=ports.pop(),
            log_dirs=tuple(home / f"node-{node_id}" / f"data-{index}" for index in range(_LOG_DIRS)),
            output=home / f"node-{node_id}" / "output.txt",
        )
        for node_id in range(1, count + 1)
    ]


def _settings(member: ClusterNode, members: Sequence[ClusterNode]) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": str(member.node_id),
        "controller.quorum.voters": ",".join(f"{node.node_id}@{node.controller_address}" for node in members),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{member.address},CONTROLLER://{member.controller_address}",
        "advertised.listeners": f"PLAINTEXT://{member.address}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": ",".join(map(str, member.log_dirs)),
    }
