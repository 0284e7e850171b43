"""Producers of partitions, and what partitions refuse of transactions without a coordinator."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_config_alterations import DELETE, SET, Change, Changed, change
from tests.interop.broker.same_answers.test_data import batch, fetch, list_offsets, produce, topic_with_leaders
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed
from tests.interop.broker.same_answers.test_transactions import find_coordinator

from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProduceRequest,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafkawire.wire.batches import Record, encode_batch, read_batches, seal

pytestmark = pytest.mark.interop

_BROKER = 4
_CONTROL = 0b10_0000
_PRODUCES, _FETCHES, _LISTINGS = range(3, 14), range(4, 19), range(2, 12)
_RECORD = Record(timestamp=1_700_000_000_000, key=b"k", value=b"v")


def describe_producers(talk: Talk, *topics: tuple[str, tuple[int, ...]]) -> None:
    asked = tuple(DescribeProducersRequest.TopicRequest(name, partitions) for name, partitions in topics)
    talk.ask(DescribeProducersRequest(asked), 0, DescribeProducersResponse)


@same_answers_from_plain_brokers
def test_producers_are_described(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "pp-described")
    describe_producers(talk, ("pp-described", (0, 1)))
    for producer_id, sequence in ((1 << 41, 0), ((1 << 41) + 1, 7), (1 << 41, 3)):
        produce(talk, topic, batch(producer_id=producer_id, sequence=sequence), partitions=(0, 1))
    produce(talk, topic, batch())
    describe_producers(talk, ("pp-described", (0, 1, 2, -1, 0)), ("pp-none", (0, 1)), ("a b", (0,)), ("", (0,)))
    describe_producers(talk)
    describe_producers(talk, ("pp-described", ()))


@same_answers_from_secure_brokers
def test_rights_to_describe_producers(talk: Talk) -> None:
    topic_with_leaders(talk, "ps-producers")
    for operation in (AclOperation.DESCRIBE, AclOperation.READ):
        with talk.logged_in(USER, PASSWORDS[USER]):
            describe_producers(talk, ("ps-producers", (0, 7)), ("ps-none", (0,)), ("a b", (0,)))
        allow(talk, (prefixed("ps-producers"), operation))
    with talk.logged_in(USER, PASSWORDS[USER]):
        describe_producers(talk, ("ps-producers", (0, 7)), ("ps-none", (0,)), ("a b", (0,)))


def transactional(producer_id: int = 1 << 42) -> bytes:
    return encode_batch([_RECORD], producer_id=producer_id, producer_epoch=0, base_sequence=0, transactional=True)


@same_answers_from_plain_brokers
def test_transactional_records_need_a_transactional_id(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "pp-without-id")
    for version in _PRODUCES:
        produce(talk, topic, transactional(), partitions=(0, 1), version=version)
        produce(talk, topic, transactional(), partitions=(0, 7), version=version)
    for partitions in ((transactional(), batch()), (batch(), transactional())):
        data = tuple(ProduceRequest.PartitionProduceData(*each) for each in enumerate(partitions))
        asked = ProduceRequest(
            None, acks=-1, topic_data=(ProduceRequest.TopicProduceData("pp-without-id", partition_data=data),)
        )
        talk.ask_for_codes(asked, 9)
    fetch(talk, topic, isolation=1)


@same_answers_from_plain_brokers
def test_hanging_transactions_where_producers_are_not_verified(talk: Talk) -> None:
    """As brokers before KIP-890 had them; clients of version 12 and later are verified all the same."""
    topic = topic_with_leaders(talk, "pp-hanging")
    data = (ProduceRequest.PartitionProduceData(0, transactional()),)
    topics = (ProduceRequest.TopicProduceData("pp-hanging", partition_data=data),)
    find_coordinator(talk, "pp-hanging-id")
    verify(talk, "false")
    for version in (12, 11, 12, 9, 3):
        talk.ask_for_codes(ProduceRequest("pp-hanging-id", acks=-1, topic_data=topics), version)
    fetch(talk, topic, isolation=1)
    verify(talk, None)
    marker = WriteTxnMarkersRequest.WritableTxnMarkerTopic("pp-hanging", (0,))
    aborted = WriteTxnMarkersRequest.WritableTxnMarker(1 << 42, 0, False, (marker,), 0)
    talk.ask(WriteTxnMarkersRequest((aborted,)), 1, WriteTxnMarkersResponse)
    fetch(talk, topic, isolation=1)
    talk.ask_for_codes(ProduceRequest("pp-hanging-id", acks=-1, topic_data=topics), 11)


def verify(talk: Talk, value: str | None) -> None:
    """Set whether brokers verify producers of older versions, None for the default, and wait until it has an effect."""
    name = "transaction.partition.verification.enable"
    change(talk, Changed(_BROKER, "", (Change(name, DELETE if value is None else SET, value),)))
    request = DescribeConfigsRequest((DescribeConfigsRequest.DescribeConfigsResource(_BROKER, "1", (name,)),))
    talk.ask_until(
        request, 4, DescribeConfigsResponse, lambda found: found.results[0].configs[0].value == (value or "true")
    )


@same_answers_from_plain_brokers
def test_a_request_has_the_transaction_of_one_producer(talk: Talk) -> None:
    topic_with_leaders(talk, "pp-two-producers")
    data = tuple(ProduceRequest.PartitionProduceData(index, transactional(index + 5)) for index in (0, 1))
    topics = (ProduceRequest.TopicProduceData("pp-two-producers", partition_data=data),)
    for version in (3, 9, 12):
        talk.ask_for_codes(ProduceRequest("pp-id", acks=-1, topic_data=topics), version)


@same_answers_from_plain_brokers
def test_clients_write_no_control_records(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "pp-control")
    for records in (batch(), batch(producer_id=1 << 43, sequence=0)):
        plain = next(read_batches(records))
        produce(talk, topic, seal(replace(plain, attributes=plain.attributes | _CONTROL)).to_bytes())
    list_offsets(talk, "pp-control", -1)


@same_answers_from_secure_brokers
def test_rights_to_write_in_transactions(talk: Talk) -> None:
    topic_with_leaders(talk, "ps-transactional")
    allow(talk, (prefixed("ps-transactional"), AclOperation.WRITE))
    data = (ProduceRequest.PartitionProduceData(0, transactional()),)
    topics = (ProduceRequest.TopicProduceData("ps-transactional", partition_data=data),)
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in (3, 9, 12):
            talk.ask_for_codes(ProduceRequest("ps-id", acks=-1, topic_data=topics), version)


@same_answers_from_plain_brokers
def test_committed_reads_without_transactions(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "pp-committed")
    for _ in range(2):
        produce(talk, topic, batch(), partitions=(0, 1))
    for version in _FETCHES:
        for offset in (0, 4, 6, 7):
            fetch(talk, topic, offset, version=version, isolation=1, partitions=(0, 1))
