"""Transactions at real brokers: seen open, aborted where they hang, and taken from their producers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import JavaAdminClient, JavaAdminError
from tests.apache_kafka.java_answers import Partition
from tests.apache_kafka.node import HOST
from tests.apache_kafka.releases import is_at_least
from tests.apache_kafka.secure_broker import PASSWORDS, USER, SecureBroker

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.model.transactions import (
    AbortTransactionSpec,
    ProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionState,
)
from kafkawire.protocol.errors import (
    InvalidProducerEpochError,
    InvalidRegularExpressionError,
    InvalidRequestError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
    TransactionalIdNotFoundError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import OperationTimeoutError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

HOUR_MS = 3_600_000


@pytest.fixture
def partition(admin: BlockingAdminClient) -> Iterator[TopicPartition]:
    name = new("topic")
    admin.create_topics([NewTopic(name, num_partitions=1)]).all()
    eventually(lambda: admin.describe_topics([name]).errors(), lambda errors: not errors)
    yield TopicPartition(name, 0)
    admin.delete_topics([name])


def new(kind: str) -> str:
    return f"transactions-{kind}-{time.monotonic_ns()}"


def producer_of(admin: BlockingAdminClient, partition: TopicPartition) -> ProducerState:
    (producer,) = admin.describe_producers([partition])[partition]
    return producer


@contextmanager
def transaction_that_is_taken_away(java: JavaAdminClient, name: str, partition: TopicPartition) -> Iterator[None]:
    """An open transaction that its producer cannot commit when the context ends."""
    at = Partition(partition.topic, partition.partition)
    with pytest.raises(JavaAdminError, match=r"(?i)fenced|epoch"), java.open_transaction(name, at):
        yield


def test_an_open_transaction_is_seen_as_java_sees_it(
    admin: BlockingAdminClient, java: JavaAdminClient, partition: TopicPartition
) -> None:
    name, before = new("open"), int(time.time() * 1000)
    at = Partition(partition.topic, partition.partition)
    with java.open_transaction(name, at):
        described = admin.describe_transactions([name])[name]
        (theirs,) = java.describe_transactions([name])
        assert described == TransactionDescription(
            coordinator=theirs.coordinator,
            state=TransactionState.ONGOING,
            producer_id=theirs.producer_id,
            producer_epoch=theirs.producer_epoch,
            timeout_ms=theirs.timeout_ms,
            start_time_ms=theirs.start_timestamp,
            partitions=frozenset({partition}),
        )
        assert described.start_time_ms is not None
        assert before <= described.start_time_ms <= time.time() * 1000

        (producer,) = java.describe_producers(at)
        assert producer_of(admin, partition) == ProducerState(
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            last_sequence=producer.last_sequence,
            last_timestamp_ms=producer.last_timestamp,
            coordinator_epoch=producer.coordinator_epoch,
            transaction_start_offset=producer.transaction_start_offset,
        )
        assert producer_of(admin, partition).transaction_start_offset == 0
        on_node = admin.describe_producers([partition], node=described.coordinator)
        assert [each.producer_id for each in on_node[partition]] == [described.producer_id]

        listing = TransactionListing(name, described.producer_id, TransactionState.ONGOING)
        assert listing in admin.list_transactions().all()
        assert admin.list_transactions(producer_ids=[described.producer_id]).all() == (listing,)
        assert listing in admin.list_transactions(states=[TransactionState.ONGOING]).all()
        assert listing not in admin.list_transactions(states=[TransactionState.COMPLETE_COMMIT]).all()
        assert listing in admin.list_transactions(minimum_duration_ms=0).all()
        assert listing not in admin.list_transactions(minimum_duration_ms=HOUR_MS).all()
    ended = eventually(
        lambda: admin.describe_transactions([name])[name], lambda found: found.state is TransactionState.COMPLETE_COMMIT
    )
    assert (ended.partitions, producer_of(admin, partition).transaction_start_offset) == (frozenset(), None)


def test_fencing_aborts_the_transaction_and_shuts_the_producer_out(
    admin: BlockingAdminClient, java: JavaAdminClient, partition: TopicPartition
) -> None:
    name, unused = new("fenced"), new("unused")
    with transaction_that_is_taken_away(java, name, partition):
        before = admin.describe_transactions([name])[name]
        fenced = admin.fence_producers([name, unused]).all()
        assert fenced[unused].producer_epoch == 0
        after = admin.describe_transactions([name])[name]
        assert (fenced[name].producer_id, fenced[name].producer_epoch) == (after.producer_id, after.producer_epoch)
        assert (after.producer_id, after.producer_epoch) > (before.producer_id, before.producer_epoch)
        assert after.partitions == frozenset()
        assert producer_of(admin, partition).transaction_start_offset is None
        with pytest.raises(InvalidProducerEpochError):
            admin.abort_transaction(AbortTransactionSpec(partition, before.producer_id, before.producer_epoch))


def test_terminating_by_force_aborts_the_transaction(
    admin: BlockingAdminClient, java: JavaAdminClient, partition: TopicPartition
) -> None:
    name = new("terminated")
    with transaction_that_is_taken_away(java, name, partition):
        admin.force_terminate_transaction(name)
        assert admin.describe_transactions([name])[name].partitions == frozenset()


def test_a_transaction_is_aborted_in_its_partition_without_its_coordinator(
    admin: BlockingAdminClient, java: JavaAdminClient, partition: TopicPartition
) -> None:
    name = new("hanging")
    at = Partition(partition.topic, partition.partition)
    with java.open_transaction(name, at, commit=False):
        producer = producer_of(admin, partition)
        spec = AbortTransactionSpec(partition, producer.producer_id, producer.producer_epoch)
        admin.abort_transaction(spec)
        assert producer_of(admin, partition).transaction_start_offset is None
        assert admin.describe_transactions([name])[name].state is TransactionState.ONGOING


def test_missing_transactions_and_producers(admin: BlockingAdminClient) -> None:
    nowhere = TopicPartition("no-such-topic", 0)
    results = admin.describe_transactions(["no-such-id", ""])
    assert [type(error) for error in results.errors().values()] == [TransactionalIdNotFoundError, InvalidRequestError]
    waited = admin.describe_producers([nowhere], timeout=0.5).errors()[nowhere]
    assert isinstance(waited, OperationTimeoutError)
    assert isinstance(waited.__cause__, UnknownTopicOrPartitionError)
    unknown_state = admin.list_transactions(states=[TransactionState("Napping")]).errors()
    assert [type(error) for error in unknown_state.values()] == [InvalidRequestError]


def test_ids_are_matched_by_brokers_that_can(broker: Broker, admin: BlockingAdminClient) -> None:
    name = new("matched")
    admin.fence_producers([name]).all()
    matching = admin.list_transactions(transactional_id_pattern=f"{name[:-2]}.+")
    if is_at_least(broker.release, "4.1"):
        assert [each.transactional_id for each in matching.all()] == [name]
        broken = admin.list_transactions(transactional_id_pattern="[").errors()
        assert [type(error) for error in broken.values()] == [InvalidRegularExpressionError]
    else:
        assert [type(error) for error in matching.errors().values()] == [UnsupportedVersionError]


def test_users_without_rights_are_refused(secure_kafka_broker: SecureBroker) -> None:
    address = f"{HOST}:{secure_kafka_broker.sasl_plaintext_port}"
    at = TopicPartition("secret", 0)
    with BlockingAdminClient(address, credentials=PlainCredentials(USER, PASSWORDS[USER])) as user:
        fenced = user.fence_producers(["secret"]).errors()
        assert isinstance(fenced["secret"], TransactionalIdAuthorizationFailedError)
        described = user.describe_transactions(["secret"]).errors()
        assert isinstance(described["secret"], TransactionalIdAuthorizationFailedError)
        assert isinstance(user.describe_producers([at]).errors()[at], TopicAuthorizationFailedError)
        with pytest.raises(TopicAuthorizationFailedError):
            user.abort_transaction(AbortTransactionSpec(at, 1, 0))
        assert user.list_transactions().all() == ()
