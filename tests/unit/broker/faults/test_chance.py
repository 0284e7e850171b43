"""Faults that a seed decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.admin import AdminSettings, BlockingAdminClient, NewTopic
from kafkawire.broker import Chance, EmbeddedBroker, ManualClock, ThreadedBroker
from kafkawire.broker.faults.chance import RETRIABLE, Decision, Draws
from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch

QUICK = AdminSettings(retry_backoff=0.001, reconnect_backoff=0.001, reconnect_backoff_maximum=0.01)
EVERYTHING = Chance(7, delays=0.3, refusals=0.3, cuts=0.3, restarts=0.1, slow_writes=0.3)


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(clock=ManualClock(), data_dir=tmp_path, topics=["orders", "payments"]) as broker:
        yield broker


def decisions(chance: Chance, count: int = 300, client_id: str = "c", key: int = ApiKey.PRODUCE) -> list[Decision]:
    draws = Draws(chance)
    return [draws.decision(client_id, key) for _ in range(count)]


async def has_topic(broker: EmbeddedBroker, name: str) -> bool:
    async with connected_to(broker) as client:
        answer = await client.ask(MetadataRequest(None), 12, MetadataResponse)
        return name in {topic.name for topic in answer.topics}


async def create(client: BrokerConnection, name: str = "t") -> int:
    request = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic(name, 1, 1),))
    return (await client.ask(request, 7, CreateTopicsResponse)).topics[0].error_code


async def is_cut_off(broker: EmbeddedBroker) -> bool:
    async with connected_to(broker) as client:
        try:
            await create(client)
        except (asyncio.IncompleteReadError, ConnectionError):
            return True
        return False


def test_a_seed_always_decides_the_same_and_another_one_does_not() -> None:
    assert decisions(EVERYTHING) == decisions(EVERYTHING)
    other = Chance(8, delays=0.3, refusals=0.3, cuts=0.3, restarts=0.1)
    assert decisions(EVERYTHING) != decisions(other)


def test_a_decision_depends_on_the_client_the_api_and_the_number_alone() -> None:
    draws, alone = Draws(EVERYTHING), decisions(EVERYTHING, 100)
    mixed: list[Decision] = []
    for number in range(100):
        draws.decision("another", ApiKey.PRODUCE)
        mixed.append(draws.decision("c", ApiKey.PRODUCE))
        if number % 3:
            draws.decision("c", ApiKey.FETCH)
    assert mixed == alone


def test_faults_are_as_frequent_as_their_shares_say() -> None:
    made = decisions(Chance(1, delays=0.2, longest_delay=2.0, refusals=0.3, cuts=0.1, restarts=0.05), 10_000)
    counts = (
        sum(bool(each.delay) for each in made),
        sum(bool(each.code) for each in made),
        sum(each.cuts and not each.restarts for each in made),
        sum(each.restarts for each in made),
    )
    assert counts == pytest.approx((2000, 3000, 1000, 500), rel=0.15)
    assert 1.9 < max(each.delay for each in made) <= 2.0
    cut = [each for each in made if each.cuts]
    assert sum(each.after_handling for each in cut) == pytest.approx(len(cut) / 2, rel=0.15)


def test_a_share_that_is_changed_leaves_other_faults_where_they_are() -> None:
    without = decisions(Chance(1, delays=0.2))
    assert [each.delay for each in decisions(Chance(1, delays=0.2, cuts=0.5))] == [each.delay for each in without]


def test_the_errors_are_those_of_the_api() -> None:
    for key, codes in RETRIABLE.items():
        made = decisions(Chance(3, refusals=1.0), 200, key=key)
        assert {each.code for each in made} == set(codes)
    assert not any(each.code for each in decisions(Chance(3, refusals=1.0), key=ApiKey.DESCRIBE_CLUSTER))


def test_client_ids_that_are_made_up_are_bounded() -> None:
    draws = Draws(EVERYTHING)
    for number in range(20_000):
        draws.decision(f"c-{number}", ApiKey.FETCH)
    assert len(draws._counts) <= 10_001


@pytest.mark.parametrize(
    ("shares", "error"),
    [
        ({"cuts": 1.1}, "cuts is 1.1: pass from 0 to 1"),
        ({"delays": -0.1}, "delays is -0.1: pass from 0 to 1"),
        ({"longest_delay": -1.0}, "longest_delay is -1.0: pass 0 or more seconds"),
        ({"cuts": 0.6, "refusals": 0.6}, "refusals, cuts and restarts are 1.2 together"),
    ],
)
def test_shares_and_times_are_checked(shares: dict[str, float], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Chance(1, **shares)


def test_a_broker_in_memory_does_not_restart_by_chance() -> None:
    with pytest.raises(ValueError, match="loses its state"):
        EmbeddedBroker().faults.by_chance(Chance(1, restarts=0.1))


async def test_an_acknowledgement_is_lost_before_or_after_the_request_was_carried_out(broker: EmbeddedBroker) -> None:
    seeds = {after: next(n for n in range(99) if self_decided(n) is after) for after in (False, True)}
    for after in (False, True):
        with broker.faults.by_chance(Chance(seeds[after], cuts=1.0), CreateTopicsRequest) as fault:
            assert await is_cut_off(broker)
        assert fault.hits == 1
        assert await has_topic(broker, "t") is after


def self_decided(seed: int) -> bool:
    """Whether the first CreateTopics of a client is cut off after it was carried out."""
    return decisions(Chance(seed, cuts=1.0), 1, "kafkawire", ApiKey.CREATE_TOPICS)[0].after_handling


async def test_a_timeout_comes_after_the_request_was_carried_out(broker: EmbeddedBroker) -> None:
    broker.faults.by_chance(Chance(5, refusals=1.0), CreateTopicsRequest)
    outcomes: set[tuple[int, bool]] = set()
    async with connected_to(broker) as client:
        for number in range(20):
            error = await create(client, f"t{number}")
            outcomes.add((error, await has_topic(broker, f"t{number}")))
    assert outcomes == {(ErrorCode.NOT_CONTROLLER, False), (ErrorCode.REQUEST_TIMED_OUT, True)}


async def test_a_delay_moves_a_manual_clock(broker: EmbeddedBroker) -> None:
    before = broker.clock.seconds()
    with broker.faults.by_chance(Chance(7, delays=1.0, longest_delay=300.0), CreateTopicsRequest):
        async with connected_to(broker) as client:
            assert await create(client) == 0
    (decided,) = decisions(Chance(7, delays=1.0, longest_delay=300.0), 1, "kafkawire", ApiKey.CREATE_TOPICS)
    assert broker.clock.seconds() - before == pytest.approx(decided.delay)


async def test_a_slow_disk_moves_a_manual_clock_and_the_answer_waits_for_it(broker: EmbeddedBroker) -> None:
    before = broker.clock.seconds()
    with broker.faults.by_chance(Chance(7, slow_writes=1.0, longest_write=10.0)):
        async with connected_to(broker) as client:
            assert await create(client) == 0
    assert 0 < broker.clock.seconds() - before <= 20


async def test_the_broker_restarts_by_chance_and_keeps_what_was_acknowledged(broker: EmbeddedBroker) -> None:
    port = broker.port
    with broker.faults.by_chance(Chance(1, restarts=1.0), CreateTopicsRequest, times=1) as fault:
        assert await is_cut_off(broker)
    assert fault.hits == 1
    await broker.advance(0)  # until it is back
    assert broker.port == port
    assert await has_topic(broker, "orders")
    assert not await is_cut_off(broker)


async def test_chance_may_be_limited_to_a_group_or_a_topic(broker: EmbeddedBroker) -> None:
    broker.faults.by_chance(Chance(1, refusals=1.0), group="billing")
    broker.faults.by_chance(Chance(1, refusals=1.0), ProduceRequest, topic="orders", times=1)
    async with connected_to(broker) as client:
        errors = [
            (await client.ask(HeartbeatRequest(group, 1, "m"), 4, HeartbeatResponse)).error_code
            for group in ("billing", "shipping")
        ]
        assert errors[0] in RETRIABLE[ApiKey.HEARTBEAT]
        assert errors[1] == ErrorCode.UNKNOWN_MEMBER_ID
        answered = [await produced(client), await produced(client)]
    assert answered[0]["orders"] in RETRIABLE[ApiKey.PRODUCE]
    assert answered[0]["payments"] == 0
    assert answered[1] == {"orders": 0, "payments": 0}


async def produced(client: BrokerConnection) -> dict[str, int]:
    batch = encode_batch([Record(timestamp=1_767_225_600_000, key=b"k", value=b"v")])
    partition = (ProduceRequest.PartitionProduceData(0, batch),)
    topics = tuple(ProduceRequest.TopicProduceData(name, partition_data=partition) for name in ("orders", "payments"))
    answer = await client.ask(ProduceRequest(acks=-1, topic_data=topics), 9, ProduceResponse)
    return {topic.name: topic.partition_responses[0].error_code for topic in answer.responses}


def test_a_broker_in_a_thread_restarts_by_chance(tmp_path: Path) -> None:
    with (
        ThreadedBroker(data_dir=tmp_path, topics=["orders"]) as broker,
        BlockingAdminClient(broker.bootstrap_servers, settings=QUICK) as admin,
    ):
        with broker.faults.by_chance(Chance(1, restarts=1.0), MetadataRequest, times=2) as fault:
            assert set(admin.list_topics()) == {"orders"}
        assert fault.hits == 2
        broker.faults.by_chance(Chance(1, restarts=1.0), CreateTopicsRequest)
        admin.create_topics([NewTopic("more")], timeout=0.2)
    # It stops in the middle of a restart, if there is one.
    with ThreadedBroker(data_dir=tmp_path) as again, BlockingAdminClient(again.bootstrap_servers) as admin:
        assert "orders" in admin.list_topics()
