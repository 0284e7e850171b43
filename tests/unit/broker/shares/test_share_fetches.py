"""Share fetches where time or the end of the broker matter; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import pytest
from tests.embedded.connection import connected_to
from tests.embedded.share_fetching import (
    ACCEPT,
    REJECT,
    RELEASE,
    RENEW,
    Member,
    begin_group,
    configure,
    create,
    produce,
)

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.share_coordinator.state import SharePartitionKey
from kafkawire.broker.shares.live_shares import LiveShares
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import DeleteTopicsRequest, DeleteTopicsResponse, ShareFetchResponse
from kafkawire.protocol.error_codes import ErrorCode


async def test_a_lock_ends_and_the_record_comes_again_with_a_higher_count() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 3)
        first, second = Member(client, topic_id, "1"), Member(client, topic_id, "2")
        assert await first.fetch() == [(0, 2, 1)]
        assert await second.fetch() == []
        await clock.advance_in_steps(29.9)
        assert await second.fetch() == []
        await clock.advance_in_steps(0.2)
        assert await second.fetch() == [(0, 2, 2)]
        assert await first.acknowledge((0, 2, [ACCEPT])) == ErrorCode.INVALID_RECORD_STATE


FAILURES = [StorageError("the disk is full"), OSError(28, "No space left on device")]


def fail_for(topic_id: Uuid, failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The states of a topic can be written no more."""
    prepare = ShareCoordinator.prepare

    async def prepare_others(coordinator: ShareCoordinator, owners: Collection[str]) -> None:
        if any(str(topic_id) in owner for owner in owners):
            raise failure
        await prepare(coordinator, owners)

    monkeypatch.setattr(ShareCoordinator, "prepare", prepare_others)


@pytest.mark.parametrize("failure", FAILURES)
async def test_the_locks_of_other_partitions_end_though_those_of_one_cannot(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as client:
        failing, other = [await create(client, name) for name in "tu"]
        for name, topic_id in (("t", failing), ("u", other)):
            await produce(client, 3, name=name)
            assert await Member(client, topic_id, name).fetch() == [(0, 2, 1)]
            await clock.advance_in_steps(1)
        fail_for(failing, failure, monkeypatch)
        await clock.advance_in_steps(30)
        assert await Member(client, other).fetch() == [(0, 2, 2)]
        assert caplog.messages == [f"The locks of g:{failing}:0 could not be ended: {failure}"]


@pytest.mark.parametrize("failure", FAILURES)
async def test_states_of_a_deleted_topic_that_cannot_be_deleted_are_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        fail_for(await create(client), failure, monkeypatch)
        deleted = await client.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000), 5, DeleteTopicsResponse)
        assert not deleted.responses[0].error_code
    assert caplog.messages == [f"The states of deleted topics could not be deleted: {failure}"]


async def test_a_broker_stops_though_its_last_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_arguments: object) -> None:
        await asyncio.sleep(0.02)
        raise RuntimeError("an unexpected error")

    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        await create(client)
        monkeypatch.setattr(ShareCoordinator, "prepare", fail)
        deleted = await client.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000), 5, DeleteTopicsResponse)
        assert not deleted.responses[0].error_code


@pytest.mark.parametrize("failure", FAILURES)
async def test_members_of_a_closed_connection_release_what_can_be_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        failing, other = [await create(client, name) for name in "tu"]
        async with connected_to(broker) as closed:
            for name, topic_id in (("t", failing), ("u", other)):
                await produce(client, 3, name=name)
                assert await Member(closed, topic_id, name).fetch() == [(0, 2, 1)]
            stays = Member(client, other)
            assert await stays.fetch() == []
            fail_for(failing, failure, monkeypatch)
        await asyncio.sleep(0.1)  # the broker sees that the connection is closed
        assert await stays.fetch() == [(0, 2, 2)]
        assert caplog.messages == [f"The records of member t of g could not be released: {failure}"]


