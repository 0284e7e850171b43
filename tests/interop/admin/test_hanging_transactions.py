"""Hanging transactions at real brokers, as ``kafka-transactions find-hanging`` prints them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import JavaAdminClient
from tests.apache_kafka.java_answers import Partition

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import ProduceRequest, ProduceResponse
from kafkawire.wire.batches.batch import Record
from kafkawire.wire.batches.writer import encode_batch

pytestmark = [pytest.mark.interop, pytest.mark.extended]

TOOL = "TransactionsCommand"
VERIFICATION = "transaction.partition.verification.enable"
PRODUCER_ID = 4_711
HALF_AN_HOUR_MS = 30 * 60 * 1000


@pytest.fixture
def topic(admin: BlockingAdminClient) -> Iterator[str]:
    name = f"hanging-{time.monotonic_ns()}"
    admin.create_topics([NewTopic(name, num_partitions=2)]).all()
    eventually(lambda: admin.describe_topics([name]).errors(), lambda errors: not errors)
    yield name
    admin.delete_topics([name])


@contextmanager
def brokers_that_believe_producers(admin: BlockingAdminClient) -> Iterator[None]:
    """Brokers of 3.6 and later do not let transactions hang: they check with the coordinator first (KIP-890)."""
    every_broker = ConfigResource.broker_default()
    admin.incremental_alter_configs({every_broker: [ConfigChange.set(VERIFICATION, "false")]}).all()
    try:
        yield
    finally:
        admin.incremental_alter_configs({every_broker: [ConfigChange.delete(VERIFICATION)]}).all()


def leave_hanging(admin: BlockingAdminClient, broker: Broker, topic: str) -> int:
    """Begin a transaction in partition 0 without a coordinator; the time of its record."""
    written_ms = int(time.time() * 1000) - HALF_AN_HOUR_MS
    batch = encode_batch(
        [Record(timestamp=written_ms, value=b"hanging")], producer_id=PRODUCER_ID, producer_epoch=1, base_sequence=0,
        transactional=True,
    )  # fmt: skip
    topic_data = ProduceRequest.TopicProduceData(
        name=topic, partition_data=(ProduceRequest.PartitionProduceData(0, batch),)
    )
    request = ProduceRequest(transactional_id="lost", acks=-1, timeout_ms=5000, topic_data=(topic_data,))

    def error_code() -> int:
        with connected_to(broker.host, broker.port) as connection:
            answer = connection.ask(request, 9, ProduceResponse)
        return answer.responses[0].partition_responses[0].error_code

    with brokers_that_believe_producers(admin):
        eventually(error_code, lambda code: code == 0)
    return written_ms


def test_the_transactions_that_the_tool_finds_are_found_and_can_be_aborted(
    broker: Broker, admin: BlockingAdminClient, java: JavaAdminClient, topic: str
) -> None:
    written_ms = leave_hanging(admin, broker, topic)
    at = TopicPartition(topic, 0)
    with java.open_transaction(f"alive-{topic}", Partition(topic, 1)):
        found = admin.find_hanging_transactions([topic], max_transaction_timeout_ms=0).all()
    assert found[TopicPartition(topic, 1)] == ()
    (hanging,) = found[at]
    assert (hanging.partition, hanging.producer_id, hanging.producer_epoch) == (at, PRODUCER_ID, 1)
    assert (hanging.start_offset, hanging.last_timestamp_ms) == (0, written_ms)

    printed = java.run_tool(TOOL, "find-hanging", "--topic", topic)
    (row,) = [line.split() for line in printed.splitlines() if line.startswith(topic)]
    coordinator_epoch = -1 if hanging.coordinator_epoch is None else hanging.coordinator_epoch
    assert row[:7] == [
        topic, "0", str(PRODUCER_ID), "1", str(coordinator_epoch), str(hanging.start_offset), str(written_ms),
    ]  # fmt: skip
    assert admin.find_hanging_transactions([at], max_transaction_timeout_ms=2 * HALF_AN_HOUR_MS).all() == {at: ()}
    everywhere = admin.find_hanging_transactions(node=broker.node_id).values()
    assert everywhere[at] == (hanging,)

    admin.abort_transaction(hanging.abort_spec())
    assert admin.find_hanging_transactions([topic]).all() == {at: (), TopicPartition(topic, 1): ()}
    assert topic not in java.run_tool(TOOL, "find-hanging", "--topic", topic)
