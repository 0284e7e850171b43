"""The metadata quorum of a KRaft cluster (admin-quorum)."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

import msgspec

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Request
from kafkawire.admin.engine.wanted import Wanted
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.cluster import NodeChange
from kafkawire.layout import Uuid
from kafkawire.model.cluster import MetadataQuorum, QuorumReplica, RaftEndpoint
from kafkawire.model.topics import known_id, known_number
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import InvalidRequestError, UnknownServerError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

_METADATA_TOPIC = "__cluster_metadata"
_LEADER_MOVED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE})
"""A broker had forwarded the request to a controller that does not lead the quorum any more, or not yet."""


class Voter(msgspec.Struct, frozen=True):
    """A member of the quorum.

    Attributes:
        node: its node id.
        directory_id: id of its metadata directory.
    """

    node: int
    directory_id: Uuid


class DescribeQuorum(Operation[None, MetadataQuorum, "protocol.DescribeQuorumResponse"]):
    """KIP-595, KIP-853 (directories and endpoints)."""

    name = "describe_metadata_quorum"
    api = ApiKey.DESCRIBE_QUORUM
    on_controllers = True
    retried_codes = _LEADER_MOVED

    def build(self, request: Request[None]) -> Message:
        message = protocol.DescribeQuorumRequest
        return message(topics=(message.TopicData(_METADATA_TOPIC, (message.PartitionData(0),)),))

    def read(self, request: Request[None], response: protocol.DescribeQuorumResponse) -> Outcomes[None, MetadataQuorum]:
        return {None: _quorum(response)}


def _quorum(response: protocol.DescribeQuorumResponse) -> MetadataQuorum | KafkaError:
    topics = {topic.topic_name: topic.partitions for topic in response.topics}
    if list(topics) != [_METADATA_TOPIC] or len(topics[_METADATA_TOPIC]) != 1:
        return UnknownServerError(f"expected one partition of {_METADATA_TOPIC}, got partitions of {list(topics)}")
    (partition,) = topics[_METADATA_TOPIC]
    if partition.error_code:
        return error_of(partition.error_code, partition.error_message)
    return MetadataQuorum(
        leader=known_number(partition.leader_id),
        leader_epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        voters=tuple(map(_replica, partition.current_voters)),
        observers=tuple(map(_replica, partition.observers)),
        endpoints={
            node.node_id: tuple(RaftEndpoint(at.name, at.host, at.port) for at in node.listeners)
            for node in response.nodes
        },
    )


def _replica(state: protocol.DescribeQuorumResponse.ReplicaState) -> QuorumReplica:
    return QuorumReplica(
        replica_id=state.replica_id,
        directory_id=known_id(state.replica_directory_id),
        log_end_offset=known_number(state.log_end_offset),
        last_fetch_timestamp_ms=known_number(state.last_fetch_timestamp),
        last_caught_up_timestamp_ms=known_number(state.last_caught_up_timestamp),
    )


def _of_one_listener(one: RaftEndpoint, other: RaftEndpoint) -> RaftEndpoint | KafkaError:
    return one if one == other else InvalidRequestError(f"the listener {one.listener!r} has two addresses: give one")


class AddRaftVoter(NodeChange[Voter]):
    """KIP-853."""

    name = "add_raft_voter"
    api = ApiKey.ADD_RAFT_VOTER
    retried_codes = _LEADER_MOVED

    def __init__(self, endpoints: Iterable[RaftEndpoint], cluster_id: str | None, *, ack_when_committed: bool) -> None:
        wanted = Wanted(endpoints, attrgetter("listener"), _of_one_listener)
        self._endpoints = tuple(wanted.values.values())
        self._refusal = next(iter(wanted.refused.values()), None)
        self._cluster_id = cluster_id
        self._ack_when_committed = ack_when_committed
        self.needs = () if ack_when_committed else ("ack_when_committed",)

    def validate(self, item: Voter) -> KafkaError | None:
        return self._refusal

    def build(self, request: Request[Voter]) -> Message:
        message = protocol.AddRaftVoterRequest
        (voter,) = request.items
        return message(
            cluster_id=self._cluster_id,
            timeout_ms=request.timeout_ms,
            voter_id=voter.node,
            voter_directory_id=voter.directory_id,
            listeners=tuple(message.Listener(at.listener, at.host, at.port) for at in self._endpoints),
            ack_when_committed=self._ack_when_committed,
        )


class RemoveRaftVoter(NodeChange[Voter]):
    """KIP-853."""

    name = "remove_raft_voter"
    api = ApiKey.REMOVE_RAFT_VOTER
    retried_codes = _LEADER_MOVED

    def __init__(self, cluster_id: str | None) -> None:
        self._cluster_id = cluster_id

    def build(self, request: Request[Voter]) -> Message:
        (voter,) = request.items
        return protocol.RemoveRaftVoterRequest(self._cluster_id, voter.node, voter.directory_id)


class QuorumOperations(OperationFamily):
    """The metadata quorum."""

    @needs(DescribeQuorum, rights="DESCRIBE CLUSTER")
    async def describe_metadata_quorum(self, *, timeout: float | None = None) -> MetadataQuorum:
        """The members of the metadata quorum, and how far each has replicated the log.

        Args:
            timeout: see `AdminClient`.

        Raises:
            KafkaError: if no node answers.

        Example:
            ```python
            quorum = await admin.describe_metadata_quorum()
            print("node", quorum.leader, "leads in epoch", quorum.leader_epoch)
            for voter in quorum.voters:
                print(voter.replica_id, "has the log up to", voter.log_end_offset, "of", quorum.high_watermark)
            ```
        """
        return await self._only(DescribeQuorum(), None, timeout)

    @needs(AddRaftVoter, rights="ALTER CLUSTER")
    async def add_raft_voter(
        self,
        node: int,
        directory_id: Uuid,
        endpoints: Iterable[RaftEndpoint],
        *,
        cluster_id: str | None = None,
        ack_when_committed: bool = True,
        timeout: float | None = None,
    ) -> None:
        """Make an observer a voter of the metadata quorum.

        Args:
            node: its node id.
            directory_id: id of its metadata directory.
            endpoints: where it listens; one for each listener.
            cluster_id: refuses the change if the cluster has another id; None not to check.
            ack_when_committed: whether to wait until the change is committed; False needs a broker of 4.2 or newer.
            timeout: see `AdminClient`.

        Raises:
            DuplicateVoterError: if it is a voter already.
            InvalidRequestError: if a listener is given twice, at different addresses.
            InconsistentClusterIdError: if the cluster has another id.
            UnsupportedVersionError: if the voters are fixed: the feature ``kraft.version`` is 0.

        Example:
            ```python
            from kafkawire.wire import Uuid

            directory_id = Uuid.from_text("MkSL4DsFQPS6b3f0vTkPzw")  # directory.id in its meta.properties
            endpoint = RaftEndpoint("CONTROLLER", "controller-2.example.com", 9093)
            await admin.add_raft_voter(3002, directory_id, [endpoint])
            ```
        """
        operation = AddRaftVoter(endpoints, cluster_id, ack_when_committed=ack_when_committed)
        await self._only(operation, Voter(node, directory_id), timeout)

    @needs(RemoveRaftVoter, rights="ALTER CLUSTER")
    async def remove_raft_voter(
        self, node: int, directory_id: Uuid, *, cluster_id: str | None = None, timeout: float | None = None
    ) -> None:
        """Make a voter of the metadata quorum an observer.

        Args:
            node: its node id.
            directory_id: id of its metadata directory.
            cluster_id: refuses the change if the cluster has another id; None not to check.
            timeout: see `AdminClient`.

        Raises:
            VoterNotFoundError: if it is not a voter.
            InconsistentClusterIdError: if the cluster has another id.
            UnsupportedVersionError: if the voters are fixed: the feature ``kraft.version`` is 0.

        Example:
            ```python
            from kafkawire.wire import Uuid

            directory_id = Uuid.from_text("MkSL4DsFQPS6b3f0vTkPzw")  # as describe_metadata_quorum shows it
            await admin.remove_raft_voter(3002, directory_id)
            ```
        """
        await self._only(RemoveRaftVoter(cluster_id), Voter(node, directory_id), timeout)
