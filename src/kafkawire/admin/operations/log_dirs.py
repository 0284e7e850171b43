"""The log directories of nodes (admin-log-dirs)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.route import OnNode, Route
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.every_node import EveryNodeFamily, OfNodes
from kafkawire.admin.operations.partitions import by_topic
from kafkawire.admin.results import Results
from kafkawire.model.cluster import LogDir, Replica, ReplicaInfo, ReplicaLogDirs
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import ClusterAuthorizationFailedError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class DescribeLogDirs(OfNodes[dict[str, LogDir], "protocol.DescribeLogDirsResponse"]):
    """KIP-113, KIP-827 (sizes), KIP-1066 (cordoned directories)."""

    name = "describe_log_dirs"
    api = ApiKey.DESCRIBE_LOG_DIRS
    batch = 1

    def __init__(self, partitions: Mapping[int, Sequence[TopicPartition]] | None = None) -> None:
        self._partitions = partitions

    def build(self, request: Request[int]) -> Message:
        message = protocol.DescribeLogDirsRequest
        if self._partitions is None:
            return message(topics=None)
        topics = by_topic(self._partitions[request.items[0]])
        return message(topics=tuple(message.DescribableLogDirTopic(name, tuple(numbers)) for name, numbers in topics))

    def read(
        self, request: Request[int], response: protocol.DescribeLogDirsResponse
    ) -> Outcomes[int, dict[str, LogDir]]:
        (node,) = request.items
        if not response.results:
            # Every node has a log directory: an empty list is how older nodes refuse.
            return {node: ClusterAuthorizationFailedError("the node names no log directory")}
        return {node: {result.log_dir: _log_dir(result) for result in response.results}}


def _log_dir(result: protocol.DescribeLogDirsResponse.DescribeLogDirsResult) -> LogDir:
    return LogDir(
        error=failure(result.error_code),
        replicas={
            TopicPartition(topic.name, partition.partition_index): ReplicaInfo(
                partition.partition_size, partition.offset_lag, partition.is_future_key
            )
            for topic in result.topics
            for partition in topic.partitions
        },
        total_bytes=result.total_bytes if result.total_bytes >= 0 else None,
        usable_bytes=result.usable_bytes if result.usable_bytes >= 0 else None,
        is_cordoned=result.is_cordoned,
    )


class AlterReplicaLogDirs(Operation[Replica, None, "protocol.AlterReplicaLogDirsResponse"]):
    """KIP-113."""

    name = "alter_replica_log_dirs"
    api = ApiKey.ALTER_REPLICA_LOG_DIRS
    mutates = True

    def __init__(self, directories: Mapping[Replica, str]) -> None:
        self._directories = directories

    def route_of(self, item: Replica) -> Route:
        return OnNode(item.node)

    def build(self, request: Request[Replica]) -> Message:
        message = protocol.AlterReplicaLogDirsRequest
        together: defaultdict[str, list[TopicPartition]] = defaultdict(list)
        for replica in request.items:
            together[self._directories[replica]].append(replica.partition)
        return message(
            dirs=tuple(
                message.AlterReplicaLogDir(
                    directory,
                    tuple(
                        message.AlterReplicaLogDirTopic(name, tuple(numbers)) for name, numbers in by_topic(replicas)
                    ),
                )
                for directory, replicas in together.items()
            )
        )

    def read(
        self, request: Request[Replica], response: protocol.AlterReplicaLogDirsResponse
    ) -> Outcomes[Replica, None]:
        node = request.items[0].node
        return {
            Replica(TopicPartition(topic.topic_name, result.partition_index), node): failure(result.error_code)
            for topic in response.results
            for result in topic.partitions
        }


class LogDirOperations(EveryNodeFamily):
    """The log directories of nodes."""

    @needs(DescribeLogDirs, rights="DESCRIBE CLUSTER")
    async def describe_log_dirs(
        self, nodes: Iterable[int] | None = None, *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[int, dict[str, LogDir]]:
        """The log directories of nodes.

        Args:
            nodes: ids of the nodes; by default (None) of all brokers that are live.
            timeout, progress: see `AdminClient`.

        Returns:
            Node id to its directories by path, or to what went wrong: `ClusterAuthorizationFailedError` ...

        Raises:
            KafkaError: if ``nodes`` is None and no broker lists the brokers.

        Example:
            ```python
            for node, directories in (await admin.describe_log_dirs()).all().items():
                for path, directory in directories.items():
                    used = sum(replica.size_bytes for replica in directory.replicas.values())
                    print(node, path, directory.error or "online", used, "bytes used,", directory.usable_bytes, "free")
            ```
        """
        if nodes is None:
            return await self._on_every_node(DescribeLogDirs(), timeout, progress)
        return await self._each(DescribeLogDirs(), nodes, timeout, progress)

    @needs(AlterReplicaLogDirs, rights="ALTER CLUSTER")
    async def alter_replica_log_dirs(
        self, directories: Mapping[Replica, str], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[Replica, None]:
        """Move replicas to other directories of their nodes; the move goes on after the call.

        Args:
            directories: replica to the path of the directory. A replica that the node does not have yet is
                placed there when it is created.
            timeout, progress: see `AdminClient`.

        Returns:
            Replica to None, or to what went wrong: `LogDirNotFoundError`, `ReplicaNotAvailableError` (it will be placed
            there) ...

        Example:
            ```python
            import asyncio

            replica = Replica(TopicPartition("orders", 0), node=1)
            (await admin.alter_replica_log_dirs({replica: "/var/lib/kafka/disk-2"})).all()
            while (moving := (await admin.describe_replica_log_dirs([replica]))[replica]).future:
                print(moving.future_offset_lag, "offsets are left to copy")
                await asyncio.sleep(5)
            ```
        """
        return await self._each(AlterReplicaLogDirs(directories), directories, timeout, progress)

    @needs(DescribeLogDirs, rights="DESCRIBE CLUSTER")
    async def describe_replica_log_dirs(
        self, replicas: Iterable[Replica], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[Replica, ReplicaLogDirs]:
        """The directories of replicas, and those to which they are being moved.

        Args:
            replicas: partitions on nodes.
            timeout, progress: see `AdminClient`.

        Returns:
            Replica to its directories, or to what went wrong with its node.

        Example:
            ```python
            (orders,) = (await admin.describe_topics(["orders"])).all().values()
            replicas = [
                Replica(TopicPartition(orders.name, partition.partition), node)
                for partition in orders.partitions
                for node in partition.replicas
            ]
            for replica, directories in (await admin.describe_replica_log_dirs(replicas)).all().items():
                print(replica.partition, "at node", replica.node, "is in", directories.current)
            ```
        """
        wanted = list(replicas)
        on_nodes: defaultdict[int, list[TopicPartition]] = defaultdict(list)
        for replica in wanted:
            on_nodes[replica.node].append(replica.partition)
        found = dict((await self._each(DescribeLogDirs(on_nodes), on_nodes, timeout, progress)).items())
        return Results({replica: _located(replica, found[replica.node]) for replica in wanted}, wanted)


def _located(replica: Replica, directories: dict[str, LogDir] | KafkaError) -> ReplicaLogDirs | KafkaError:
    if isinstance(directories, KafkaError):
        return directories
    located = ReplicaLogDirs()
    for path, directory in directories.items():
        info = directory.replicas.get(replica.partition)
        if info is None:
            continue
        if info.is_future:
            located = msgspec.structs.replace(located, future=path, future_offset_lag=info.offset_lag)
        else:
            located = msgspec.structs.replace(located, current=path, current_offset_lag=info.offset_lag)
    return located