async def test_a_renewed_lock_begins_again() -> None:
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 3)
        first, second = Member(client, topic_id, "1"), Member(client, topic_id, "2")
        assert await first.fetch() == [(0, 2, 1)]
        await clock.advance_in_steps(20)
        assert await first.fetch((1, 1, [RENEW]), renews=True) == []
        await clock.advance_in_steps(20)
        assert await second.fetch() == [(0, 0, 2), (2, 2, 2)]
        assert await first.acknowledge((1, 1, [ACCEPT])) == 0


async def test_a_record_is_delivered_as_often_as_the_group_wants() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await configure(client, share_delivery_count_limit="2")
        await produce(client, 1)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 0, 1)]
        assert await member.fetch((0, 0, [RELEASE])) == [(0, 0, 2)]
        assert await member.fetch((0, 0, [RELEASE])) == []
        await produce(client, 1)
        assert await member.fetch() == [(1, 1, 1)]


async def test_a_waiting_fetch_gets_what_another_member_releases() -> None:
    async with (
        EmbeddedBroker(clock=ManualClock()) as broker,
        connected_to(broker) as one,
        connected_to(broker) as other,
    ):
        topic_id = await create(one)
        await produce(one, 2)
        first, second = Member(one, topic_id, "1"), Member(other, topic_id, "2")
        assert await first.fetch() == [(0, 1, 1)]
        waiting = asyncio.ensure_future(second.fetch(wait_ms=60_000, least=1))
        await asyncio.sleep(0.05)
        await first.acknowledge((0, 1, [ACCEPT, RELEASE]))
        assert await waiting == [(1, 1, 2)]


async def test_fetches_that_have_waited_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, wait, waited = ManualClock(), LiveShares.wait, list[LiveShares]()

    def wait_for(
        shares: LiveShares, keys: Iterable[SharePartitionKey], waiter: asyncio.Future[None]
    ) -> Callable[[], None]:
        waited.append(shares)
        return wait(shares, keys, waiter)

    monkeypatch.setattr(LiveShares, "wait", wait_for)
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as client:
        member = Member(client, await create(client))
        waiting = asyncio.ensure_future(member.fetch(wait_ms=1000, least=1))
        await asyncio.sleep(0.05)
        (shares,) = waited
        assert len(shares._waiting) == 1
        await clock.advance_in_steps(2)
        assert await waiting == []
        assert not shares._waiting


async def test_a_fetch_goes_on_waiting_when_another_one_has_waited_long_enough() -> None:
    clock = ManualClock()
    async with (
        EmbeddedBroker(clock=clock) as broker,
        connected_to(broker) as one,
        connected_to(broker) as other,
        connected_to(broker) as another,
    ):
        topic_id = await create(one)
        await produce(one, 2)
        holder = Member(one, topic_id, "1")
        assert await holder.fetch() == [(0, 1, 1)]
        long, short = (
            asyncio.ensure_future(Member(client, topic_id, f"{wait_ms}").fetch(wait_ms=wait_ms, least=1))
            for client, wait_ms in ((other, 20_000), (another, 1000))
        )
        await asyncio.sleep(0.05)
        await clock.advance_in_steps(2)
        assert await short == []
        await holder.acknowledge((0, 1, [ACCEPT, RELEASE]))
        async with asyncio.timeout(5):
            assert await long == [(1, 1, 2)]


async def test_a_waiting_fetch_gets_what_is_produced() -> None:
    async with (
        EmbeddedBroker(clock=ManualClock()) as broker,
        connected_to(broker) as one,
        connected_to(broker) as other,
    ):
        topic_id = await create(one)
        waiting = asyncio.ensure_future(Member(other, topic_id).fetch(wait_ms=60_000, least=1))
        await asyncio.sleep(0.05)
        await produce(one, 2)
        assert await waiting == [(0, 1, 1)]


async def test_the_end_of_a_session_releases_its_records() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 4)
        first, second = Member(client, topic_id, "1"), Member(client, topic_id, "2")
        assert await first.fetch() == [(0, 3, 1)]
        assert await first.acknowledge((0, 1, [ACCEPT, REJECT])) == 0
        await first.leave()
        assert await second.fetch() == [(2, 3, 2)]


