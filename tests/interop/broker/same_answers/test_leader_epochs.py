"""Where the records of a leader epoch end (KIP-320)."""

from __future__ import annotations

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_data import batch, produce, topic_with_leaders
from tests.interop.broker.same_answers.test_topic_rights import allow

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)

pytestmark = pytest.mark.interop

_CLUSTER = (ResourceType.CLUSTER, "kafka-cluster", 3)
_VERSIONS = range(2, 5)
_Topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
_Asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition


def ends(talk: Talk, *topics: _Topic) -> None:
    for version in _VERSIONS:
        for replica in (-2, -1, 1) if version >= 3 else (-2,):
            talk.ask(OffsetForLeaderEpochRequest(replica, topics), version, OffsetForLeaderEpochResponse)


@same_answers_from_plain_brokers
def test_ends_of_epochs(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "with-epochs")
    every = tuple(
        _Asked(partition, current, epoch)
        for current in (-1, 0, 1)
        for epoch in (0, 1, -1, -2, 7)
        for partition in (0, 1)
    )
    for records in range(3):
        for asked in every:
            ends(talk, _Topic("with-epochs", (asked,)))
        if records < 2:
            produce(talk, topic, batch())
    deleted = DeleteRecordsRequest.DeleteRecordsTopic(
        "with-epochs", (DeleteRecordsRequest.DeleteRecordsPartition(0, 4),)
    )
    talk.ask(DeleteRecordsRequest((deleted,), 9000), 2, DeleteRecordsResponse)
    for asked in every:
        ends(talk, _Topic("with-epochs", (asked,)))


@same_answers_from_plain_brokers
def test_partitions_that_there_are_not(talk: Talk) -> None:
    topic_with_leaders(talk, "with-some-epochs")
    ends(talk)
    ends(talk, _Topic("absent", (_Asked(0, -1, 0),)), _Topic("with-some-epochs", (_Asked(9, -1, 0), _Asked(0, -1, 0))))
    ends(talk, _Topic("with-some-epochs", ()))
    ends(
        talk,
        _Topic("with-some-epochs", (_Asked(0, -1, 0), _Asked(0, -1, 1))),
        _Topic("with-some-epochs", (_Asked(1, -1, 0),)),
    )


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    topic_with_leaders(talk, "le-rights")
    topics = (_Topic("le-absent", (_Asked(0, -1, 0),)), _Topic("le-rights", (_Asked(0, -1, 0), _Asked(1, -1, 0))))
    for rights in (
        (),
        (((ResourceType.TOPIC, "le-rights", 3), AclOperation.DESCRIBE),),
        ((_CLUSTER, AclOperation.CLUSTER_ACTION),),
    ):
        if rights:
            allow(talk, *rights)
        with talk.logged_in(USER, PASSWORDS[USER]):
            ends(talk, *topics)
