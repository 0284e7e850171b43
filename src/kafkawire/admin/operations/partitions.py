"""Partitions: elect leaders, move replicas (admin-partitions)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafkawire import protocol
from kafkawire.admin.engine.operation import K, Operation, Outcomes, Progress, Request, V, failure
from kafkawire.admin.engine.route import CONTROLLER
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.results import Results
from kafkawire.model.partitions import ElectionType, PartitionReassignment, TopicPartition
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


def by_topic(partitions: Iterable[TopicPartition]) -> Iterator[tuple[str, list[int]]]:
    """Partitions as requests name them: each topic once, with its numbers."""
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for partition in partitions:
        topics[partition.topic].append(partition.partition)
    return iter(topics.items())


def _elected(response: protocol.ElectLeadersResponse) -> dict[TopicPartition, bool | KafkaError]:
    """Whether each partition has a new leader; that none was needed is no failure."""
    return {
        TopicPartition(topic.topic, result.partition_id): error_of(result.error_code, result.error_message)
        if result.error_code not in (ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED)
        else result.error_code == ErrorCode.NONE
        for topic in response.replica_election_results
        for result in topic.partition_result
    }


class _Elect(Operation[K, V, "protocol.ElectLeadersResponse"]):
    """KIP-183, KIP-460."""

    name = "elect_leaders"
    api = ApiKey.ELECT_LEADERS
    route = CONTROLLER
    mutates = True

    def __init__(self, election: ElectionType) -> None:
        self._election = election
        self.needs = ("election_type",) if election is ElectionType.UNCLEAN else ()


class ElectLeaders(_Elect[TopicPartition, bool]):
    """Elections for given partitions."""

    batch = MAXIMUM_RECORDS

    def build(self, request: Request[TopicPartition]) -> Message:
        topic = protocol.ElectLeadersRequest.TopicPartitions
        return protocol.ElectLeadersRequest(
            election_type=self._election,
            topic_partitions=tuple(topic(name, tuple(numbers)) for name, numbers in by_topic(request.items)),
            timeout_ms=request.timeout_ms,
        )

    def read(
        self, request: Request[TopicPartition], response: protocol.ElectLeadersResponse
    ) -> Outcomes[TopicPartition, bool]:
        return _elected(response)


class ElectAllLeaders(_Elect[None, dict[TopicPartition, bool | KafkaError]]):
    """Elections for every partition that needs one; the answer names only these."""

    def build(self, request: Request[None]) -> Message:
        return protocol.ElectLeadersRequest(
            election_type=self._election, topic_partitions=None, timeout_ms=request.timeout_ms
        )

    def read(
        self, request: Request[None], response: protocol.ElectLeadersResponse
    ) -> Outcomes[None, dict[TopicPartition, bool | KafkaError]]:
        return {None: _elected(response)}


class AlterPartitionReassignments(Operation[TopicPartition, None, "protocol.AlterPartitionReassignmentsResponse"]):
    """KIP-455."""

    name = "alter_partition_reassignments"
    api = ApiKey.ALTER_PARTITION_REASSIGNMENTS
    route = CONTROLLER
    mutates = True
    on_controllers = True
    batch = MAXIMUM_RECORDS

    def __init__(
        self, replicas: Mapping[TopicPartition, Sequence[int] | None], *, allow_replication_factor_change: bool
    ) -> None:
        self._replicas = replicas
        self._allow_replication_factor_change = allow_replication_factor_change

    def build(self, request: Request[TopicPartition]) -> Message:
        message = protocol.AlterPartitionReassignmentsRequest
        return message(
            timeout_ms=request.timeout_ms,
            allow_replication_factor_change=self._allow_replication_factor_change,
            topics=tuple(
                message.ReassignableTopic(name, tuple(self._reassignable(name, number) for number in numbers))
                for name, numbers in by_topic(request.items)
            ),
        )

    def read(
        self, request: Request[TopicPartition], response: protocol.AlterPartitionReassignmentsResponse
    ) -> Outcomes[TopicPartition, None]:
        return {
            TopicPartition(topic.name, result.partition_index): failure(result.error_code, result.error_message)
            for topic in response.responses
            for result in topic.partitions
        }

    def _reassignable(
        self, topic: str, number: int
    ) -> protocol.AlterPartitionReassignmentsRequest.ReassignablePartition:
        replicas = self._replicas[TopicPartition(topic, number)]
        return protocol.AlterPartitionReassignmentsRequest.ReassignablePartition(
            number, None if replicas is None else tuple(replicas)
        )


class ListPartitionReassignments(
    Operation[None, dict[TopicPartition, PartitionReassignment], "protocol.ListPartitionReassignmentsResponse"]
):
    """KIP-455."""

    name = "list_partition_reassignments"
    api = ApiKey.LIST_PARTITION_REASSIGNMENTS
    route = CONTROLLER
    on_controllers = True

    def __init__(self, partitions: Sequence[TopicPartition] | None) -> None:
        self._partitions = partitions

    def build(self, request: Request[None]) -> Message:
        message = protocol.ListPartitionReassignmentsRequest
        topics = None if self._partitions is None else by_topic(self._partitions)
        return message(
            timeout_ms=request.timeout_ms,
            topics=None
            if topics is None
            else tuple(message.ListPartitionReassignmentsTopics(name, tuple(numbers)) for name, numbers in topics),
        )

    def read(
        self, request: Request[None], response: protocol.ListPartitionReassignmentsResponse
    ) -> Outcomes[None, dict[TopicPartition, PartitionReassignment]]:
        return {
            None: {
                TopicPartition(topic.name, partition.partition_index): PartitionReassignment(
                    tuple(partition.replicas), tuple(partition.adding_replicas), tuple(partition.removing_replicas)
                )
                for topic in response.topics
                for partition in topic.partitions
            }
        }


class PartitionOperations(OperationFamily):
    """Leaders and replicas of partitions."""

    @needs(ElectLeaders, rights="ALTER CLUSTER")
    async def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        election: ElectionType = ElectionType.PREFERRED,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, bool]:
        """Have leaders elected.

        Args:
            partitions: the partitions; by default (None) all that need an election, which alone are reported.
            election: whether the preferred replica is to lead, or any that is left (`ElectionType`).
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to whether it has a new leader (False: no election was needed), or to what went wrong:
            `PreferredLeaderNotAvailableError`, `EligibleLeadersNotAvailableError` ...

        Raises:
            KafkaError: if ``partitions`` is None and the request fails.

        Example:
            ```python
            results = await admin.elect_leaders()  # such as after a restart of all brokers, one by one
            for partition, has_new_leader in results.values().items():
                print(partition, "has a new leader" if has_new_leader else "needed none")
            for partition, error in results.errors().items():
                print(partition, error)
            ```
        """
        if partitions is None:
            elected = await self._only(ElectAllLeaders(election), None, timeout)
            return Results(elected)
        return await self._each(ElectLeaders(election), partitions, timeout, progress)

    @needs(AlterPartitionReassignments, rights="ALTER CLUSTER")
    async def alter_partition_reassignments(
        self,
        replicas: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, None]:
        """Move partitions to other nodes, or stop moving them; the move goes on after the call.

        Args:
            replicas: partition to the ids of the nodes that shall hold it, the preferred leader first; None to
                cancel a move.
            allow_replication_factor_change: whether the number of replicas may change (KIP-860; a broker below 4.1
                always allows it, and is not used if this is False).
            timeout, progress: see `AdminClient`.

        Returns:
            Partition to None, or to what went wrong: `InvalidReplicaAssignmentError`,
            `NoReassignmentInProgressError` ...

        Example:
            ```python
            import asyncio

            results = await admin.alter_partition_reassignments(
                {TopicPartition("orders", 0): [2, 3, 1], TopicPartition("orders", 1): [3, 1, 2]}
            )
            results.all()
            while moves := await admin.list_partition_reassignments():
                print(len(moves), "partitions are being moved")
                await asyncio.sleep(5)
            ```
        """
        operation = AlterPartitionReassignments(
            replicas, allow_replication_factor_change=allow_replication_factor_change
        )
        return await self._each(operation, replicas, timeout, progress)

    @needs(ListPartitionReassignments, rights="DESCRIBE CLUSTER")
    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> dict[TopicPartition, PartitionReassignment]:
        """The partitions that are being moved to other nodes.

        Args:
            partitions: the partitions; None for all.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: if the controller does not answer.

        Example:
            ```python
            for partition, move in (await admin.list_partition_reassignments()).items():
                print(partition, "is added to", move.adding, "and removed from", move.removing)
            ```
        """
        wanted = None if partitions is None else list(partitions)
        return await self._only(ListPartitionReassignments(wanted), None, timeout)
