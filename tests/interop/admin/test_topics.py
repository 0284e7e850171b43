"""Topics, their partitions and their records at real brokers: what works, and the documented failures."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from tests.apache_kafka.eventually import eventually

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.operations.records import HIGH_WATERMARK
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.partitions import ElectionType, OffsetSpec, TopicPartition
from kafkawire.model.topics import NewPartitions, NewTopic
from kafkawire.protocol.errors import (
    EligibleLeadersNotAvailableError,
    InvalidPartitionsError,
    InvalidReplicaAssignmentError,
    InvalidTopicError,
    NoReassignmentInProgressError,
    OffsetOutOfRangeError,
    TopicAlreadyExistsError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import OperationTimeoutError

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture
def topic(admin: BlockingAdminClient) -> Iterator[str]:
    """A topic with three partitions, as soon as the broker has it."""
    name = f"topics-{uuid.uuid4()}"
    admin.create_topics([NewTopic(name, 3, 1)]).all()
    admin.wait_for_topics([name]).all()
    yield name
    admin.delete_topics([name])


def test_a_topic_lives_and_dies(admin: BlockingAdminClient) -> None:
    name = f"topics-{uuid.uuid4()}"
    created = admin.create_topics([NewTopic(name, configs={"retention.ms": "60000"})])[name]
    assert (created.num_partitions, created.replication_factor) == (1, 1)
    assert created.topic_id is not None
    assert isinstance(admin.create_topics([NewTopic(name)]).errors()[name], TopicAlreadyExistsError)
    admin.wait_for_topics([name]).all()
    assert admin.list_topics()[name].topic_id == created.topic_id
    by_name, by_id = admin.describe_topics([name, created.topic_id]).all().values()
    assert (by_name.name, by_name.topic_id, by_id.name, by_id.topic_id) == (name, created.topic_id) * 2
    assert [(p.partition, p.replicas, p.isr) for p in by_name.partitions] == [(0, (1,), (1,))]
    assert by_name.partitions[0].leader == 1
    admin.delete_topics([created.topic_id]).all()
    assert isinstance(admin.delete_topics([created.topic_id]).errors()[created.topic_id], UnknownTopicIdError)
    assert isinstance(admin.delete_topics([name]).errors()[name], UnknownTopicOrPartitionError)


def test_unknown_topics_are_reported_and_never_created(admin: BlockingAdminClient) -> None:
    name, unknown = f"nope-{uuid.uuid4()}", Uuid(uuid.uuid4().bytes)
    errors = admin.describe_topics([name, "not legal!", unknown]).errors()
    assert [type(error) for error in errors.values()] == [
        UnknownTopicOrPartitionError, InvalidTopicError, UnknownTopicIdError
    ]  # fmt: skip
    assert name not in admin.list_topics()
    error = admin.wait_for_topics([name], timeout=0.5).errors()[name]
    assert isinstance(error, OperationTimeoutError)
    assert isinstance(error.__cause__, UnknownTopicOrPartitionError)


def test_authorized_operations_of_a_topic_are_described_on_request(admin: BlockingAdminClient, topic: str) -> None:
    described = admin.describe_topics([topic], include_authorized_operations=True)[topic]
    assert described.authorized_operations is not None
    assert {AclOperation.READ, AclOperation.WRITE, AclOperation.ALTER} <= described.authorized_operations
    assert admin.describe_topics([topic])[topic].authorized_operations is None


def test_topics_of_more_partitions_than_a_page_holds_are_described_whole(admin: BlockingAdminClient) -> None:
    names = [f"pages-{number}-{uuid.uuid4()}" for number in range(3)]
    admin.create_topics([NewTopic(name, 900, 1) for name in names]).all()
    admin.wait_for_topics(names).all()
    described = admin.describe_topics(names).all()
    assert [[p.partition for p in topic.partitions] for topic in described.values()] == [list(range(900))] * 3
    admin.delete_topics(names).all()


def test_topics_grow_and_never_shrink(admin: BlockingAdminClient, topic: str) -> None:
    errors = admin.create_partitions({topic: 2, f"nope-{topic}": 5}).errors()
    assert [type(error) for error in errors.values()] == [InvalidPartitionsError, UnknownTopicOrPartitionError]
    bad = admin.create_partitions({topic: NewPartitions(4, [[99]])}).errors()
    assert isinstance(bad[topic], InvalidReplicaAssignmentError)
    admin.create_partitions({topic: 5}, validate_only=True).all()
    admin.create_partitions({topic: NewPartitions(4, [[1]])}).all()
    eventually(lambda: len(admin.describe_topics([topic])[topic].partitions), lambda count: count == 4)


def test_leaders_are_elected_only_where_that_is_needed(admin: BlockingAdminClient, topic: str) -> None:
    known, unknown = TopicPartition(topic, 0), TopicPartition(f"nope-{topic}", 0)
    for election in ElectionType:
        results = admin.elect_leaders([known, unknown], election)
        assert results.values() == {known: False}
        assert isinstance(results.errors()[unknown], (UnknownTopicOrPartitionError, EligibleLeadersNotAvailableError))
    assert known not in admin.elect_leaders(None)


def test_moves_are_checked_for_each_partition(admin: BlockingAdminClient, topic: str) -> None:
    stays, nowhere, idle = (TopicPartition(topic, number) for number in range(3))
    results = admin.alter_partition_reassignments({stays: [1], nowhere: [99], idle: None})
    assert list(results.values()) == [stays]
    assert isinstance(results.errors()[nowhere], InvalidReplicaAssignmentError)
    assert isinstance(results.errors()[idle], NoReassignmentInProgressError)
    assert admin.list_partition_reassignments() == {}
    assert admin.list_partition_reassignments([stays]) == {}


def test_offsets_of_an_empty_partition(admin: BlockingAdminClient, topic: str) -> None:
    wanted = [OffsetSpec.LATEST, OffsetSpec.EARLIEST, OffsetSpec.MAX_TIMESTAMP, OffsetSpec.EARLIEST_LOCAL, 0]
    found = [admin.list_offsets({TopicPartition(topic, 0): spec})[TopicPartition(topic, 0)].offset for spec in wanted]
    assert found == [0, 0, None, 0, None]


def test_offsets_that_a_broker_cannot_tell_fail_alone(admin: BlockingAdminClient, topic: str) -> None:
    known, unknown, young = (
        TopicPartition(topic, 0), TopicPartition(f"nope-{topic}", 0), TopicPartition(topic, 1)
    )  # fmt: skip
    wanted = {known: OffsetSpec.LATEST, unknown: OffsetSpec.LATEST, young: OffsetSpec.EARLIEST_PENDING_UPLOAD}
    results = admin.list_offsets(wanted)
    assert results[known].offset == 0
    assert isinstance(results.errors()[unknown], UnknownTopicOrPartitionError)
    if young in results.errors():
        assert isinstance(results.errors()[young], UnsupportedVersionError)


def test_records_that_are_not_there_cannot_be_deleted(admin: BlockingAdminClient, topic: str) -> None:
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    results = admin.delete_records({first: HIGH_WATERMARK, second: 1})
    assert results.values() == {first: 0}
    assert isinstance(results.errors()[second], OffsetOutOfRangeError)
