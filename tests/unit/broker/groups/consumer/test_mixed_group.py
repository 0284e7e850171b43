"""Consumer groups with classic members: slow members are removed, groups change their kind, and records follow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from msgspec.structs import replace
from tests.embedded.driven_mixed_groups import ClassicClient, DrivenMixedGroups

from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.classic.states import State
from kafkawire.broker.groups.consumer.conversion import encoded, upgraded
from kafkawire.broker.groups.consumer.states import GroupState
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupTargetAssignmentMetadataValue,
    ConsumerProtocolAssignment,
    GroupMetadataKey,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitKey,
    OffsetCommitValue,
    SyncGroupRequest,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import decode_assignment, encode_assignment
from kafkawire.wire import DecodeError

AT_ONCE = {"group_consumer_assignment_interval_ms": "0", "group_initial_rebalance_delay_ms": "0"}
BEAT = ConsumerGroupHeartbeatRequest("g", "new", 0, None, None, 20_000, ("orders",), None, None, ())
SUBSCRIPTION = b"\0\1\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\0"
LEAVE = ConsumerGroupHeartbeatRequest("g", "new", -1)


@pytest.fixture
async def groups() -> AsyncIterator[DrivenMixedGroups]:
    made = DrivenMixedGroups(**AT_ONCE)
    made.create("orders", 4)
    yield made
    await made.close()


async def stable(groups: DrivenMixedGroups, *, cooperative: bool = False) -> ClassicClient:
    """A classic group of one member, which has all partitions."""
    client = ClassicClient(groups, "orders", cooperative=cooperative)
    await client.step()
    assert len(client.owned) == 4
    return client


async def join(
    groups: DrivenMixedGroups,
    member_id: str,
    protocol: str = "range",
    instance_id: str | None = None,
    metadata: bytes = SUBSCRIPTION,
) -> JoinGroupResponse:
    """Join a consumer group, and send no SyncGroup."""
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol(protocol, metadata),)
    request = JoinGroupRequest("g", 10_000, 20_000, member_id, instance_id, "consumer", protocols)
    return await groups.members.join(Joining(request, 9, "client", "/127.0.0.1"), lambda _: True)


def members(groups: DrivenMixedGroups) -> set[str]:
    group = groups.consumer_group
    return set() if group is None else {*group.state.members}


async def beat(groups: DrivenMixedGroups) -> ConsumerGroupHeartbeatResponse:
    group = groups.consumer_group
    assert group is not None
    return await groups.send(ConsumerGroupHeartbeatRequest("g", "new", group.state.members["new"].epoch))


async def test_a_classic_member_that_does_not_join_again_is_removed(groups: DrivenMixedGroups) -> None:
    """Heartbeats keep it for its rebalance timeout, from the first that says so."""
    client = await stable(groups)
    await groups.send(BEAT)
    request = HeartbeatRequest("g", client.generation, client.member_id)
    for _ in range(3):
        await groups.wait(5.0)
        assert groups.members.heartbeat(request) is ErrorCode.REBALANCE_IN_PROGRESS
        await beat(groups)
    await groups.wait(9.0)
    assert groups.members.heartbeat(request) is ErrorCode.REBALANCE_IN_PROGRESS
    await groups.wait(6.5)
    assert members(groups) == {"new"}


async def test_a_classic_member_that_does_not_sync_is_removed(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    joined = await join(groups, "old")
    for _ in range(4):
        await groups.wait(4.9)
        groups.members.heartbeat(HeartbeatRequest("g", joined.generation_id, "old"))
        await beat(groups)
        assert members(groups) == {"new", "old"}
    await groups.wait(0.5)
    assert members(groups) == {"new"}


async def test_a_member_that_syncs_after_the_next_assignment_joins_again(groups: DrivenMixedGroups) -> None:
    """Unless it is to give up partitions: it gets what it keeps, and joins again after that."""
    client = await stable(groups)
    sync = SyncGroupRequest("g", client.generation, client.member_id)
    await groups.send(BEAT)
    assert (await groups.members.sync(sync)).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    metadata = b"\0\1\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\1\0\6orders\0\0\0\4" + bytes(
        byte for partition in range(4) for byte in (0, 0, 0, partition)
    )
    joined = await join(groups, client.member_id, metadata=metadata)
    sync = replace(sync, generation_id=joined.generation_id)
    for member_id in ("other", "third"):
        synced = await groups.members.sync(sync)
        assert synced.error_code == ErrorCode.NONE
        (topic,) = decode_assignment(synced.assignment)[0].assigned_partitions
        assert len(topic.partitions) == 2
        await groups.send(replace(BEAT, member_id=member_id))
    assert groups.members.heartbeat(HeartbeatRequest("g", joined.generation_id, client.member_id)) is (
        ErrorCode.REBALANCE_IN_PROGRESS
    )


async def test_a_classic_member_has_a_session_of_its_own(groups: DrivenMixedGroups) -> None:
    client = await stable(groups)
    await groups.send(BEAT)
    await groups.restart()
    await groups.wait(9.9)
    assert members(groups) == {"new", client.member_id}
    await groups.wait(0.2)
    assert members(groups) == {"new"}


async def test_a_group_whose_last_consumer_is_gone_becomes_classic(groups: DrivenMixedGroups) -> None:
    client = await stable(groups)
    await groups.send(BEAT)
    for _ in range(6):
        await groups.wait(9.0)
        await client.step()
    assert groups.consumer_group is None
    assert groups.classic_group is not None
    assert [*groups.classic_group.roster.members] == [client.member_id]
    await client.step()
    await client.step()
    assert len(client.owned) == 4


@pytest.mark.parametrize(
    ("policy", "upgrades", "joins", "downgrades"),
    [
        ("disabled", False, False, False),
        ("upgrade", True, True, False),
        ("downgrade", False, True, True),
        ("bidirectional", True, True, True),
    ],
)
async def test_policies(policy: str, *, upgrades: bool, joins: bool, downgrades: bool) -> None:
    groups = DrivenMixedGroups(**AT_ONCE, group_consumer_migration_policy=policy)
    groups.create("orders", 4)
    client = await stable(groups)
    answer = await groups.send(BEAT)
    assert answer.error_code == (ErrorCode.NONE if upgrades else ErrorCode.GROUP_ID_NOT_FOUND)
    await client.leave()
    await groups.send(BEAT)
    joined = await join(groups, "old")
    assert joined.error_code == (ErrorCode.NONE if joins else ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    await groups.send(LEAVE)
    assert (groups.classic_group is not None) == downgrades
    await groups.close()


async def test_a_group_that_changes_its_kind_keeps_its_offsets_and_no_other_record(groups: DrivenMixedGroups) -> None:
    client = await stable(groups)
    await groups.coordinator.prepare(["g"])
    groups.coordinator.commit([(OffsetCommitKey("g", "orders", 0), OffsetCommitValue(offset=7))])
    await groups.send(BEAT)
    stored = groups.coordinator.state.by_id["g"]
    assert len(stored.records) == 2 + 2 * 3  # of the group, and of each member
    assert stored.size == len(stored.records) + 1
    await groups.send(LEAVE)
    keys = [key for key, *_ in stored.entries()]
    assert keys == [GroupMetadataKey("g"), OffsetCommitKey("g", "orders", 0)]
    group = groups.classic_group
    assert group is not None
    assert group.roster.leader == client.member_id


@pytest.mark.parametrize("has_members", [True, False])
async def test_the_record_of_a_classic_group_is_deleted_before_those_of_the_consumer_group(
    groups: DrivenMixedGroups, monkeypatch: pytest.MonkeyPatch, *, has_members: bool
) -> None:
    """When Apache Kafka reads the deletion, it removes the group of this id, of either kind."""
    client = await stable(groups)
    if not has_members:
        await client.leave()
    written = list[Change]()
    commit = groups.coordinator.commit

    def noted(changes: Sequence[Change]) -> None:
        written.extend(changes)
        commit(changes)

    monkeypatch.setattr(groups.coordinator, "commit", noted)
    await groups.send(BEAT)
    assert written[0] == (GroupMetadataKey("g"), None)
    assert len(written) > 1
    assert not any(isinstance(key, GroupMetadataKey) for key, _ in written[1:])


async def test_the_assignment_of_a_leader_has_no_time_so_that_the_next_one_need_not_wait_for_it() -> None:
    groups = DrivenMixedGroups(group_initial_rebalance_delay_ms="0", group_consumer_assignment_interval_ms="1000")
    groups.create("orders", 4)
    client = await stable(groups)
    assert groups.classic_group is not None
    taken_over = upgraded(groups.classic_group, groups.topics)
    written = [value for _, value in taken_over if isinstance(value, ConsumerGroupTargetAssignmentMetadataValue)]
    assert written == [ConsumerGroupTargetAssignmentMetadataValue(client.generation, 0)]
    await groups.send(BEAT)
    group = groups.consumer_group
    assert group is not None
    assert len(group.state.targets) == 2
    await groups.close()


async def test_a_partition_that_a_leader_gave_to_two_members_is_not_taken_over(groups: DrivenMixedGroups) -> None:
    clients = [ClassicClient(groups, "orders"), ClassicClient(groups, "orders")]
    for _ in range(6):
        for client in clients:
            await client.step()
    group = groups.classic_group
    assert group is not None
    assert len(group.roster.members) == 2
    twice = encode_assignment(
        ConsumerProtocolAssignment((ConsumerProtocolAssignment.TopicPartition("orders", (0,)),)), 1
    )
    for member in group.roster.members.values():
        member.assignment = twice
    answer = await groups.send(BEAT)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert groups.consumer_group is None


async def test_a_group_that_no_classic_record_has_room_for_stays_a_consumer_group(groups: DrivenMixedGroups) -> None:
    """A classic group has one record for all members, and a consumer group one for each."""
    await groups.send(BEAT)
    for name in ("first", "second"):
        assert not (await join(groups, name, metadata=SUBSCRIPTION + bytes(600_000))).error_code
    await groups.send(LEAVE)
    group = groups.consumer_group
    assert group is not None
    assert {*group.state.members} == {"first", "second"}
    assert not (await groups.send(BEAT)).error_code


@pytest.mark.parametrize("is_replaced", [True, False])
@pytest.mark.parametrize(("most", "is_classic"), [(1, False), (2, True), (3, True)])
async def test_a_group_that_is_larger_than_a_classic_one_may_be_stays_a_consumer_group(
    most: int, *, is_classic: bool, is_replaced: bool
) -> None:
    """Whether its last consumer leaves, or comes back as a static member with the classic protocol."""
    groups = DrivenMixedGroups(**AT_ONCE, group_max_size=str(most))
    groups.create("orders", 4)
    await groups.send(replace(BEAT, instance_id="one"))
    await join(groups, "a")
    if is_replaced:
        other = (await join(groups, "", instance_id="one")).member_id
    else:
        other = (await join(groups, "b")).member_id
        await groups.send(replace(LEAVE, instance_id="one"))
    classic = groups.classic_group
    assert (classic is not None) == is_classic
    assert (members(groups) if classic is None else {*classic.roster.members}) == {"a", other}
    await groups.close()


async def test_a_group_whose_last_member_leaves_stays_a_consumer_group(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    await groups.send(LEAVE)
    assert groups.classic_group is None
    assert groups.consumer_group is not None
    assert groups.consumer_group.state.state is GroupState.EMPTY


async def test_a_member_that_changes_its_protocol_has_no_timers_of_the_other(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    await join(groups, "new")
    await groups.send(BEAT)
    for _ in range(10):
        await groups.wait(4.0)
        await beat(groups)
    group = groups.consumer_group
    assert group is not None
    assert group.state.state is GroupState.STABLE
    assert len(group.timers) == 1


async def test_a_group_whose_last_consumer_is_static_and_returns_with_the_classic_protocol_becomes_classic(
    groups: DrivenMixedGroups,
) -> None:
    await groups.send(replace(BEAT, instance_id="one"))
    await groups.send(replace(BEAT, member_id="other"))
    await join(groups, "", instance_id="one")
    assert groups.consumer_group is not None, "another has the consumer protocol"
    await groups.send(replace(LEAVE, member_id="other"))
    assert groups.consumer_group is None


async def test_a_static_member_of_the_classic_protocol_that_returns_changes_no_group(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    for _ in range(2):
        await join(groups, "", instance_id="one")
        assert len(members(groups)) == 2
    await groups.send(replace(BEAT, member_id="static", instance_id="two"))
    await groups.send(LEAVE)
    assert len(members(groups)) == 2
    await join(groups, "", instance_id="two")
    assert groups.consumer_group is None
    assert groups.classic_group is not None
    assert {*groups.classic_group.roster.static_ids} == {"one", "two"}


async def test_the_memory_of_classic_metadata_is_counted(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    group = groups.consumer_group
    assert group is not None
    before = group.size
    await join(groups, "old", "x" * 10_000)
    assert group.size > before + 10_000


async def test_requests_of_clients_that_are_no_classic_members(groups: DrivenMixedGroups) -> None:
    await groups.send(BEAT)
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    for member_id in ("new", "stranger"):
        assert groups.members.heartbeat(HeartbeatRequest("g", 2, member_id)) is unknown
        assert (await groups.members.sync(SyncGroupRequest("g", 2, member_id))).error_code == unknown


async def test_a_classic_member_in_place_of_the_last_consumer_has_its_partitions(groups: DrivenMixedGroups) -> None:
    await groups.send(replace(BEAT, instance_id="one"))
    joined = await join(groups, "", instance_id="one")
    classic = groups.classic_group
    assert classic is not None
    assert (classic.state, classic.generation) == (State.STABLE, joined.generation_id)
    synced = await groups.members.sync(SyncGroupRequest("g", joined.generation_id, joined.member_id, "one"))
    (topic,) = decode_assignment(synced.assignment)[0].assigned_partitions
    assert (topic.topic, sorted(topic.partitions)) == ("orders", [0, 1, 2, 3])


async def test_only_new_regular_expressions_begin_work_beside_heartbeats(groups: DrivenMixedGroups) -> None:
    """While they are resolved, heartbeats do not begin that again."""
    regex = replace(BEAT, member_id="regex", subscribed_topic_names=None, subscribed_topic_regex="orders.*")
    await groups.send(BEAT)
    idle = asyncio.all_tasks()
    await beat(groups)
    assert asyncio.all_tasks() == idle
    await groups.send(regex)
    assert len(asyncio.all_tasks()) == len(idle) + 1
    await groups.send(replace(regex, member_id="other", subscribed_topic_regex="o.*"))
    await beat(groups)
    assert len(asyncio.all_tasks()) == len(idle) + 1


@pytest.mark.parametrize(
    ("protocol_type", "protocol_name", "error"),
    [
        (None, None, ErrorCode.NONE),
        (b"consumer", b"range", ErrorCode.NONE),
        (b"connect", b"range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (b"streams", b"range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (b"consumer", b"cooperative", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        (b"consumer", b"roundrobin", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
async def test_a_sync_may_name_the_first_protocol_of_the_member(
    groups: DrivenMixedGroups, protocol_type: bytes | None, protocol_name: bytes | None, error: ErrorCode
) -> None:
    await groups.send(BEAT)
    metadata = b"\0\1\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\0"
    protocols = tuple(JoinGroupRequest.JoinGroupRequestProtocol(name, metadata) for name in ("range", "roundrobin"))
    joining = JoinGroupRequest("g", 10_000, 20_000, "old", None, "consumer", protocols)
    joined = await groups.members.join(Joining(joining, 9, "client", "/127.0.0.1"), lambda _: True)
    assert (joined.error_code, joined.protocol_type, joined.protocol_name) == (ErrorCode.NONE, "consumer", "range")
    name = None if protocol_name is None else protocol_name.decode()
    type_name = None if protocol_type is None else protocol_type.decode()
    request = SyncGroupRequest("g", joined.generation_id, "old", None, type_name, name)
    assert (await groups.members.sync(request)).error_code == error


@pytest.mark.parametrize("protocol_type", ["", "connect", "consumers", "streams"])
async def test_only_consumers_join_a_consumer_group(groups: DrivenMixedGroups, protocol_type: str) -> None:
    await groups.send(BEAT)
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", b"\0\0\0\0\0\0\xff\xff\xff\xff"),)
    request = JoinGroupRequest("g", 10_000, 20_000, "", None, protocol_type, protocols)
    answer = await groups.members.join(Joining(request, 9, "client", "/127.0.0.1"), lambda _: True)
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert members(groups) == {"new"}


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\1\0\0\0\1\0\6order"])
async def test_a_subscription_that_cannot_be_read_is_refused(groups: DrivenMixedGroups, metadata: bytes) -> None:
    """With the error of Apache Kafka, which has no other one for it."""
    await groups.send(BEAT)
    assert (await join(groups, "old", metadata=metadata)).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert members(groups) == {"new"}
    assert (await join(groups, "old")).error_code == ErrorCode.NONE
    assert members(groups) == {"new", "old"}


@pytest.mark.parametrize("is_classic", [True, False])
@pytest.mark.parametrize("order", [("AaBB", "BBAa"), ("BBAa", "AaBB")])
async def test_a_member_that_joins_counts_last_among_those_of_one_hash(
    order: tuple[str, str], *, is_classic: bool
) -> None:
    """As in Apache Kafka, whose group does not have it yet when partitions are assigned."""
    groups = DrivenMixedGroups(group_consumer_assignment_interval_ms="1000")
    groups.create("orders", 3)
    for member_id in ("first", *order):
        if member_id == order[1]:
            groups.clock.advance(2)  # both get partitions now
        if is_classic and member_id != "first":
            assert (await join(groups, member_id)).error_code == ErrorCode.NONE
        else:
            assert (await groups.send(replace(BEAT, member_id=member_id))).error_code == ErrorCode.NONE
    group = groups.consumer_group
    assert group is not None
    targets = [[*group.state.target(member_id).values()] for member_id in ("first", *order)]
    assert targets == [[(0,)], [(1,)], [(2,)]]
    await groups.close()


@pytest.mark.parametrize(("version", "is_member"), [(3, True), (4, False), (9, False)])
async def test_a_client_joins_a_consumer_group_with_the_id_that_it_gets_since_version_4(
    groups: DrivenMixedGroups, version: int, *, is_member: bool
) -> None:
    await groups.send(BEAT)
    metadata = b"\0\1\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\0"
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
    request = JoinGroupRequest("g", 10_000, 20_000, "", None, "consumer", protocols)
    answer = await groups.members.join(Joining(request, version, "client", "/127.0.0.1"), lambda _: True)
    assert answer.error_code == (ErrorCode.NONE if is_member else ErrorCode.MEMBER_ID_REQUIRED)
    assert (answer.member_id in members(groups)) == is_member


@pytest.mark.parametrize("version", [-1, -2])
def test_an_assignment_has_no_version_below_0(groups: DrivenMixedGroups, version: int) -> None:
    with pytest.raises(DecodeError, match=f"there is no version {version}"):
        encoded((), version.to_bytes(2, signed=True), groups.topics)


@pytest.mark.parametrize(("version", "answered"), [(0, 0), (3, 3), (4, 3), (9, 3)])
async def test_an_assignment_has_the_version_of_the_subscription_up_to_the_newest(
    groups: DrivenMixedGroups, version: int, answered: int
) -> None:
    await groups.send(BEAT)
    metadata = version.to_bytes(2) + b"\0\0\0\1\0\6orders\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff"
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
    request = JoinGroupRequest("g", 10_000, 20_000, "old", None, "consumer", protocols)
    joined = await groups.members.join(Joining(request, 9, "client", "/127.0.0.1"), lambda _: True)
    synced = await groups.members.sync(SyncGroupRequest("g", joined.generation_id, "old"))
    assert synced.error_code == ErrorCode.NONE
    assert int.from_bytes(bytes(synced.assignment)[:2]) == answered
