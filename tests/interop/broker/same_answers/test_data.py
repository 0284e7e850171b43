"""Records in and out: Produce, Fetch, ListOffsets, InitProducerId."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_groups import coordinated, topic_of
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed
from tests.interop.broker.same_answers.test_topics import Config, Topic, create, settled

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ProduceRequest,
)
from kafkawire.wire.batches import Header, Record, encode_batch, read_batches, seal
from kafkawire.wire.compression import Codec

pytestmark = pytest.mark.interop

_NOT_YET = 6
_NO_ID = Uuid(bytes(16))
_STRANGE_ID = Uuid(b"nothing has this")
_TIME = time.time_ns() // 1_000_000  # A broker deletes records of long ago half a minute after its start
_RECORDS = (
    Record(timestamp=_TIME, key=b"k", value=b"first"),
    Record(timestamp=_TIME + 20, value=b"second", headers=(Header("h", b"x"),)),
    Record(timestamp=_TIME + 10, key=b"k"),
)
_PRODUCES, _FETCHES, _LISTINGS = range(3, 14), range(4, 19), range(1, 12)


def topic_with_leaders(talk: Talk, name: str) -> tuple[str, Uuid]:
    """Make a topic, and wait until its partitions are led."""
    topic_id = topic_of(talk, name)
    led(talk, name)
    return name, topic_id


def led(talk: Talk, *names: str) -> None:
    for name in names:
        partitions = tuple(map(ListOffsetsRequest.ListOffsetsPartition, (0, 1)))
        request = ListOffsetsRequest(-1, topics=(ListOffsetsRequest.ListOffsetsTopic(name, partitions),))
        talk.ask_until(request, 9, ListOffsetsResponse, _are_led)


def _are_led(answer: ListOffsetsResponse) -> bool:
    return all(partition.error_code != _NOT_YET for topic in answer.topics for partition in topic.partitions)


def batch(*records: Record, codec: Codec = Codec.NONE, producer_id: int = -1, sequence: int = -1) -> bytes:
    epoch = 0 if producer_id >= 0 else -1
    return encode_batch(
        records or _RECORDS, codec=codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
    )


def produce(
    talk: Talk,
    topic: tuple[str, Uuid],
    records: bytes | None,
    *,
    partitions: tuple[int, ...] = (0,),
    version: int = 12,
    acks: int = -1,
) -> None:
    """Produce to partitions of a topic."""
    name, topic_id = topic
    asked = ProduceRequest.TopicProduceData(
        name if version < 13 else "",
        topic_id if version >= 13 else _NO_ID,
        tuple(ProduceRequest.PartitionProduceData(partition, records) for partition in partitions),
    )
    request = ProduceRequest(acks=acks, timeout_ms=20_000, topic_data=(asked,))
    talk.ask_for_codes(request, version)


def fetch(
    talk: Talk,
    topic: tuple[str, Uuid],
    offset: int = 0,
    *,
    partitions: tuple[int, ...] = (0,),
    version: int = 12,
    most: int = 1 << 20,
    most_of_all: int = 1 << 20,
    epoch: int = -1,
    isolation: int = 0,
    session: tuple[int, int] = (0, -1),
) -> None:
    """Fetch from partitions of a topic without waiting."""
    name, topic_id = topic
    current = epoch if version >= 9 else -1
    asked = FetchRequest.FetchTopic(
        name if version < 13 else "",
        topic_id if version >= 13 else _NO_ID,
        tuple(FetchRequest.FetchPartition(each, current, offset, partition_max_bytes=most) for each in partitions),
    )
    session_id, session_epoch = session if version >= 7 else (0, -1)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=most_of_all,
        isolation_level=isolation,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=(asked,),
    )
    talk.ask(request, version, FetchResponse)


def list_offsets(talk: Talk, name: str, *timestamps: int, version: int = 11, epoch: int = -1) -> None:
    """List offsets of partition 0, one request for each time."""
    for timestamp in timestamps:
        current = epoch if version >= 4 else -1
        partition = ListOffsetsRequest.ListOffsetsPartition(0, current, timestamp)
        topics = (ListOffsetsRequest.ListOffsetsTopic(name, (partition,)),)
        request = ListOffsetsRequest(-1, topics=topics, timeout_ms=1000 if version >= 10 else 0)
        talk.ask(request, version, ListOffsetsResponse)


@same_answers_from_plain_brokers
def test_internal_topics_accept_no_records(talk: Talk) -> None:
    coordinated(talk, "da-internal")
    settled(talk, "__consumer_offsets")
    for version in (3, 7, 8, 12):
        produce(talk, ("__consumer_offsets", _NO_ID), batch(), version=version)
        produce(talk, ("__consumer_offsets", _NO_ID), batch(), partitions=(0, 7), version=version)


@same_answers_from_plain_brokers
def test_records_of_every_version(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-versions")
    for version in _PRODUCES:
        for acks in (-1, 1):
            produce(talk, topic, batch(), version=version, acks=acks, partitions=(0, 1))
    for version in _FETCHES:
        for offset in (0, 4, 66):
            fetch(talk, topic, offset, version=version, partitions=(0, 1))


@same_answers_from_plain_brokers
def test_records_of_every_codec(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-codecs")
    for codec in Codec:
        produce(talk, topic, batch(codec=codec))
        list_offsets(talk, "da-codecs", _TIME + 5, -3)


@same_answers_from_plain_brokers
def test_records_that_are_refused(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-refused")
    good = batch()
    (read,) = read_batches(good)
    for version in (3, 7, 8, 12, 13):
        produce(talk, topic, good, version=version, partitions=(0, 9))
        produce(talk, ("da-nothing", _STRANGE_ID), good, version=version)
        for records in (
            b"",
            good + good,
            good[:-1],
            good[:40],
            good[:-1] + b"x",
            seal(replace(read, attributes=0b10_0000)).to_bytes(),
            seal(replace(read, records_count=2)).to_bytes(),
            seal(replace(read, last_offset_delta=7)).to_bytes(),
            seal(replace(read, payload=read.payload[:-1])).to_bytes(),
        ):
            produce(talk, topic, records, version=version)
        produce(talk, topic, good, version=version, acks=2)
        produce(talk, topic, batch(Record(timestamp=_TIME, value=bytes(2_000_000))), version=version)
    fetch(talk, topic)


@same_answers_from_plain_brokers
def test_topics_with_demands(talk: Talk) -> None:
    demands = {
        "da-small": Config("max.message.bytes", "100"),
        "da-keyed": Config("cleanup.policy", "compact"),
        "da-two": Config("min.insync.replicas", "2"),
    }
    created = create(talk, *(Topic(name, 1, 1, (), (config,)) for name, config in demands.items()))
    settled(talk, *demands)
    led(talk, *demands)
    for answered in created.topics:
        topic = (answered.name, answered.topic_id)
        for acks in (1, -1):
            produce(talk, topic, batch(), acks=acks)
            produce(talk, topic, batch(), acks=acks, version=7)
            produce(talk, topic, batch(Record(timestamp=_TIME, key=b"k", value=b"v")), acks=acks)


@same_answers_from_plain_brokers
def test_idempotent_producers(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-once")
    records = tuple(replace(record, key=b"k") for record in _RECORDS)
    for sequence in (0, 0, 3, 9, 6, 3, 0, 9, 12, 15, 3):
        produce(talk, topic, batch(*records, producer_id=7000, sequence=sequence))
    for sequence in (5, 8, 0):
        produce(talk, topic, batch(*records, producer_id=7001, sequence=sequence))
    fetch(talk, topic)


@same_answers_from_plain_brokers
def test_fetches_of_missing_topics_and_partitions(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-fetch")
    produce(talk, topic, batch())
    for version in _FETCHES:
        fetch(talk, topic, 99, version=version, partitions=(0, 1, 9))
        fetch(talk, topic, -1, version=version)
        fetch(talk, ("da-nothing", _STRANGE_ID), version=version)
        fetch(talk, topic, 0, version=version, isolation=1)
        fetch(talk, topic, 0, version=version, epoch=0)
        fetch(talk, topic, 0, version=version, epoch=5)
        fetch(talk, topic, 3, version=version)
        fetch(talk, topic, 0, version=version, session=(77, 3))
        fetch(talk, topic, 0, version=version, session=(0, 3))


@same_answers_from_plain_brokers
def test_fetches_have_room_for_so_much(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-room")
    for partition in (0, 1):
        for _ in range(3):
            produce(talk, topic, batch(), partitions=(partition,))
    size = len(batch())
    for most in (0, 1, size, size + 1, 2 * size, 3 * size):
        for most_of_all in (0, 1, size, 2 * size, 3 * size, 4 * size, 9 * size):
            fetch(talk, topic, partitions=(0, 1), most=most, most_of_all=most_of_all)
    for offset in range(10):
        fetch(talk, topic, offset, most=size)


@same_answers_from_plain_brokers
def test_offsets_of_partitions(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-list")
    topic_with_leaders(talk, "da-empty")
    produce(talk, topic, batch())
    produce(talk, topic, batch(Record(timestamp=_TIME + 5, key=b"k"), Record(timestamp=_TIME + 20)))
    times = (-2, -1, 0, _TIME, _TIME + 1, _TIME + 11, _TIME + 20, _TIME + 21)
    for version in _LISTINGS:
        special = ((-3,) if version >= 7 else ()) + ((-4,) if version >= 8 else ()) + ((-5,) if version >= 9 else ())
        special += (-6,) if version >= 11 else ()
        for name in ("da-list", "da-empty", "da-nothing"):
            list_offsets(talk, name, *times, *special, version=version)
        list_offsets(talk, "da-list", -1, -2, version=version, epoch=0)
        list_offsets(talk, "da-list", -1, version=version, epoch=4)


@same_answers_from_plain_brokers
def test_a_partition_twice(talk: Talk) -> None:
    topic_with_leaders(talk, "da-twice")
    partition = ListOffsetsRequest.ListOffsetsPartition
    topics = (ListOffsetsRequest.ListOffsetsTopic("da-twice", (partition(0), partition(0), partition(1))),)
    talk.ask(ListOffsetsRequest(-1, topics=topics), 9, ListOffsetsResponse)


@same_answers_from_secure_brokers
def test_rights_to_produce_and_fetch(talk: Talk) -> None:
    topics = {name: topic_with_leaders(talk, name)[1] for name in ("ds-write", "ds-read", "ds-see", "ds-none")}
    allow(
        talk,
        (prefixed("ds-write"), AclOperation.WRITE),
        (prefixed("ds-read"), AclOperation.READ),
        (prefixed("ds-see"), AclOperation.DESCRIBE),
    )
    strangers = {"ds-nothing": _STRANGE_ID, "ds-write-nothing": _STRANGE_ID}
    with talk.logged_in(USER, PASSWORDS[USER]):
        for topic in (*topics.items(), *strangers.items()):
            for version in (3, 12, 13):
                produce(talk, topic, batch(), version=version)
            for version in (4, 12, 13, 18):
                fetch(talk, topic, version=version)
            list_offsets(talk, topic[0], -1)
        for version in range(6):
            refused = InitProducerIdRequest(transactional_id="ds-none", transaction_timeout_ms=1000)
            talk.ask_for_codes(refused, version)


def delete_records(talk: Talk, *topics: tuple[str, dict[int, int]], version: int = 2) -> None:
    """Delete the records of partitions below offsets."""
    asked = tuple(
        DeleteRecordsRequest.DeleteRecordsTopic(
            name, tuple(DeleteRecordsRequest.DeleteRecordsPartition(*each) for each in offsets.items())
        )
        for name, offsets in topics
    )
    talk.ask(DeleteRecordsRequest(asked, 20_000), version, DeleteRecordsResponse)


@same_answers_from_plain_brokers
def test_records_are_deleted_below_an_offset(talk: Talk) -> None:
    topic = topic_with_leaders(talk, "da-deleted")
    for _ in range(3):
        produce(talk, topic, batch(), partitions=(0, 1))
    for version in (0, 1, 2):
        for offset in (version + 2, 1, 10, -2):
            delete_records(talk, ("da-deleted", {0: offset, 1: 0, 7: 1}), ("da-none", {0: 1}), version=version)
        list_offsets(talk, "da-deleted", _TIME, _TIME + 15, -1, -2, -3, -4)
        for at in (0, 3, 4, 5, 9, 10):
            fetch(talk, topic, at)
    produce(talk, topic, batch())
    delete_records(talk, ("da-deleted", {0: -1}))
    list_offsets(talk, "da-deleted", _TIME, _TIME + 15, -1, -2, -3, -4)
    produce(talk, topic, batch())
    produce(talk, topic, batch(producer_id=1 << 40, sequence=3))
    produce(talk, topic, batch(producer_id=1 << 40, sequence=9))
    fetch(talk, topic, 12)
    delete_records(talk, ("da-deleted", {}))


@same_answers_from_plain_brokers
def test_records_that_cannot_be_deleted(talk: Talk) -> None:
    coordinated(talk, "da-undeletable")
    settled(talk, "__consumer_offsets")
    delete_records(talk, ("__consumer_offsets", {0: 0, 7: 0, 99: 0}))
    for name, policy in (("da-compact", "compact"), ("da-both", "compact,delete"), ("da-neither", "")):
        create(talk, Topic(name, 2, 1, (), (Config("cleanup.policy", policy),)))
        settled(talk, name)
        led(talk, name)
        produce(talk, (name, _NO_ID), batch(_RECORDS[0]))
        delete_records(talk, (name, {0: 1}))
        list_offsets(talk, name, -2)


@same_answers_from_secure_brokers
def test_rights_to_delete_records(talk: Talk) -> None:
    topic_with_leaders(talk, "da-delete-rights")
    for operation in (AclOperation.DESCRIBE, AclOperation.DELETE):
        with talk.logged_in(USER, PASSWORDS[USER]):
            delete_records(talk, ("da-delete-rights", {0: 0, 7: 0}), ("da-missing", {0: 0}))
        allow(talk, (prefixed("da-delete-rights"), operation))
    with talk.logged_in(USER, PASSWORDS[USER]):
        delete_records(talk, ("da-delete-rights", {0: 0, 7: 0}), ("da-missing", {0: 0}))
