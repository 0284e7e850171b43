"""Log directories: what is in them, and moves of partitions (KIP-113, KIP-827, KIP-1066)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_data import batch, produce, topic_with_leaders
from tests.interop.broker.same_answers.test_topic_rights import allow

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)

pytestmark = pytest.mark.interop

_DESCRIBED, _MOVED = range(1, 6), range(1, 3)
_CLUSTER = (ResourceType.CLUSTER, "kafka-cluster", 3)
_Asked = DescribeLogDirsRequest.DescribableLogDirTopic
_Directory = AlterReplicaLogDirsRequest.AlterReplicaLogDir
_Topic = AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic


def path_of(talk: Talk) -> str:
    """The only directory of the broker."""
    (result,) = talk.ask(DescribeLogDirsRequest(()), 4, DescribeLogDirsResponse).results
    return result.log_dir


@same_answers_from_plain_brokers
def test_partitions_and_their_sizes(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "sized")
    for asked in (
        (),
        (_Asked("sized", (0,)),),
        (_Asked("sized", (1, 0, 7)), _Asked("absent", (0,))),
        (_Asked("sized", ()),),
        (_Asked("sized", (0,)), _Asked("sized", (1,))),
    ):
        for version in _DESCRIBED:
            talk.ask(DescribeLogDirsRequest(asked), version, DescribeLogDirsResponse)
    for _ in range(3):
        produce(talk, topic, batch())
        talk.ask(DescribeLogDirsRequest((_Asked("sized", (0, 1)),)), 4, DescribeLogDirsResponse)


@same_answers_from_plain_brokers
def test_all_partitions(talk: Talk) -> None:
    """Of all only those of one topic are compared: other tests have left others, and they may still be deleted."""
    topic_with_leaders(talk, "one-of-all")
    for version in _DESCRIBED:
        (result,) = talk.learn(DescribeLogDirsRequest(None), version, DescribeLogDirsResponse).results
        own = tuple(topic for topic in result.topics if topic.name == "one-of-all")
        part = DescribeLogDirsResponse(results=(replace(result, topics=own),))
        talk.keep(DescribeLogDirsRequest(None), version, part)


@same_answers_from_plain_brokers
def test_moves(talk: Talk) -> None:
    topic_with_leaders(talk, "moved")
    own = path_of(talk)
    longest = "n" * 249
    for version in _MOVED:
        for path in (own, "/no/such/directory", "", "relative"):
            for topics in (
                (_Topic("moved", (0, 1, 9)),),
                (_Topic("absent", (0,)),),
                (_Topic(longest, (0,)), _Topic("moved", (0,))),
                (_Topic("moved", ()),),
                (),
            ):
                talk.ask(AlterReplicaLogDirsRequest((_Directory(path, topics),)), version, AlterReplicaLogDirsResponse)
    both = (_Directory(own, (_Topic("moved", (0,)),)), _Directory("/absent", (_Topic("moved", (0, 1)),)))
    talk.ask(AlterReplicaLogDirsRequest(both), 2, AlterReplicaLogDirsResponse)
    talk.ask(AlterReplicaLogDirsRequest(both[::-1]), 2, AlterReplicaLogDirsResponse)


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    move = AlterReplicaLogDirsRequest(
        (_Directory("/a", (_Topic("t", (0, 1)), _Topic("u", (0,)))), _Directory("/b", (_Topic("t", (2,)),)))
    )
    for operation in (None, AclOperation.DESCRIBE, AclOperation.ALTER):
        if operation is not None:
            allow(talk, (_CLUSTER, operation))
        with talk.logged_in(USER, PASSWORDS[USER]):
            for version in _DESCRIBED:
                talk.ask(DescribeLogDirsRequest((_Asked("t", (0,)),)), version, DescribeLogDirsResponse)
            for version in _MOVED:
                talk.ask(move, version, AlterReplicaLogDirsResponse)
