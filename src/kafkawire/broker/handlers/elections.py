"""ElectLeaders: leaders of partitions (KIP-183, KIP-460)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import NO_LEADER
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topics.partition_changes import any_leader, change_record, current, preferred_leader
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.partitions import ElectionType
from kafkawire.protocol import ElectLeadersRequest, ElectLeadersResponse, PartitionChangeRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError

_TYPE_SINCE: Final = 1
_Elected = ElectLeadersResponse.ReplicaElectionResult
_Result = ElectLeadersResponse.PartitionResult

_NOT_NEEDED: Final = ItemError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
_NOT_PREFERRED: Final = ItemError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")
_NOT_ELIGIBLE: Final = ItemError(
    ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "Eligible topic partition leaders are not available."
)


class ElectionHandlers:
    """Elect the preferred leaders of partitions, or any leader for those that have none."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._topics = context.controller.image.topics
        self._nodes = context.nodes
        self._access = context.access
        self.apis = (ServedApi(ElectLeadersRequest, self._elect, 0, 2),)

    async def _elect(self, request: ElectLeadersRequest, call: Call) -> ElectLeadersResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
        if request.topic_partitions is not None and not request.topic_partitions:
            return ElectLeadersResponse()
        election = request.election_type if call.version >= _TYPE_SINCE else ElectionType.PREFERRED
        if election not in {ElectionType.PREFERRED, ElectionType.UNCLEAN}:
            return Refused(ErrorCode.INVALID_REQUEST, f"Unknown election type {election}")
        is_unclean = election == ElectionType.UNCLEAN
        async with self._controller.turn:
            records: list[PartitionChangeRecord] = []
            results = [
                _Elected(name, tuple(self._results(name, numbers, records, unclean=is_unclean, of_all=of_all)))
                async for name, numbers, of_all in in_slices(self._asked(request))
            ]
            if len(records) > MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            self._controller.commit(records)
        return ElectLeadersResponse(replica_election_results=tuple(results))

    def _asked(self, request: ElectLeadersRequest) -> list[tuple[str, Iterable[int], bool]]:
        """Topics with the numbers of partitions, and whether the request is for all partitions."""
        if request.topic_partitions is None:
            return [(name, tuple(topic.partitions), True) for name, topic in self._topics.by_name.items()]
        return [(topic.topic, topic.partitions, False) for topic in request.topic_partitions]

    def _results(
        self, name: str, numbers: Iterable[int], records: list[PartitionChangeRecord], *, unclean: bool, of_all: bool
    ) -> Iterator[_Result]:
        """The results of a topic. Partitions that need no election are left out where all are elected."""
        for number in numbers:
            try:
                records.append(self._record(name, number, unclean=unclean))
                yield _Result(number, error_message=None)
            except ItemError as error:
                if not of_all or error.code != ErrorCode.ELECTION_NOT_NEEDED:
                    yield _Result(number, error.code, error.message)

    def _record(self, name: str, number: int, *, unclean: bool) -> PartitionChangeRecord:
        topic = self._topics.by_name.get(name)
        if topic is None:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
        partition = topic.partitions.get(number)
        if partition is None:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{number}")
        if partition.leader == (partition.leader if unclean else partition.replicas[0]) != NO_LEADER:
            raise _NOT_NEEDED
        target = current(partition)
        leader = (
            any_leader(partition, target, self._nodes, unclean=True)
            if unclean
            else preferred_leader(partition, target, self._nodes)
        )
        record = change_record(topic.topic_id, partition, target, leader, self._nodes)
        if record is None:
            raise _NOT_ELIGIBLE if unclean else _NOT_PREFERRED
        return record
