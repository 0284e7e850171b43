"""The versions that Kafka 4.4 has added, at a broker of that release and at an embedded broker that answers as one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

import pytest
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import is_at_least, releases

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

RELEASE = next(release for release in releases() if is_at_least(release, "4.4"))
UNKNOWN = Uuid(bytes(15) + b"9")
LATER = (14, 15, 16)
"""Errors of a coordinator that is not ready."""


@pytest.fixture(scope="module")
def addresses(kafka_brokers: Brokers) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Of a broker of Apache Kafka and of an embedded one."""
    kafka = kafka_brokers(RELEASE)
    with ThreadedBroker(release="4.4") as broker:
        yield (kafka.host, kafka.port), (broker.host, broker.port)


def versions_for(address: tuple[str, int]) -> list[tuple[int, bool, int]]:
    """Error, whether APIs are listed, and epoch of features for clients that expect this node, another one or none."""
    with BlockingAdminClient(f"{address[0]}:{address[1]}") as admin:
        cluster = admin.describe_cluster()
    found = []
    for cluster_id, node in product((None, "", "another", cluster.cluster_id), (-2, -1, 99, cluster.nodes[0].node.id)):
        with connected_to(*address) as connection:
            request = ApiVersionsRequest("kafkawire", "1", cluster_id, node)
            answer = connection.ask(request, 5, ApiVersionsResponse)
            found.append((answer.error_code, bool(answer.api_keys), min(answer.finalized_features_epoch, 0)))
    return found


def test_a_client_of_another_node_or_cluster_starts_over(addresses: tuple[tuple[str, int], tuple[str, int]]) -> None:
    """KIP-1242."""
    kafka, embedded = map(versions_for, addresses)
    assert embedded == kafka
    assert {error for error, _, _ in kafka} == {0, 42, 129}


def deleted_groups(address: tuple[str, int]) -> list[tuple[str, int, str | None]]:
    with BlockingAdminClient(f"{address[0]}:{address[1]}") as admin:
        topic = f"{RELEASE}-deleted"
        admin.create_topics([NewTopic(topic)]).all()
        admin.alter_consumer_group_offsets("with-offsets", {TopicPartition(topic, 0): 0}).all()
    with connected_to(*address) as connection:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol("range", b"")
        joining = JoinGroupRequest("with-member", 6000, 6000, "", None, "consumer", (protocol,))
        assert connection.ask(joining, 3, JoinGroupResponse).error_code == 0
        request = DeleteGroupsRequest(("none", "", "with-offsets", "with-member"))
        results = connection.ask(request, 3, DeleteGroupsResponse).results
    return sorted((each.group_id, each.error_code, each.error_message) for each in results)


def test_results_of_deleted_groups_have_room_for_words(addresses: tuple[tuple[str, int], tuple[str, int]]) -> None:
    kafka, embedded = map(deleted_groups, addresses)
    assert embedded == kafka
    assert [error for _, error, _ in kafka] == [69, 69, 68, 0]


def committed(address: tuple[str, int]) -> list[list[tuple[str, str, int, int]]]:
    """Topic, partition and error of commits with a transaction that have ids of topics."""
    with BlockingAdminClient(f"{address[0]}:{address[1]}") as admin:
        topic = f"{RELEASE}-committed"
        admin.create_topics([NewTopic(topic, 2)]).all()
        topic_id = admin.describe_topics([topic])[topic].topic_id
    assert topic_id is not None
    names = {topic_id: "it", UNKNOWN: "unknown", Uuid(): "none"}
    partition, asked = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition, TxnOffsetCommitRequest
    one, two = (partition(0, 5),), (partition(0, 5), partition(7, 5), partition(1, 5))
    with connected_to(*address) as connection:
        producer = begun(connection)
        found = []
        for places, group, member in product(
            (
                ((topic_id, one),),
                ((topic_id, two), (UNKNOWN, one), (Uuid(), one)),
                ((UNKNOWN, one),),
                ((topic_id, one), (topic_id, (partition(1, 6),))),
                (),
            ),
            ("group", ""),
            (("", -1), ("somebody", 5)),
        ):
            topics = tuple(asked.TxnOffsetCommitRequestTopic("", each, of) for each, of in places)
            request = asked("v6", group, *producer, member[1], member[0], topics=topics)
            answer = settled(connection, request)
            found.append(
                [(each.name, names[each.topic_id], of.partition_index, of.error_code)
                 for each in answer.topics for of in each.partitions]
            )  # fmt: skip
    return found


def begun(connection: Connection) -> tuple[int, int]:
    connection.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=("v6",)), 4, FindCoordinatorResponse)
    connection.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=("group",)), 4, FindCoordinatorResponse)
    end = time.monotonic() + 30
    while True:
        answer = connection.ask(InitProducerIdRequest("v6", 60_000), 4, InitProducerIdResponse)
        if not answer.error_code:
            return answer.producer_id, answer.producer_epoch
        assert time.monotonic() < end, answer
        time.sleep(0.1)


def settled(connection: Connection, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    """The answer of a coordinator that is ready."""
    end = time.monotonic() + 30
    while True:
        answer = connection.ask(request, 6, TxnOffsetCommitResponse)
        if all(of.error_code not in LATER for each in answer.topics for of in each.partitions):
            return answer
        assert time.monotonic() < end, answer
        time.sleep(0.1)


def test_commits_with_transactions_have_ids_of_topics(addresses: tuple[tuple[str, int], tuple[str, int]]) -> None:
    kafka, embedded = map(committed, addresses)
    assert embedded == kafka
    assert {error for results in kafka for _, _, _, error in results} >= {0, 3, 24, 25, 100}


def unregistered(address: tuple[str, int]) -> list[tuple[int, str | None]]:
    """Error and words for controllers that are not registered, and for the one that is active."""
    with BlockingAdminClient(f"{address[0]}:{address[1]}") as admin:
        active = admin.describe_metadata_quorum().leader or -2
    with connected_to(*address) as connection:
        answers = [
            connection.ask(UnregisterControllerRequest(controller), 0, UnregisterControllerResponse)
            for controller in (99, -1, active)
        ]
    return [(answer.error_code, answer.error_message) for answer in answers]


def test_only_registered_controllers_that_are_not_active_are_unregistered(
    addresses: tuple[tuple[str, int], tuple[str, int]],
) -> None:
    """KIP-1312."""
    kafka, embedded = map(unregistered, addresses)
    assert embedded == kafka
    assert [error for error, _ in kafka] == [136, 136, 42]
