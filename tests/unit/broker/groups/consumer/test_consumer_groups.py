"""The consumer groups of a broker: which group a heartbeat finds."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import pytest
from msgspec.structs import replace
from tests.embedded.connection import connected_to
from tests.embedded.driven_mixed_groups import ClassicClient, DrivenMixedGroups

from kafkawire.broker import EmbeddedBroker
from kafkawire.broker.storage.errors import StorageError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupMemberMetadataKey,
)
from kafkawire.protocol.error_codes import ErrorCode

OWNED = ConsumerGroupHeartbeatRequest.TopicPartitions(Uuid(b"t" * 16), (0,))
JOINING = ConsumerGroupHeartbeatRequest("g", "member", 0, None, None, 20_000, ("orders",), None, None, ())


@pytest.mark.parametrize("epoch", [-2, -1, 1, 300])
async def test_only_a_member_that_joins_begins_a_group(epoch: int) -> None:
    """With the messages of Apache Kafka, which has another one for members that leave."""
    groups = DrivenMixedGroups(group_initial_rebalance_delay_ms="0")
    request = ConsumerGroupHeartbeatRequest("g", "member", epoch, "one")
    answer = await groups.send(request)
    kind = "Consumer group" if epoch > 0 else "Group"
    assert (answer.error_code, answer.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} g not found.")
    await ClassicClient(groups, "orders").step()
    answer = await groups.send(request)
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message == "Group g is not a consumer group."
    await groups.close()


@pytest.mark.parametrize(
    ("version", "epoch", "needs_id"),
    [(0, 0, False), (0, -2, False), (0, -1, True), (0, 1, True), (1, 0, True), (1, -2, True), (1, -1, True)],
)
async def test_the_first_version_lets_the_broker_make_the_id_of_a_member_that_joins(
    version: int, epoch: int, *, needs_id: bool
) -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    request = ConsumerGroupHeartbeatRequest("g", "", epoch, "one", None, 20_000, ("orders",), None, None, ())
    answer = await groups.send(request, version)
    if needs_id:
        assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, "MemberId can't be empty.")
    elif epoch:
        assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    else:
        assert (answer.error_code, len(answer.member_id or "")) == (ErrorCode.NONE, 22)
    await groups.close()


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (JOINING, None),
        (replace(JOINING, rebalance_timeout_ms=-1), "RebalanceTimeoutMs must be provided in first request."),
        (replace(JOINING, topic_partitions=None), "TopicPartitions must be empty when (re-)joining."),
        (replace(JOINING, topic_partitions=(OWNED,)), "TopicPartitions must be empty when (re-)joining."),
        (
            replace(JOINING, subscribed_topic_names=None),
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        (replace(JOINING, subscribed_topic_names=None, subscribed_topic_regex="o.*"), None),
    ],
)
async def test_a_member_that_joins_says_all_of_itself(
    request_: ConsumerGroupHeartbeatRequest, message: str | None
) -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    answer = await groups.send(request_)
    error = ErrorCode.NONE if message is None else ErrorCode.INVALID_REQUEST
    assert (answer.error_code, answer.error_message) == (error, message)
    await groups.close()


@pytest.mark.parametrize(
    ("changed", "has_assignment"),
    [
        ({}, True),
        ({"subscribed_topic_names": None, "subscribed_topic_regex": "orders"}, True),
        ({"rebalance_timeout_ms": -1}, False),
        ({"subscribed_topic_names": None}, False),
        ({"topic_partitions": None}, False),
    ],
)
async def test_a_heartbeat_with_all_that_a_member_is_has_its_assignment(
    changed: Mapping[str, object], *, has_assignment: bool
) -> None:
    """As in Apache Kafka, where a client sends all of itself after an error."""
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    groups.create("orders", 1)
    joined = await groups.send(JOINING)
    assert joined.assignment is not None
    whole = replace(JOINING, member_epoch=joined.member_epoch, topic_partitions=joined.assignment.topic_partitions)
    answer = await groups.send(replace(whole, **changed))
    assert (answer.error_code, answer.assignment is not None) == (ErrorCode.NONE, has_assignment)
    await groups.close()


async def test_a_group_whose_records_cannot_be_written_is_as_the_log_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    assert not (await groups.send(JOINING)).error_code

    def fail(_: object) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(groups.coordinator, "commit", fail)
        with pytest.raises(StorageError, match="the disk is full"):
            await groups.send(replace(JOINING, member_id="other"))
    group = groups.consumer_group
    assert group is not None
    assert [*group.state.members] == ["member"]
    assert not (await groups.send(replace(JOINING, member_id="other"))).error_code
    await groups.close()


@pytest.mark.parametrize("failure", [StorageError("the disk is full"), OSError(28, "No space left on device")])
async def test_matches_of_a_regular_expression_that_cannot_be_written_are_found_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    groups.create("orders", 1)
    joining = replace(JOINING, subscribed_topic_names=None, subscribed_topic_regex="o.*")

    async def fail(_: Collection[str]) -> None:
        raise failure

    assert not (await groups.send(joining)).error_code
    with monkeypatch.context() as patched:
        patched.setattr(groups.coordinator, "prepare", fail)
        async with asyncio.timeout(5):
            while not caplog.messages:  # noqa: ASYNC110 there is no event for it
                await asyncio.sleep(0.01)
    assert caplog.messages == [f"Group 'g': its record cannot be written: {failure}"]
    group = groups.consumer_group
    assert group is not None
    assert not group.state.regexes
    await groups.wait(11)
    assert not (await groups.send(joining)).error_code
    assert await groups.resolved("o.*") == ("orders",)
    await groups.close()


async def test_an_expression_of_another_release_matches_no_topic(caplog: pytest.LogCaptureFixture) -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    groups.create("orders", 1)
    assert not (await groups.send(replace(JOINING, subscribed_topic_regex="o.*"))).error_code
    await groups.resolved("o.*")
    group = groups.consumer_group
    assert group is not None
    known = group.state.members["member"].metadata
    group.state.apply(ConsumerGroupMemberMetadataKey("g", "member"), replace(known, subscribed_topic_regex="["))
    group.state.regexes.clear()
    group.wanted_regexes = ("[",)
    await groups.wait(11)
    epoch = group.state.members["member"].epoch
    assert not (await groups.send(ConsumerGroupHeartbeatRequest("g", "member", epoch))).error_code
    assert await groups.resolved("[") == ()
    assert any("matches no topic" in message for message in caplog.messages)
    await groups.close()


async def test_a_group_that_is_closed_ends_the_search_for_topics() -> None:
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="0")
    groups.create("orders", 1)
    before = asyncio.all_tasks()
    await groups.send(replace(JOINING, subscribed_topic_names=None, subscribed_topic_regex="o.*"))
    begun = asyncio.all_tasks() - before
    assert begun
    await groups.close()
    assert all(task.done() for task in begun)


async def test_there_are_no_consumer_groups_where_the_broker_serves_none() -> None:
    only = {"group.coordinator.rebalance.protocols": "classic,streams"}
    async with EmbeddedBroker(only) as broker, connected_to(broker) as client:
        answer = await client.ask(JOINING, 1, ConsumerGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        refused = await client.ask(ConsumerGroupDescribeRequest(("g",)), 1, ConsumerGroupDescribeResponse)
        assert [each.error_code for each in refused.groups] == [ErrorCode.UNSUPPORTED_VERSION]


async def test_a_group_is_described_with_the_assignor_that_its_members_prefer_and_else_the_first() -> None:
    properties = {"group.consumer.assignors": "range,uniform"}
    async with EmbeddedBroker(properties, topics=["orders"]) as broker, connected_to(broker) as client:
        for preferred, named in ((None, "range"), ("uniform", "uniform")):
            joined = await client.ask(replace(JOINING, server_assignor=preferred), 1, ConsumerGroupHeartbeatResponse)
            answer = await client.ask(ConsumerGroupDescribeRequest(("g",)), 1, ConsumerGroupDescribeResponse)
            (group,) = answer.groups
            assert (group.error_code, group.group_epoch, group.assignor_name) == (0, joined.member_epoch, named)
            (member,) = group.members
            assert (member.member_id, member.member_epoch) == ("member", joined.member_epoch)
            (assigned,) = member.assignment.topic_partitions
            assert (assigned.topic_name, assigned.partitions) == ("orders", (0,))
            assert member.target_assignment == member.assignment
