"""Elections of leaders, and reassignments of partitions, in a cluster of one node (KIP-455, KIP-460, KIP-860)."""

from __future__ import annotations

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_data import topic_with_leaders
from tests.interop.broker.same_answers.test_topic_rights import allow
from tests.interop.broker.same_answers.test_topics import settled

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)

pytestmark = pytest.mark.interop

_CLUSTER = (ResourceType.CLUSTER, "kafka-cluster", 3)
_Asked = ElectLeadersRequest.TopicPartitions
_Topic = AlterPartitionReassignmentsRequest.ReassignableTopic
_Partition = AlterPartitionReassignmentsRequest.ReassignablePartition
_Listed = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics


def elect(talk: Talk, *topics: _Asked) -> None:
    """Elect leaders of partitions, in every version and way; some ways are unknown."""
    talk.ask(ElectLeadersRequest(topic_partitions=topics, timeout_ms=9000), 0, ElectLeadersResponse)
    for version in (1, 2):
        for election in (0, 1, 2, -1, 127):
            talk.ask(ElectLeadersRequest(election, topics, 9000), version, ElectLeadersResponse)


@same_answers_from_plain_brokers
def test_elections_where_all_lead(talk: Talk) -> None:
    topic_with_leaders(talk, "elected")
    elect(talk, _Asked("elected", (0, 1)))
    elect(talk, _Asked("elected", (7, 0, -1)), _Asked("absent", (0,)), _Asked("", (0,)))
    elect(talk, _Asked("elected", ()))
    elect(talk, _Asked("elected", (0, 0)), _Asked("elected", (1,)))
    elect(talk)


@same_answers_from_plain_brokers
def test_elections_of_all_leaders(talk: Talk) -> None:
    """Partitions that need no election are not in the answer; topics that other tests have left are not compared."""
    topic_with_leaders(talk, "elected-with-all")
    for version in range(3):
        for election in (0, 1) if version else (0,):
            request = ElectLeadersRequest(election, None, 9000)
            answer = talk.learn(request, version, ElectLeadersResponse)
            own = tuple(one for one in answer.replica_election_results if one.topic == "elected-with-all")
            talk.keep(request, version, ElectLeadersResponse(0, answer.error_code, own))
        if version:
            talk.ask(ElectLeadersRequest(5, None, 9000), version, ElectLeadersResponse)


@same_answers_from_plain_brokers
def test_reassignments_to_the_only_broker(talk: Talk) -> None:
    topic_with_leaders(talk, "reassigned")
    places: tuple[tuple[int, ...] | None, ...] = ((1,), None, (), (2,), (1, 1), (1, 2), (-1,))
    for replicas in places:
        for may_grow in (True, False):
            for topics in (
                (_Topic("reassigned", (_Partition(0, replicas), _Partition(1, replicas))),),
                (_Topic("reassigned", (_Partition(9, replicas),)), _Topic("absent", (_Partition(0, replicas),))),
            ):
                for version in range(2) if may_grow else (1,):
                    request = AlterPartitionReassignmentsRequest(9000, may_grow, topics)
                    talk.ask(request, version, AlterPartitionReassignmentsResponse)
    settled(talk, "reassigned")
    talk.ask(AlterPartitionReassignmentsRequest(), 1, AlterPartitionReassignmentsResponse)
    twice = (_Topic("reassigned", (_Partition(0, (1,)), _Partition(0, None))), _Topic("reassigned", ()))
    talk.ask(AlterPartitionReassignmentsRequest(topics=twice), 1, AlterPartitionReassignmentsResponse)


@same_answers_from_plain_brokers
def test_no_reassignment_is_listed(talk: Talk) -> None:
    topic_with_leaders(talk, "listed")
    for topics in (None, (), (_Listed("listed", (0, 1, 9)),), (_Listed("absent", (0,)),), (_Listed("listed", ()),)):
        talk.ask(ListPartitionReassignmentsRequest(9000, topics), 0, ListPartitionReassignmentsResponse)


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    reassigned = (_Topic("t", (_Partition(0, (1,)), _Partition(1, None))),)
    for operation in (None, AclOperation.DESCRIBE, AclOperation.ALTER):
        if operation is not None:
            allow(talk, (_CLUSTER, operation))
        with talk.logged_in(USER, PASSWORDS[USER]):
            for version in range(3):
                talk.ask_for_codes(ElectLeadersRequest(0, (_Asked("t", (0, 1)), _Asked("u", (2,))), 9000), version)
                if operation is not AclOperation.ALTER:
                    talk.ask_for_codes(ElectLeadersRequest(0, None, 9000), version)
            for version in range(2):
                talk.ask_for_codes(AlterPartitionReassignmentsRequest(topics=reassigned), version)
            talk.ask_for_codes(ListPartitionReassignmentsRequest(topics=(_Listed("t", (0,)),)), 0)
            talk.ask_for_codes(ListPartitionReassignmentsRequest(), 0)
