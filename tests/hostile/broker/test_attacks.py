"""One client cannot hurt the others: no one waits for long, and no request takes much memory."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TypeVar

import pytest
from tests.hostile.broker.attacked import AttackedBroker, Harm, Sender, attacked_broker, receive

from kafkawire.broker.request_work import MAXIMUM_ELEMENTS
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    ApiVersionsRequest,
    CreateAclsRequest,
    CreateAclsResponse,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteAclsRequest,
    DeleteTopicsRequest,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeTopicPartitionsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
    ProduceResponse,
    message_class,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import api_of, decode_response, encode_request
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch
from kafkawire.wire.compression import Codec
from kafkawire.wire.varint import write_uvarint

R = TypeVar("R", bound=Message)

SUMMED = 8_000_000
"""Anyone may have to wait as long as the processor takes to add these numbers, whatever others send.

That is 0.1 seconds on a machine that adds 80 million in a second; on a slower one the same code takes longer.
"""

MOST_MEGABYTES = 200

MANY = MAXIMUM_ELEMENTS - 10
"""The highest number of items that is accepted."""

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
SASL = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="a secret";'
    ),
}
NUMBERS = [str(number) for number in range(MANY)]


@pytest.fixture(scope="module")
def broker() -> Iterator[AttackedBroker]:
    with attacked_broker(PROPERTIES) as broker:
        (created,) = ask(broker, CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("t", 2, 1),)), 7,
                         CreateTopicsResponse).topics  # fmt: skip
        assert not created.error_code
        yield broker


def ask(broker: AttackedBroker, request: Message, version: int, response: type[R]) -> R:
    with broker.connect() as connection:
        connection.sendall(frame(request, version))
        return decode_response(receive(connection), response, version)[1]


def frame(request: Message, version: int) -> bytes:
    return encode_request(request, version, correlation_id=1, client_id="attacker")


def frame_of(key: int, version: int, *body: bytes) -> bytes:
    """A frame that need not be a request; the header is that of flexible versions."""
    content = struct.pack(">hhih", key, version, 1, -1) + bytes(1) + b"".join(body)
    return struct.pack(">i", len(content)) + content


def is_harmless(harm: Harm) -> bool:
    return harm.slice < longest_slice() and harm.megabytes < MOST_MEGABYTES


@cache
def longest_slice() -> float:
    """Seconds of the processor; the best of five, since others use its caches too."""
    return min(map(seconds_to_add, [SUMMED] * 5))


def seconds_to_add(count: int) -> float:
    begun = time.thread_time()
    sum(range(count))
    return time.thread_time() - begun


@pytest.mark.parametrize("count", [20_000_000, 10_000_000, 1_000_000])
def test_millions_of_empty_names(broker: AttackedBroker, count: int) -> None:
    """A byte each, that would become an answer of hundreds of bytes each."""
    names = write_uvarint(count + 1) + b"\1" * count
    requests = (
        frame_of(DescribeGroupsRequest.API_KEY or 0, 5, names, bytes(2)),
        frame_of(MetadataRequest.API_KEY or 0, 9, write_uvarint(count // 2 + 1), b"\1\0" * (count // 2), bytes(4)),
    )
    sender = Sender(requests)
    harm = broker.harm_of(sender)
    assert sender.answered == 0
    assert is_harmless(harm), harm


def test_counts_that_lie(broker: AttackedBroker) -> None:
    """Many more elements are announced than there are, at the top and deep in a request."""
    many = write_uvarint(2**31 - 1)
    lies = [
        frame_of(DescribeGroupsRequest.API_KEY or 0, 5, many, b"\1" * 1_000_000),
        frame_of(OffsetFetchRequest.API_KEY or 0, 8, b"\2\2g\2\2t", many, bytes(1_000_000)),
        frame_of(ApiVersionsRequest.API_KEY or 0, 3, b"\2a\2b", many, bytes(1_000_000)),
        frame_of(ProduceRequest.API_KEY or 0, 9, bytes(7), many, bytes(1_000_000)),
    ]
    sender = Sender(tuple(lies))
    harm = broker.harm_of(sender)
    assert sender.answered == 0
    assert is_harmless(harm), harm


_Quota, _Entity = AlterClientQuotasRequest.EntryData, AlterClientQuotasRequest.EntityData
_NO_RATE = AlterClientQuotasRequest.OpData("producer_byte_rate", 0.0, remove=True)
_Commit = OffsetCommitRequest.OffsetCommitRequestPartition

LARGE: dict[str, tuple[Message, int]] = {
    "groups": (DescribeGroupsRequest(("",) * MANY), 6),
    "coordinators": (FindCoordinatorRequest(coordinator_keys=tuple(NUMBERS)), 4),
    "topics": (MetadataRequest(tuple(MetadataRequest.MetadataRequestTopic(name=name) for name in NUMBERS), False), 9),
    "topics that cannot be made": (
        MetadataRequest(tuple(MetadataRequest.MetadataRequestTopic(name=f"a b {name}") for name in NUMBERS), True), 9
    ),
    "pages of topics": (
        DescribeTopicPartitionsRequest(tuple(map(DescribeTopicPartitionsRequest.TopicRequest, NUMBERS))), 0
    ),
    "creations that are only validated": (
        CreateTopicsRequest(tuple(CreateTopicsRequest.CreatableTopic(name, 0, 1) for name in NUMBERS), 9999, True), 7
    ),
    "deletions": (
        DeleteTopicsRequest(tuple(DeleteTopicsRequest.DeleteTopicState(name) for name in NUMBERS), (), 9999), 6
    ),
    "partitions": (
        CreatePartitionsRequest(
            tuple(CreatePartitionsRequest.CreatePartitionsTopic(name, 3) for name in NUMBERS), 9999
        ), 3
    ),
    "configurations": (
        DescribeConfigsRequest(tuple(DescribeConfigsRequest.DescribeConfigsResource(2, name) for name in NUMBERS)), 4
    ),
    "configurations of the broker": (
        DescribeConfigsRequest((DescribeConfigsRequest.DescribeConfigsResource(4, "1"),) * 200), 4
    ),
    "changes of configurations": (
        IncrementalAlterConfigsRequest(
            tuple(IncrementalAlterConfigsRequest.AlterConfigsResource(2, name) for name in NUMBERS[: MANY // 2])
        ), 1
    ),
    "alterations of quotas": (
        AlterClientQuotasRequest(
            tuple(
                _Quota((_Entity("user", f"user {name}"), _Entity("client-id", f"client {name}")), (_NO_RATE,))
                for name in NUMBERS[: MANY // 4]
            )
        ), 1
    ),
    "users": (
        AlterUserScramCredentialsRequest(
            tuple(AlterUserScramCredentialsRequest.ScramCredentialDeletion(name, 1) for name in NUMBERS)
        ), 0
    ),
    "filters of ACLs": (
        DeleteAclsRequest(
            tuple(DeleteAclsRequest.DeleteAclsFilter(2, name, 3, "User:a", "*", 3, 3) for name in NUMBERS)
        ), 3
    ),
    "partitions with commits": (
        OffsetCommitRequest("g", topics=(
            OffsetCommitRequest.OffsetCommitRequestTopic("x", partitions=tuple(_Commit(n, 1) for n in range(MANY))),
        )), 9
    ),
    "groups with commits": (
        OffsetFetchRequest(groups=tuple(OffsetFetchRequest.OffsetFetchRequestGroup(name) for name in NUMBERS)), 9
    ),
    "offsets": (
        ListOffsetsRequest(-1, topics=(
            ListOffsetsRequest.ListOffsetsTopic(
                "x", tuple(ListOffsetsRequest.ListOffsetsPartition(n, -1, -1) for n in range(MANY))
            ),
        )), 9
    ),
    "partitions to fetch from": (
        FetchRequest(max_wait_ms=0, topics=(
            FetchRequest.FetchTopic("x", partitions=tuple(FetchRequest.FetchPartition(n) for n in range(MANY))),
        )), 12
    ),
    "partitions to write to": (
        ProduceRequest(acks=1, topic_data=(
            ProduceRequest.TopicProduceData(
                "x", partition_data=tuple(ProduceRequest.PartitionProduceData(n, b"") for n in range(MANY))
            ),
        )), 9
    ),
}  # fmt: skip


@pytest.mark.extended
@pytest.mark.parametrize("request_", LARGE)
def test_as_many_items_as_may_be(broker: AttackedBroker, request_: str) -> None:
    """They are answered, and others have their turn meanwhile."""
    sender = Sender((frame(*LARGE[request_]),))
    harm = broker.harm_of(sender)
    assert sender.answered == 1
    assert is_harmless(harm), harm


@pytest.mark.extended
def test_large_requests_of_many_clients_do_not_add_up(broker: AttackedBroker) -> None:
    groups = frame(*LARGE["groups"])
    senders = [Sender((groups,)) for _ in range(10)]
    harm = broker.harm_of(*senders)
    assert [sender.answered for sender in senders] == [1] * 10
    assert harm.megabytes < MOST_MEGABYTES, harm


def test_requests_that_come_together_take_turns_with_those_of_others(broker: AttackedBroker) -> None:
    described = frame(DescribeConfigsRequest((DescribeConfigsRequest.DescribeConfigsResource(4, "1"),)), 4)

    def pipelined(broker: AttackedBroker) -> None:
        with broker.connect() as connection:
            connection.sendall(described * 100)
            for _ in range(100):
                assert receive(connection)

    assert is_harmless(harm := broker.harm_of(pipelined)), harm


def test_large_requests_that_do_not_come_fill_no_memory_and_keep_no_one_out(broker: AttackedBroker) -> None:
    """Twenty announce 60 MB each and send half of it; a large request of another is answered all the same."""
    begun = [broker.connect() for _ in range(20)]
    half = struct.pack(">ihhih", 60_000_000, ProduceRequest.API_KEY or 0, 9, 1, -1) + bytes(30_000_000)

    def announce(connection: socket.socket) -> None:
        with suppress(OSError):  # what is not read cannot be sent
            connection.settimeout(2)
            connection.sendall(half)

    good = Sender((produced([bomb(Codec.NONE, 1_000_000, 1)]),))
    harm = broker.harm_of(*(lambda _, one=one: announce(one) for one in begun))
    harm_of_good = broker.harm_of(good)
    for connection in begun:
        connection.close()
    assert good.answered == 1
    assert is_harmless(harm), harm
    assert is_harmless(harm_of_good), harm_of_good


def produced(records: Sequence[bytes]) -> bytes:
    """A request with a batch for each; what are no records may be beside them."""
    partitions = tuple(ProduceRequest.PartitionProduceData(0, each) for each in records)
    topics = (ProduceRequest.TopicProduceData("t", partition_data=partitions),)
    return frame(ProduceRequest(acks=1, timeout_ms=1000, topic_data=topics), 9)


def bomb(codec: Codec, size: int, count: int) -> bytes:
    """A batch that is small until it is decompressed: some bytes that are no records, and a count that lies."""
    return encode_batch([Record(timestamp=1, value=bytes(size))] * count, codec=codec)


@pytest.mark.parametrize("codec", [Codec.ZSTD, Codec.GZIP])
def test_bombs_in_a_row(broker: AttackedBroker, codec: Codec) -> None:
    """Of 60 MB each, in requests of their own and together in one."""
    small = bomb(codec, 60_000_000, 1)
    assert len(small) < 500_000
    sender = Sender((*(produced([small]) for _ in range(3)), produced([small] * 3)))
    harm = broker.harm_of(sender)
    assert sender.answered == 4
    assert is_harmless(harm), harm


def test_bounded_batches_have_no_millions_of_empty_records(broker: AttackedBroker) -> None:
    many = bomb(Codec.ZSTD, 0, 1_000_000)
    with broker.connect() as connection:
        harm = broker.harm_of(lambda _: connection.sendall(produced([many])))
        answer = decode_response(receive(connection), ProduceResponse, 9)[1]
    (result,) = answer.responses[0].partition_responses
    assert result.error_code == ErrorCode.INVALID_RECORD
    assert is_harmless(harm), harm


def test_bounded_logins_are_hung_up_on() -> None:
    """ApiVersions may be repeated a few times, is small, and a login takes no other large request either."""
    strange = ApiVersionsRequest("-", "1")
    tags = b"".join(write_uvarint(tag) + b"\0" for tag in range(100_000))
    with attacked_broker(SASL) as broker:
        large = frame_of(strange.API_KEY or 0, 3, b"\2-\2\x31", write_uvarint(100_000), tags)
        sender = Sender((large,) * 20)
        harm = broker.harm_of(sender)
        assert sender.answered == 0
        assert is_harmless(harm), harm
        with broker.connect() as connection:
            connection.sendall(frame(strange, 3) * 50)
            answers = 0
            while receive(connection):
                answers += 1
        assert answers <= 10


@pytest.mark.extended
@pytest.mark.parametrize("request_", ["creations that are only validated", "deletions", "partitions"])
def test_changes_at_once_are_ten_thousand(broker: AttackedBroker, request_: str) -> None:
    request, version = LARGE[request_]
    answer = ask(broker, request, version, message_class(api_of(request).response))
    results = getattr(answer, "topics", ()) or getattr(answer, "responses", ()) or getattr(answer, "results", ())
    assert {result.error_code for result in results} == {ErrorCode.POLICY_VIOLATION}


def test_administrators_may_still_send_much(broker: AttackedBroker) -> None:
    """10 000 ACLs in one request, and all of them in an answer."""
    creation = CreateAclsRequest.AclCreation
    names = [f"a topic with a long name {number}" for number in NUMBERS[:10_000]]
    creations = tuple(creation(2, name, 3, "User:CN=alice", "*", 3, 3) for name in names)
    created = ask(broker, CreateAclsRequest(creations), 3, CreateAclsResponse)
    assert {result.error_code for result in created.results} == {0}
    harm = broker.harm_of(Sender((frame(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3),)))
    described = ask(broker, DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3, DescribeAclsResponse)
    assert len(described.resources) == 10_000
    assert is_harmless(harm), harm
