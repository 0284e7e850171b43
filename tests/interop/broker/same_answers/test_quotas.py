"""Quotas of clients: filters, alterations, rights, and the throttling of clients above their quota (D12 to E13)."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf, nan

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import (
    same_answers_from_brokers_with_policies,
    same_answers_from_plain_brokers,
    same_answers_from_secure_brokers,
)
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeClusterRequest,
    FetchRequest,
    FetchResponse,
    ListGroupsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    message_class,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.rpc import api_of, encode_request
from kafkawire.wire.batches.batch import Record
from kafkawire.wire.batches.writer import encode_batch

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PRODUCER, CONSUMER, PER_CENT = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
MUTATION, CONNECTION = "controller_mutation_rate", "connection_creation_rate"
EXACT, DEFAULT, ANY = 0, 1, 2
NOW = int(time.time() * 1000)
EXCEEDED = ErrorCode.THROTTLING_QUOTA_EXCEEDED
OWN: Sequence[tuple[str, str | None]] = [("client-id", "kafkawire")]
"""What the connections of these tests call themselves."""

Entity = Sequence[tuple[str, str | None]]
Ops = Sequence[tuple[str, float | None]]
Component = tuple[str, int, str | None]


def alteration(*entries: tuple[Entity, Ops], validate_only: bool = False) -> AlterClientQuotasRequest:
    message = AlterClientQuotasRequest
    return message(
        tuple(
            message.EntryData(
                tuple(message.EntityData(kind, name) for kind, name in entity),
                tuple(message.OpData(key, value or 0.0, remove=value is None) for key, value in ops),
            )
            for entity, ops in entries
        ),
        validate_only,
    )


def alter(talk: Talk, *entries: tuple[Entity, Ops], validate_only: bool = False, version: int = 1) -> None:
    talk.ask(alteration(*entries, validate_only=validate_only), version, AlterClientQuotasResponse)


def description(*components: Component, strict: bool = False) -> DescribeClientQuotasRequest:
    parts = (DescribeClientQuotasRequest.ComponentData(*component) for component in components)
    return DescribeClientQuotasRequest(tuple(parts), strict)


def describe(talk: Talk, *components: Component, strict: bool = False, version: int = 1) -> None:
    talk.ask(description(*components, strict=strict), version, DescribeClientQuotasResponse)


def see(talk: Talk, count: int, *components: Component) -> None:
    """Wait until the given number of entities is found."""

    def done(answer: DescribeClientQuotasResponse) -> bool:
        return len(answer.entries or ()) == count

    talk.ask_until(description(*components), 1, DescribeClientQuotasResponse, done)


@contextmanager
def quotas(talk: Talk, *entries: tuple[Entity, Ops]) -> Iterator[None]:
    """Set quotas, and remove them when the context ends."""
    alter(talk, *entries)
    see(talk, len(entries))
    try:
        yield
    finally:
        talk.disconnect()  # which may be muted
        alter(talk, *((entity, [(key, None) for key, _ in ops]) for entity, ops in entries))
        see(talk, 0)


EVERY_KIND: Sequence[tuple[Entity, Ops]] = [
    ([("user", "u1")], [(PRODUCER, 1024.0), (PER_CENT, 12.5)]),
    ([("user", None)], [(CONSUMER, 2048.0)]),
    ([("user", "u1"), ("client-id", "c1")], [(MUTATION, 3.5)]),
    ([("client-id", None), ("user", "u1")], [(PRODUCER, 1.0)]),
    ([("client-id", "c1")], [(PRODUCER, 9.0)]),
    ([("ip", "10.0.0.1")], [(CONNECTION, 7.0)]),
]


@same_answers_from_plain_brokers
def test_filters_find_quotas_by_exact_default_and_any_name_strict_or_not(talk: Talk) -> None:
    """E5."""
    with quotas(talk, *EVERY_KIND):
        filters: list[list[Component]] = [
            [],
            [("user", EXACT, "u1")],
            [("user", DEFAULT, None)],
            [("user", ANY, None)],
            [("user", ANY, None), ("client-id", ANY, None)],
            [("client-id", ANY, None), ("user", EXACT, "u1")],
            [("client-id", EXACT, "c1")],
            [("client-id", DEFAULT, None)],
            [("user", EXACT, "u1"), ("client-id", DEFAULT, None)],
            [("ip", ANY, None)],
            [("ip", EXACT, "10.0.0.1")],
            [("ip", EXACT, "no address")],
            [("ip", DEFAULT, None)],
            [("user", EXACT, "")],
        ]
        for components in filters:
            for strict in (False, True):
                for version in (0, 1):
                    describe(talk, *components, strict=strict, version=version)


@same_answers_from_plain_brokers
def test_filters_with_contradictions_or_unknown_types_are_refused(talk: Talk) -> None:
    """E6."""
    describe(talk, ("", EXACT, "a"))
    describe(talk, ("user", ANY, None), ("user", EXACT, "a"))
    describe(talk, ("tenant", ANY, None), ("tenant", ANY, None))
    describe(talk, ("User", ANY, None))
    describe(talk, ("user", EXACT, None))
    describe(talk, ("user", DEFAULT, "a"))
    describe(talk, ("user", ANY, "a"))
    describe(talk, ("user", 3, None))
    describe(talk, ("user", -1, "a"))
    describe(talk, ("ip", ANY, None), ("user", ANY, None))
    describe(talk, ("client-id", ANY, None), ("ip", EXACT, "10.0.0.1"))
    describe(talk, ("ip", ANY, None), ("tenant", ANY, None))


@same_answers_from_plain_brokers
def test_alterations_with_wrong_entities_keys_or_values_are_refused(talk: Talk) -> None:
    """E8, E11."""
    user: Entity = [("user", "a")]
    address: Entity = [("ip", "10.0.0.1")]
    wrong: list[tuple[Entity, Ops]] = [
        ([], [(PRODUCER, 1.0)]),
        ([], []),
        ([("tenant", "a")], [(PRODUCER, 1.0)]),
        ([("", "a")], [(PRODUCER, 1.0)]),
        ([("user", "")], []),
        ([("user", "a"), ("client-id", "")], []),
        ([("ip", "")], []),
        ([("ip", "10.0.0.1"), ("user", "a")], [(CONNECTION, 1.0)]),
        ([("ip", "10.0.0.0/8")], [(CONNECTION, 1.0)]),
        ([("ip", "no address")], [(CONNECTION, 1.0)]),
        (user, [(CONNECTION, 1.0)]),
        (user, [("no_such_quota", 1.0)]),
        (address, [(PRODUCER, 1.0)]),
        *((user, [(key, value)]) for key in (PRODUCER, PER_CENT, MUTATION) for value in (0.0, -1.0, -inf)),
        *((user, [(CONSUMER, value)]) for value in (0.5, 1.5, 1.00001, 2.0**64, inf)),
        *((address, [(CONNECTION, value)]) for value in (0.5, 2.0**31, inf)),
        (user, [(PRODUCER, 1.0), (PRODUCER, 1.0)]),
        (user, [(PRODUCER, None), (PRODUCER, 1.0)]),
        (user, [(PRODUCER, 1.0), (CONSUMER, 0.0)]),
    ]
    for entity, ops in wrong:
        for validate_only in (True, False):
            alter(talk, (entity, ops), validate_only=validate_only)
    describe(talk)


@same_answers_from_plain_brokers
def test_alterations_with_extreme_values_and_unusual_names_are_accepted(talk: Talk) -> None:
    """E11."""
    values: list[tuple[Entity, Ops]] = [
        ([("user", "a")], [(PRODUCER, 1.0000001), (CONSUMER, 2.0**63), (PER_CENT, 1e300), (MUTATION, 1e-9)]),
        ([("user", "b")], [(PER_CENT, inf), (MUTATION, nan), (PRODUCER, nan)]),
        ([("ip", "::1")], [(CONNECTION, 2.0**31 - 1)]),
        ([("ip", "localhost")], [(CONNECTION, 1_000_000.0)]),
        ([("ip", None)], [(CONNECTION, 1_000_000.0)]),
        ([("user", "<default>")], [(PRODUCER, 5.0)]),
        ([("client-id", "CN=a, b~*/é+")], [(PRODUCER, 5.0)]),
    ]
    with quotas(talk, *values):
        describe(talk, version=0)


@same_answers_from_plain_brokers
def test_of_an_entity_that_occurs_twice_the_first_alteration_is_applied(talk: Talk) -> None:
    """E9, E10."""
    user: Entity = [("user", "a")]
    alter(talk, (user, [(PRODUCER, 1.0)]), (user, [(CONSUMER, -1.0)]))
    see(talk, 1)
    alter(talk, (user, [(CONSUMER, -1.0)]), (user, [(CONSUMER, 1.0)]))
    alter(talk, (user, [(PRODUCER, 1.0), (PRODUCER, 2.0)]), (user, [(PER_CENT, 2.0)]))
    alter(talk, ([("user", "b"), ("user", "c")], [(PRODUCER, 1.0)]), ([("user", "")], [(PRODUCER, 1.0)]))
    see(talk, 2)
    for both in ([("user", "a"), ("client-id", None)], [("client-id", "b"), ("user", "a")]):
        alter(talk, (both, []), (both, []))
    alter(talk, (user, [(PRODUCER, None)]), ([("user", "c")], [(PRODUCER, None)]))
    see(talk, 0)


@same_answers_from_plain_brokers
def test_validation_equal_values_and_removals_of_unset_keys_change_nothing(talk: Talk) -> None:
    """E8, E12."""
    user: Entity = [("user", "a")]
    alter(talk, (user, [(PRODUCER, 1.0)]), validate_only=True, version=0)
    alter(talk, (user, []))
    alter(talk, (user, [(PRODUCER, None), ("no_such_quota", None)]))
    describe(talk)
    with quotas(talk, (user, [(PRODUCER, 1.0)])):
        alter(talk, (user, [(PRODUCER, 1.0)]), version=0)
        alter(talk, (user, [(CONSUMER, None)]))
        describe(talk)


@same_answers_from_plain_brokers
def test_more_than_10_000_records(talk: Talk) -> None:
    entries = [([("user", f"u{number}")], [(PRODUCER, 1.0)]) for number in range(10_001)]
    for validate_only in (True, False):
        alter(talk, *entries, validate_only=validate_only)
    describe(talk)


@same_answers_from_secure_brokers
def test_without_rights_quotas_are_neither_described_nor_altered(talk: Talk) -> None:
    """E6, E8."""
    user: Entity = [("user", "a")]
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in (0, 1):
            talk.ask(description(), version, DescribeClientQuotasResponse)
            talk.ask_for_codes(alteration((user, [(PRODUCER, 1.0)]), ([], [])), version)


def topic(talk: Talk, name: str, partitions: int, version: int = 7) -> CreateTopicsResponse:
    return talk.ask(
        CreateTopicsRequest((CreateTopicsRequest.CreatableTopic(name, partitions, 1),), 30_000),
        version,
        CreateTopicsResponse,
    )


def delete(talk: Talk, name: str, version: int = 6) -> DeleteTopicsResponse:
    by_name = (DeleteTopicsRequest.DeleteTopicState(name),) if version >= 6 else ()
    names = (name,) if version < 6 else ()
    return talk.ask(DeleteTopicsRequest(by_name, names, 30_000), version, DeleteTopicsResponse)


def grow(talk: Talk, name: str, count: int, version: int = 3) -> CreatePartitionsResponse:
    wanted = CreatePartitionsRequest.CreatePartitionsTopic(name, count, None)
    return talk.ask(CreatePartitionsRequest((wanted,), 30_000), version, CreatePartitionsResponse)


def leaders(talk: Talk, name: str) -> None:
    """Wait until all partitions of a topic have one."""

    def done(answer: MetadataResponse) -> bool:
        return all(topic.error_code == 0 for topic in answer.topics)

    talk.ask_until(
        MetadataRequest((MetadataRequest.MetadataRequestTopic(name=name),), False), 12, MetadataResponse, done
    )


@same_answers_from_plain_brokers
def test_mutations_beyond_the_quota_are_refused_or_throttled_by_version(talk: Talk) -> None:
    """B10, D15."""
    topic(talk, "deleted-strictly", 1)
    topic(talk, "deleted-anyway", 2)
    leaders(talk, "deleted-anyway")
    with quotas(talk, (OWN, [(MUTATION, 1.0)])):
        assert topic(talk, "burst", 100).throttle_time_ms == 0  # however many, while tokens are left
        refused = topic(talk, "more", 1)
        assert 80_000 < refused.throttle_time_ms <= 89_000
        for step in (
            lambda: topic(talk, "more", 1, 6),
            lambda: delete(talk, "deleted-strictly", 6),
            lambda: delete(talk, "deleted-strictly", 5),
            lambda: grow(talk, "burst", 101, 3),
            lambda: topic(talk, "permitted", 1, 5),
            lambda: grow(talk, "burst", 101, 2),
            lambda: delete(talk, "deleted-anyway", 4),
        ):
            talk.disconnect()  # which is muted
            assert 80_000 < step().throttle_time_ms < 95_000
    for name in ("burst", "permitted", "deleted-strictly"):
        delete(talk, name)


def produced(topic_id: Uuid, size: int) -> ProduceRequest:
    batch = encode_batch([Record(timestamp=NOW, value=bytes(size))])
    partition = ProduceRequest.PartitionProduceData(0, batch)
    data = ProduceRequest.TopicProduceData(topic_id=topic_id, partition_data=(partition,))
    return ProduceRequest(None, -1, 30_000, (data,))


def fetched(topic_id: Uuid) -> FetchRequest:
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    asked = FetchRequest.FetchTopic(topic_id=topic_id, partitions=(partition,))
    return FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=(asked,))


@same_answers_from_plain_brokers
def test_produce_and_fetch_beyond_their_quotas_are_throttled(talk: Talk) -> None:
    """D12, D14, D16."""
    (created,) = topic(talk, "throttled", 1).topics
    leaders(talk, "throttled")
    produce = produced(created.topic_id, 12_000)
    size = len(encode_request(produce, 13, correlation_id=1, client_id="kafkawire")) - 4
    with quotas(talk, (OWN, [(PRODUCER, 1000.0), (CONSUMER, 1000.0)])):
        began = time.monotonic()
        throttled = talk.ask(produce, 13, ProduceResponse)
        assert throttled.throttle_time_ms == size - 10_000
        describe(talk, (OWN[0][0], EXACT, OWN[0][1]))
        assert time.monotonic() - began > throttled.throttle_time_ms / 1000 - 0.1
        empty = talk.ask(fetched(created.topic_id), 17, FetchResponse)
        assert empty.throttle_time_ms > 2000
        assert empty.responses == ()
    delete(talk, "throttled")


@same_answers_from_plain_brokers
def test_a_fetch_returns_no_more_than_its_quota_allows(talk: Talk) -> None:
    """D14."""
    (created,) = topic(talk, "fetched", 1).topics
    leaders(talk, "fetched")
    for _ in range(3):
        talk.ask(produced(created.topic_id, 3000), 13, ProduceResponse)
    for limit in (500.0, 10_000.0):
        with quotas(talk, (OWN, [(CONSUMER, limit)])):
            talk.ask_until(fetched(created.topic_id), 17, FetchResponse, lambda answer: bool(answer.responses))
    delete(talk, "fetched")


@same_answers_from_brokers_with_policies
def test_kip_257_a_callback_decides(talk: Talk) -> None:
    """It doubles the quota of a client id; users have none."""
    (created,) = topic(talk, "decided", 1).topics
    leaders(talk, "decided")
    produce = produced(created.topic_id, 12_000)
    assert talk.ask(produce, 13, ProduceResponse).throttle_time_ms == 0
    with quotas(talk, ([("user", None)], [(PRODUCER, 1.0), (MUTATION, 1.0)])):
        assert talk.ask(produce, 13, ProduceResponse).throttle_time_ms == 0
    with quotas(talk, (OWN, [(PRODUCER, 1.0), (MUTATION, 1.0)])):
        throttled = talk.ask(produce, 13, ProduceResponse).throttle_time_ms
        assert throttled > 1_000_000  # what was produced before counts: the bucket is the same
        talk.disconnect()
        assert topic(talk, "burst", 100).throttle_time_ms == 0
        refused = topic(talk, "more", 1).throttle_time_ms  # 78 tokens too many, two come in a second
        assert 35_000 < refused <= 39_000
    for name in ("decided", "burst"):
        delete(talk, name)


@same_answers_from_plain_brokers
def test_requests_that_take_too_much_time_are_throttled_for_one_sample(talk: Talk) -> None:
    """Any time at all exceeds the limit, also the time of the controller (D13). No group of another test is listed."""
    name = OWN[0][0], EXACT, OWN[0][1]
    creation = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic("timed", 1, 1),), 30_000)
    with quotas(talk, (OWN, [(PER_CENT, 1e-9)])):
        for request, version in (
            (MetadataRequest(()), 12),
            (description(name), 1),
            (ListGroupsRequest(("Dead",)), 5),
            (DescribeClusterRequest(), 2),
            (creation, 7),
            (alteration((OWN, [(PER_CENT, 1e-9)])), 1),
            (DeleteTopicsRequest((DeleteTopicsRequest.DeleteTopicState("timed"),), (), 30_000), 6),
            (ListOffsetsRequest(-1), 11),
        ):
            talk.disconnect()  # which is muted
            answer = talk.ask(request, version, message_class(api_of(request).response))
            assert getattr(answer, "throttle_time_ms", None) == 1000, request


@same_answers_from_plain_brokers
def test_connections_beyond_the_rate_of_an_address_are_refused(talk: Talk) -> None:
    """The connection of the talk is opened before the limit is set, and used again at the end (D18)."""
    for name in (talk.side.host, "localhost"):
        here: Entity = [("ip", name)]
        alter(talk, (here, [(CONNECTION, 5.0)]))
        see(talk, 1)
        assert sum(_is_answered(talk) for _ in range(54)) < 54
        alter(talk, (here, [(CONNECTION, None)]))
        see(talk, 0)


def _is_answered(talk: Talk) -> bool:
    """Whether a new connection is, before it is closed."""
    frame = encode_request(DescribeClusterRequest(), 0, correlation_id=1, client_id="kafkawire")
    with socket.create_connection((talk.side.host, talk.side.port), timeout=20) as connection:
        try:
            connection.sendall(frame)
            return bool(connection.recv(4))
        except ConnectionError:
            return False
