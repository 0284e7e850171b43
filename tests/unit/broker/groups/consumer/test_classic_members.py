"""Classic groups that become consumer groups, and their members there: what they get, name and leave."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace
from tests.embedded.configurations import configuration_of
from tests.embedded.driven_mixed_groups import ClassicClient, DrivenMixedGroups
from tests.embedded.received import received
from tests.embedded.streams_members import joining as joining_streamer
from tests.unit.broker.groups.consumer.test_mixed_group import AT_ONCE, BEAT, LEAVE, SUBSCRIPTION, join, members, stable

from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.consumer.conversion import classic_metadata, upgraded
from kafkawire.broker.groups.consumer.group_state import ConsumerKey
from kafkawire.broker.groups.consumer.mixed_group import MixedGroup
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.consumer.states import GroupState, MemberState
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    GroupMetadataKey,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    StreamsGroupHeartbeatRequest,
    SyncGroupRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import encode_assignment, encode_subscription
from kafkawire.wire import Message


@pytest.fixture
async def groups() -> AsyncIterator[DrivenMixedGroups]:
    made = DrivenMixedGroups(**AT_ONCE)
    made.create("orders", 4)
    yield made
    await made.close()


@pytest.mark.parametrize("most", [1, 2, 3])
async def test_a_classic_group_becomes_a_consumer_group_if_it_is_not_too_large(most: int) -> None:
    groups = DrivenMixedGroups(**AT_ONCE, group_consumer_max_size=str(most))
    groups.create("orders", 4)
    clients = [ClassicClient(groups, "orders", instance_id=name) for name in ("one", "two")]
    for _ in range(6):
        for client in clients:
            await client.step()
    answer = await groups.send(replace(BEAT, instance_id="one"))
    if most == 1:
        assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        reason = "the group size exceeds the consumer group maximum size."
        assert answer.error_message == f"Cannot upgrade classic group g to consumer group because {reason}"
    else:
        assert answer.error_code == (ErrorCode.GROUP_MAX_SIZE_REACHED if most == 2 else ErrorCode.NONE)
    await groups.close()


@pytest.mark.parametrize("more", [-1, 0, 1])
async def test_a_classic_member_names_its_generation(groups: DrivenMixedGroups, more: int) -> None:
    await groups.send(BEAT)
    joined = await join(groups, "old")
    generation = joined.generation_id + more
    error = ErrorCode.ILLEGAL_GENERATION if more else ErrorCode.NONE
    assert (await groups.members.sync(SyncGroupRequest("g", generation, "old"))).error_code == error
    assert groups.members.heartbeat(HeartbeatRequest("g", generation, "old")) is error


async def test_a_classic_group_with_metadata_that_cannot_be_read_becomes_no_consumer_group(
    groups: DrivenMixedGroups,
) -> None:
    client = await stable(groups)
    assert groups.classic_group is not None
    groups.classic_group.roster.members[client.member_id].assignment = b"\0"
    answer = await groups.send(BEAT)
    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    reason = "the embedded consumer protocol is malformed."
    assert answer.error_message == f"Cannot upgrade classic group g to consumer group because {reason}"
    assert groups.consumer_group is None


async def test_metadata_of_another_release_that_cannot_be_read_fails_the_sync_and_keeps_the_group(
    groups: DrivenMixedGroups,
) -> None:
    """No classic group could have it."""
    await groups.send(BEAT)
    joined = await join(groups, "old")
    group = groups.consumer_group
    assert group is not None
    known = group.state.members["old"].metadata
    unreadable = replace(known, classic_member_metadata=classic_metadata(10_000, (("range", b"\0"),)))
    group.state.apply(ConsumerGroupMemberMetadataKey("g", "old"), unreadable)
    synced = await groups.members.sync(SyncGroupRequest("g", joined.generation_id, "old"))
    assert (synced.error_code, bytes(synced.assignment)) == (ErrorCode.UNKNOWN_SERVER_ERROR, b"")
    await groups.send(LEAVE)
    assert members(groups) == {"old"}


async def test_members_that_leave_a_consumer_group_are_answered_one_by_one(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    await groups.send(replace(BEAT, member_id="static", instance_id="one"))
    await join(groups, "old")
    asked = [("stranger", None), ("old", None), ("", "one"), ("old", "one"), ("", "two"), ("old", None)]
    answers = await groups.members.leave("g", [LeaveGroupRequest.MemberIdentity(*each) for each in asked])
    unknown, fenced = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID
    assert [(each.member_id, each.group_instance_id) for each in answers] == asked
    assert [each.error_code for each in answers] == [unknown, 0, 0, fenced, unknown, 0]
    assert members(groups) == {"new"}


async def test_a_classic_member_joins_again_when_its_partitions_have_become_free(groups: DrivenMixedGroups) -> None:
    first = await groups.send(BEAT)
    joined = await join(groups, "old")
    request = HeartbeatRequest("g", joined.generation_id, "old")
    assert (await groups.members.sync(SyncGroupRequest("g", joined.generation_id, "old"))).error_code == ErrorCode.NONE
    assert groups.members.heartbeat(request) is ErrorCode.NONE, "it waits"
    lives = ConsumerGroupHeartbeatRequest("g", "new", first.member_epoch)
    kept = (await groups.send(lives)).assignment
    assert kept is not None
    assert groups.members.heartbeat(request) is ErrorCode.NONE
    owned = tuple(
        ConsumerGroupHeartbeatRequest.TopicPartitions(each.topic_id, each.partitions) for each in kept.topic_partitions
    )
    await groups.send(replace(lives, topic_partitions=owned))
    assert groups.members.heartbeat(request) is ErrorCode.REBALANCE_IN_PROGRESS


async def test_a_group_that_becomes_classic_has_no_record_of_an_expression(groups: DrivenMixedGroups) -> None:
    await groups.send(replace(BEAT, subscribed_topic_names=None, subscribed_topic_regex="o.*"))
    await join(groups, "old")
    await groups.resolved("o.*")
    await groups.send(LEAVE)
    assert groups.consumer_group is None
    assert [key for key, *_ in groups.coordinator.state.by_id["g"].entries()] == [GroupMetadataKey("g")]


async def test_a_classic_group_is_taken_over_record_by_record(groups: DrivenMixedGroups) -> None:
    """Each member keeps what it has, and the rack of its subscription."""
    subscription = ConsumerProtocolSubscription(("orders", "missing"), rack_id="rack")
    metadata = encode_subscription(subscription, 3)
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
    request = JoinGroupRequest("g", 10_000, 20_000, "", "one", "consumer", protocols)
    joined = await groups.members.join(Joining(request, 9, "client", "/127.0.0.1"), lambda _: True)
    part = ConsumerProtocolAssignment.TopicPartition
    assigned = encode_assignment(ConsumerProtocolAssignment((part("orders", (2, 1)), part("missing", (0,)))), 1)
    given = SyncGroupRequest.SyncGroupRequestAssignment(joined.member_id, assigned)
    await groups.members.sync(
        SyncGroupRequest("g", joined.generation_id, joined.member_id, "one", assignments=(given,))
    )
    classic, topic = groups.classic_group, groups.topics.id_of("orders")
    assert classic is not None
    assert topic is not None
    who, epoch = ("g", joined.member_id), joined.generation_id
    current = ConsumerGroupCurrentMemberAssignmentValue
    target = ConsumerGroupTargetAssignmentMemberValue
    assert [*upgraded(classic, groups.topics)] == [
        (
            ConsumerGroupMemberMetadataKey(*who),
            ConsumerGroupMemberMetadataValue(
                instance_id="one",
                rack_id="rack",
                client_id="client",
                client_host="/127.0.0.1",
                subscribed_topic_names=("missing", "orders"),
                subscribed_topic_regex="",
                rebalance_timeout_ms=20_000,
                server_assignor=None,
                classic_member_metadata=classic_metadata(10_000, (("range", metadata),)),
            ),
        ),
        (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(epoch, groups.topics.hash_of(["orders"]))),
        (ConsumerGroupTargetAssignmentMemberKey(*who), target((target.TopicPartition(topic, (1, 2)),))),
        (ConsumerGroupTargetAssignmentMetadataKey("g"), ConsumerGroupTargetAssignmentMetadataValue(epoch, 0)),
        (
            ConsumerGroupCurrentMemberAssignmentKey(*who),
            current(epoch, epoch, 0, (current.TopicPartitions(topic, (1, 2), (epoch, epoch)),)),
        ),
    ]


@pytest.mark.parametrize(("rack_id", "kept"), [("other", "other"), ("", "rack"), (None, "rack")])
async def test_a_classic_member_has_the_rack_of_its_subscription_and_else_the_one_that_it_had(
    groups: DrivenMixedGroups, rack_id: str | None, kept: str
) -> None:
    await groups.send(BEAT)
    await groups.send(replace(BEAT, member_id="static", instance_id="one", rack_id="rack"))
    metadata = encode_subscription(ConsumerProtocolSubscription(("orders",), rack_id=rack_id), 3)
    joined = await join(groups, "", instance_id="one", metadata=metadata)
    group = groups.consumer_group
    assert group is not None
    assert group.state.members[joined.member_id].rack_id == kept


async def test_a_classic_member_joins_in_place_of_a_streams_group_without_members_only(
    groups: DrivenMixedGroups,
) -> None:
    assert await groups.send_as_streamer(joining_streamer("m")) is ErrorCode.NONE
    refused = await join(groups, "", instance_id="one")
    assert (refused.error_code, refused.member_id) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
    assert (await groups.members.sync(SyncGroupRequest("g", 1, "m"))).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    streams = groups.streams_group
    assert streams is not None
    assert [*streams.state.members] == ["m"]
    assert await groups.send_as_streamer(StreamsGroupHeartbeatRequest("g", "m", -1)) is ErrorCode.NONE
    client = ClassicClient(groups, "orders")
    await client.step()
    assert len(client.owned) == 4
    assert groups.streams_group is None
    assert [key for key, *_ in groups.coordinator.state.by_id["g"].entries()] == [GroupMetadataKey("g")]


@pytest.mark.parametrize(
    ("names", "joins"),
    [(("range",), False), (("roundrobin",), True), (("sticky",), False), (("range", "roundrobin"), True), ((), False)],
)
async def test_a_classic_member_supports_a_protocol_that_all_others_support(
    groups: DrivenMixedGroups, names: tuple[str, ...], *, joins: bool
) -> None:
    await groups.send(BEAT)
    error = ErrorCode.NONE if joins else ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    for member_id, supported, expected in (
        ("a", ("range", "roundrobin"), ErrorCode.NONE),
        ("b", ("sticky", "roundrobin"), ErrorCode.NONE),
        ("c", names, error),
    ):
        protocols = tuple(JoinGroupRequest.JoinGroupRequestProtocol(name, SUBSCRIPTION) for name in supported)
        request = JoinGroupRequest("g", 10_000, 20_000, member_id, None, "consumer", protocols)
        answer = await groups.members.join(Joining(request, 9, "client", "/127.0.0.1"), lambda _: True)
        assert answer.error_code == expected
    assert ("c" in members(groups)) is joins


async def test_a_group_that_was_read_has_the_epochs_of_its_records(groups: DrivenMixedGroups) -> None:
    """Which are compared by their values."""
    await groups.send(BEAT)
    await join(groups, "old")
    group = groups.consumer_group
    assert group is not None
    epoch, member = 1000, replace(group.state.members["old"], epoch=1000, state=MemberState.STABLE)
    records: list[tuple[ConsumerKey, Message]] = [
        (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(epoch, group.state.metadata_hash)),
        (ConsumerGroupTargetAssignmentMetadataKey("g"), ConsumerGroupTargetAssignmentMetadataValue(epoch, 1)),
        (ConsumerGroupMemberMetadataKey("g", "old"), member.metadata),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "old"), member.current),
    ]
    settings, now = ConsumerGroupSettings(configuration_of(), lambda _: {}), Now(1.0, 1_000_000)
    read = MixedGroup("g", [(key, received(value, 0)) for key, value in records], settings, groups.topics, now)
    assert read.state.state is GroupState.STABLE
    assert not read.sync(SyncGroupRequest("g", epoch, "old"), now).error_code
    assert read.beat(HeartbeatRequest("g", epoch, "old"), now) is ErrorCode.NONE
    assert read.changes() == []
