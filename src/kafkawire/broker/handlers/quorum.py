"""DescribeQuorum, AddRaftVoter and RemoveRaftVoter: a quorum of one node (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.registration import CONTROLLER_LISTENER
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_TOPIC: Final = "__cluster_metadata"
_PARTITION: Final = 0
_TIMES_SINCE: Final = 1
_NODES_SINCE: Final = 2
_NO_DIRECTORY: Final = Uuid()
_UNAUTHORIZED: Final = Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")

_Topic = DescribeQuorumResponse.TopicData
_Partition = DescribeQuorumResponse.PartitionData


class QuorumHandlers:
    """Describe the quorum; its voters are those of the configuration, so that none can be added or removed."""

    def __init__(self, context: HandlerContext) -> None:
        self._cluster = context.cluster
        self._controller = context.controller
        self._clock = context.clock
        self._access = context.access
        self.apis = (
            ServedApi(DescribeQuorumRequest, self._describe, 0, 2),
            ServedApi(AddRaftVoterRequest, self._add, 0, 1),
            ServedApi(RemoveRaftVoterRequest, self._remove, 0, 0),
        )

    def _describe(self, request: DescribeQuorumRequest, call: Call) -> DescribeQuorumResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE):
            return _UNAUTHORIZED
        asked = [(topic.topic_name, [p.partition_index for p in topic.partitions]) for topic in request.topics]
        if asked != [(_TOPIC, [_PARTITION])]:
            return _unknown(request, with_texts=call.version >= _NODES_SINCE)
        own, end_offset = self._cluster, self._controller.end_offset
        voter = DescribeQuorumResponse.ReplicaState(own.node_id, _NO_DIRECTORY, end_offset)
        if call.version >= _TIMES_SINCE:
            now = self._clock.now_ms()
            voter = DescribeQuorumResponse.ReplicaState(own.node_id, _NO_DIRECTORY, end_offset, now, now)
        partition = _Partition(
            _PARTITION,
            leader_id=own.node_id,
            leader_epoch=self._controller.leader_epoch,
            high_watermark=end_offset,
            current_voters=(voter,),
        )
        listener = DescribeQuorumResponse.Listener(CONTROLLER_LISTENER, own.host, own.port)
        node = DescribeQuorumResponse.Node(own.node_id, (listener,))
        return DescribeQuorumResponse(
            topics=(_Topic(_TOPIC, (partition,)),),
            nodes=(node,) if call.version >= _NODES_SINCE else (),
        )

    def _add(self, request: AddRaftVoterRequest, call: Call) -> AddRaftVoterResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return _UNAUTHORIZED
        if request.cluster_id not in {None, self._cluster.cluster_id}:
            return AddRaftVoterResponse(0, ErrorCode.INCONSISTENT_CLUSTER_ID, self._other_cluster(request.cluster_id))
        if request.voter_id < 0 or request.voter_directory_id == _NO_DIRECTORY:
            reason = "Add voter request didn't include a valid voter"
            return AddRaftVoterResponse(0, ErrorCode.INVALID_REQUEST, reason)
        if all(listener.name != CONTROLLER_LISTENER for listener in request.listeners):
            reason = f"Add voter request has no endpoint for the listener {CONTROLLER_LISTENER}"
            return AddRaftVoterResponse(0, ErrorCode.INVALID_REQUEST, reason)
        return AddRaftVoterResponse(0, ErrorCode.UNSUPPORTED_VERSION, _unsupported("adding"))

    def _remove(self, request: RemoveRaftVoterRequest, call: Call) -> RemoveRaftVoterResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return _UNAUTHORIZED
        if request.cluster_id not in {None, self._cluster.cluster_id}:
            reason = self._other_cluster(request.cluster_id)
            return RemoveRaftVoterResponse(0, ErrorCode.INCONSISTENT_CLUSTER_ID, reason)
        if request.voter_id < 0 or request.voter_directory_id == _NO_DIRECTORY:
            reason = "Remove voter request didn't include a valid voter"
            return RemoveRaftVoterResponse(0, ErrorCode.INVALID_REQUEST, reason)
        return RemoveRaftVoterResponse(0, ErrorCode.UNSUPPORTED_VERSION, _unsupported("removing"))

    def _other_cluster(self, given: str | None) -> str:
        return f'The given id "{given}" doesn\'t match the cluster id "{self._cluster.cluster_id}"'


def _unknown(request: DescribeQuorumRequest, *, with_texts: bool) -> DescribeQuorumResponse:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    text = "This server does not host this topic-partition." if with_texts else ""
    topics = (
        _Topic(topic.topic_name, tuple(_Partition(p.partition_index, error, text) for p in topic.partitions))
        for topic in request.topics
    )
    return DescribeQuorumResponse(topics=tuple(topics))


def _unsupported(doing: str) -> str:
    return f"Cluster doesn't support {doing} voter because the kraft.version feature is 0"
