"""The quorum of one node: its state, and voters that are added and removed (KIP-595, KIP-853)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_topic_rights import allow

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from kafkawire.wire import Message

pytestmark = pytest.mark.interop

_CLUSTER = (ResourceType.CLUSTER, "kafka-cluster", 3)
_METADATA = "__cluster_metadata"
_DIRECTORY = Uuid(b"some directory 1")
_Topic = DescribeQuorumRequest.TopicData
_Partition = DescribeQuorumRequest.PartitionData
_Listener = AddRaftVoterRequest.Listener


def without_offsets(answer: DescribeQuorumResponse) -> DescribeQuorumResponse:
    """The answer without the epoch, the offsets and the times, which the node shares with no other."""
    assert all(
        partition.leader_epoch > 0
        and partition.high_watermark > 0
        and all(voter.log_end_offset >= partition.high_watermark for voter in partition.current_voters)
        for topic in answer.topics
        for partition in topic.partitions
        if not partition.error_code
    )
    topics = tuple(
        replace(
            topic,
            partitions=tuple(
                replace(
                    partition,
                    leader_epoch=0,
                    high_watermark=0,
                    current_voters=tuple(
                        replace(
                            voter,
                            log_end_offset=0,
                            last_fetch_timestamp=min(voter.last_fetch_timestamp, 1),
                            last_caught_up_timestamp=min(voter.last_caught_up_timestamp, 1),
                        )
                        for voter in partition.current_voters
                    ),
                )
                for partition in topic.partitions
            ),
        )
        for topic in answer.topics
    )
    return replace(answer, topics=topics)


@same_answers_from_plain_brokers
def test_the_quorum(talk: Talk) -> None:
    for asked in (
        (_Topic(_METADATA, (_Partition(0),)),),
        (_Topic(_METADATA, (_Partition(1),)),),
        (_Topic(_METADATA, (_Partition(0), _Partition(0))),),
        (_Topic(_METADATA, (_Partition(0),)), _Topic(_METADATA, (_Partition(0),))),
        (_Topic("other", (_Partition(0),)),),
        (_Topic(_METADATA, ()),),
        (),
    ):
        for version in range(3):
            request = DescribeQuorumRequest(asked)
            talk.keep(request, version, without_offsets(talk.learn(request, version, DescribeQuorumResponse)))


@same_answers_from_plain_brokers
def test_voters_are_those_of_the_configuration(talk: Talk) -> None:
    cluster_id = talk.ask(DescribeClusterRequest(False), 2, DescribeClusterResponse).cluster_id
    listeners = (_Listener("CONTROLLER", "127.0.0.1", 9093),)
    for cluster in (None, cluster_id):
        for voter, directory in ((1, _DIRECTORY), (2, _DIRECTORY), (-1, _DIRECTORY), (2, Uuid())):
            talk.ask(RemoveRaftVoterRequest(cluster, voter, directory), 0, RemoveRaftVoterResponse)
            for version in range(2):
                request = AddRaftVoterRequest(cluster, 1000, voter, directory, listeners)
                talk.ask(request, version, AddRaftVoterResponse)
    # The text has the id of the cluster, or is Java's of endpoints.
    refused: tuple[tuple[Message, int], ...] = (
        (AddRaftVoterRequest("other", 1000, 2, _DIRECTORY, listeners), 0),
        (RemoveRaftVoterRequest("other", 2, _DIRECTORY), 0),
        (AddRaftVoterRequest(None, 1000, 2, _DIRECTORY, ()), 0),
        (AddRaftVoterRequest(None, 1000, 2, _DIRECTORY, (_Listener("OTHER", "127.0.0.1", 9093),)), 1),
    )
    for one, version in refused:
        talk.ask_for_codes(one, version)


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    asked = DescribeQuorumRequest((_Topic(_METADATA, (_Partition(0),)),))
    for operation in (None, AclOperation.DESCRIBE, AclOperation.ALTER):
        if operation is not None:
            allow(talk, (_CLUSTER, operation))
        with talk.logged_in(USER, PASSWORDS[USER]):
            if operation is None:
                for version in range(3):
                    talk.ask_for_codes(asked, version)
            talk.ask_for_codes(AddRaftVoterRequest(None, 1000, 2, _DIRECTORY), 0)
            talk.ask_for_codes(RemoveRaftVoterRequest(None, 2, _DIRECTORY), 0)