async def test_a_group_whose_last_connection_is_closed_reads_its_state_again_later() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 4)
        async with connected_to(broker) as one, connected_to(broker) as other:
            first, second = Member(one, topic_id, "1"), Member(other, topic_id, "2")
            assert await first.fetch() == [(0, 3, 1)]
            assert await first.acknowledge((0, 3, [ACCEPT])) == 0
            await first.leave()
            assert await second.fetch() == []
        await asyncio.sleep(0.1)  # the broker sees that the connections are closed
        await begin_group(client, topic_id, state_epoch=1)
        assert await Member(client, topic_id).fetch() == [(0, 3, 1)]


async def test_a_restart_keeps_what_was_acknowledged_and_releases_the_rest(tmp_path: Path) -> None:
    async with EmbeddedBroker({}, data_dir=tmp_path) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 4, 2)
        member = Member(client, topic_id)
        assert await member.fetch(batch_size=1) == [(0, 3, 1), (4, 5, 1)]
        assert await member.acknowledge((0, 3, [ACCEPT, RELEASE, ACCEPT, REJECT])) == 0
    async with EmbeddedBroker({}, data_dir=tmp_path) as broker, connected_to(broker) as client:
        assert await Member(client, topic_id).fetch() == [(1, 1, 2), (4, 5, 2)]


async def test_the_state_goes_with_the_topic() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 1)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 0, 1)]
        deleted = await client.ask(DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000), 5, DeleteTopicsResponse)
        assert not deleted.responses[0].error_code
        answer = await member.client.ask(member.fetch_request(), 2, ShareFetchResponse)
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR  # as in Kafka


async def test_a_state_that_begins_again_fences_members_of_the_earlier_one() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 4)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 3, 1)]
        await begin_group(client, topic_id, state_epoch=1, offset=2)
        assert await member.acknowledge((0, 3, [ACCEPT])) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert await member.fetch() == [(2, 3, 1)]


async def test_a_member_of_an_earlier_state_may_leave(caplog: pytest.LogCaptureFixture) -> None:
    """It has nothing to give back: who comes then has the state that began again."""
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 3)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 2, 1)]
        await begin_group(client, topic_id, state_epoch=1, offset=1)
        await member.leave()
        assert caplog.messages == [f"The records of g:{topic_id}:0 could not be released: FENCED_STATE_EPOCH"]
        assert await Member(client, topic_id, "n").fetch() == [(1, 2, 1)]


async def test_the_records_of_a_member_are_available_again_when_its_connection_is_closed() -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 2)
        member = Member(client, topic_id)
        assert await member.fetch() == [(0, 1, 1)]
        async with connected_to(broker) as gone:
            await produce(client, 1)
            assert await Member(gone, topic_id, "gone").fetch() == [(2, 2, 1)]
        assert await member.fetch(wait_ms=60_000, least=1) == [(2, 2, 2)]
        assert await member.acknowledge((0, 2, [ACCEPT])) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("reset", "first"),
    [
        ("earliest", 0),
        ("by_duration:PT3H", 0),
        ("by_duration:PT2H", 0),
        ("by_duration:PT1H59M59.999S", 2),
        ("by_duration:PT1H", 2),
        ("latest", 5),
        ("by_duration:PT59M59.999S", None),
    ],
)
async def test_a_group_begins_with_the_records_since_a_time(reset: str, first: int | None) -> None:
    """And not yet if there are none; the records after its first fetch are new in any case."""
    clock = ManualClock()
    async with EmbeddedBroker({"connections.max.idle.ms": "-1"}, clock=clock) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await begin_group(client, topic_id, state_epoch=1, offset=-1)
        await configure(client, share_auto_offset_reset=reset)
        for count in (2, 3):
            await produce(client, count, timestamp=clock.now_ms())
            clock.advance(3600)
        member = Member(client, topic_id)
        ((topic,),) = (answer.responses for answer in [await member.ask(member.fetch_request())])
        (partition,) = topic.partitions
        error = ErrorCode.OFFSET_NOT_AVAILABLE if first is None else ErrorCode.NONE
        found = [(each.first_offset, each.last_offset) for each in partition.acquired_records]
        assert (partition.error_code, found) == (error, [] if first in {None, 5} else [(first, 4)])
        await produce(client, 1, timestamp=clock.now_ms())
        assert await member.fetch() == [(5, 5, 1)]
