"""The records of internal topics that clients read: those of Apache Kafka, in their order."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec.structs import fields, replace
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.share_members import ACCEPT, REJECT, RELEASE, Member as Sharer, produce, shared
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_groups import commit, coordinated, delete_offsets, topic_of
from tests.interop.broker.same_answers.test_transactions import begin, commit_offsets, end, find_coordinator

from kafkawire.broker.internal_topics.topic import partition_of
from kafkawire.protocol import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafkawire.records.control_records import ControlRecord, decode_control_record
from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import RecordBatch, decode_records, read_batches

pytestmark = pytest.mark.interop

OFFSETS, TRANSACTIONS, SHARES = "__consumer_offsets", "__transaction_state", "__share_group_state"
_LATEST = -1
_VERSION = 12


@dataclass(slots=True)
class Reader:
    """Reads what an owner's partition of an internal topic gets from now on: other scenarios have written to it.

    Attributes:
        talk: sends its requests.
        topic: the internal topic.
        owner: the group, transactional id or share partition.
        partition: of the owner.
        offset: at which it begins.
    """

    talk: Talk
    topic: str
    owner: str
    partition: int = -1
    offset: int = -1

    def __post_init__(self) -> None:
        request = MetadataRequest((MetadataRequest.MetadataRequestTopic(name=self.topic),))
        topic = self.talk.learn(request, _VERSION, MetadataResponse).topics[0]
        self.partition = partition_of(self.owner, len(topic.partitions))
        asked = ListOffsetsRequest.ListOffsetsPartition(self.partition, timestamp=_LATEST)
        latest = ListOffsetsRequest(-1, topics=(ListOffsetsRequest.ListOffsetsTopic(self.topic, (asked,)),))
        self.offset = self.talk.learn(latest, 7, ListOffsetsResponse).topics[0].partitions[0].offset

    def keep(self, isolation_level: int = 0) -> None:
        """Keep what is there, without the times and the offset at which it begins."""
        asked = FetchRequest.FetchPartition(self.partition, fetch_offset=self.offset, partition_max_bytes=1 << 20)
        topics = (FetchRequest.FetchTopic(self.topic, partitions=(asked,)),)
        request = FetchRequest(max_wait_ms=0, min_bytes=1, isolation_level=isolation_level, topics=topics)
        answer = self.talk.learn(request, _VERSION, FetchResponse)
        (found,) = answer.responses[0].partitions
        aborted = found.aborted_transactions
        kept = replace(
            found,
            partition_index=0,
            high_watermark=found.high_watermark - self.offset,
            last_stable_offset=found.last_stable_offset - self.offset,
            aborted_transactions=aborted
            and tuple(replace(each, first_offset=each.first_offset - self.offset) for each in aborted),
            records=b"",
        )
        topic = FetchResponse.FetchableTopicResponse(partitions=(kept,))
        self.talk.keep(request, _VERSION, FetchResponse(responses=(topic,)))
        for batch in read_batches(found.records or b""):
            for message in self._messages(batch):
                self.talk.keep(request, _VERSION, message)

    def _messages(self, batch: RecordBatch) -> list[Message]:
        found: list[Message] = []
        for record in decode_records(batch):
            if batch.is_control:
                marker = decode_control_record(record.key, record.value)
                assert isinstance(marker, ControlRecord)
                assert marker.message is not None
                found += [marker.message]
                continue
            one = decode_coordinator_record(self.topic, record.key, record.value)
            assert isinstance(one, CoordinatorRecord)
            found += [one.key] if one.value is None else [one.key, _without_times(one.value)]
        return found


def keep_producer(talk: Talk, producer_id: int, partition: int) -> None:
    """Keep what a partition of commits has of a producer."""
    request = DescribeProducersRequest((DescribeProducersRequest.TopicRequest(OFFSETS, (partition,)),))
    answer = talk.learn(request, 0, DescribeProducersResponse)
    (found,) = answer.topics[0].partitions
    own = [replace(each, last_timestamp=0) for each in found.active_producers if each.producer_id == producer_id]
    described = replace(found, partition_index=0, active_producers=tuple(own))
    topic = DescribeProducersResponse.TopicResponse(OFFSETS, (described,))
    talk.keep(request, 0, DescribeProducersResponse(topics=(topic,)))


def _without_times(value: Message) -> Message:
    times = [field.name for field in fields(value) if "timestamp" in field.name and getattr(value, field.name) > 0]
    return replace(value, **dict.fromkeys(times, 0))


@same_answers_from_plain_brokers
def test_commits_and_their_deletion(talk: Talk) -> None:
    topic_of(talk, "ir-topic")
    coordinated(talk, "ir-commits")
    reader = Reader(talk, OFFSETS, "ir-commits")
    commit(talk, "ir-commits", ("ir-topic", 0, 5), ("ir-topic", 1, 7), metadata="said")
    commit(talk, "ir-commits", ("ir-topic", 0, 6), version=10, topic_ids={})
    commit(talk, "ir-commits", ("ir-topic", 0, 6))
    delete_offsets(talk, "ir-commits", {"ir-topic": (1,)})
    reader.keep()
    talk.ask(DeleteGroupsRequest(("ir-commits",)), 2, DeleteGroupsResponse)
    reader.keep()


@same_answers_from_plain_brokers
def test_offsets_of_transactions(talk: Talk) -> None:
    topic_of(talk, "ir-topic")
    coordinated(talk, "ir-transactions")
    find_coordinator(talk, "ir-id")
    reader, states = Reader(talk, OFFSETS, "ir-transactions"), Reader(talk, TRANSACTIONS, "ir-id")
    producer = begin(talk, "ir-id")
    for committed in (True, False):
        commit_offsets(talk, "ir-id", producer, "ir-transactions", ("ir-topic", 0, 5), ("ir-topic", 1, 7))
        commit_offsets(talk, "ir-id", producer, "ir-transactions", ("ir-topic", 0, 6))
        for isolation_level in (0, 1):
            reader.keep(isolation_level)
        producer = end(talk, "ir-id", producer, committed=committed, version=5)
        for isolation_level in (0, 1):
            reader.keep(isolation_level)
    states.keep()
    keep_producer(talk, producer[0], reader.partition)


@same_answers_from_plain_brokers
def test_states_of_share_partitions(talk: Talk) -> None:
    topic_id = shared(talk, "ir-shared")
    reader = Reader(talk, SHARES, f"ir-shared:{topic_id}:0")
    produce(talk, "ir-shared", 4)
    member = Sharer(talk, "ir-shared", topic_id)
    member.fetch()
    member.acknowledge((0, 3, [ACCEPT, RELEASE, REJECT, RELEASE]))
    member.look()
    member.acknowledge((1, 1, [ACCEPT]))
    reader.keep()
    member.leave()
