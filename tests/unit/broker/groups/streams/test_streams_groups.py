"""Streams groups of a broker: tasks, sessions, restarts, internal topics, and groups that are deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.embedded.connection import connected_to
from tests.embedded.streams_members import (
    COUNTS_ORDERS,
    READS_ORDERS,
    StreamsClient,
    Subtopology,
    TopicInfo,
    Topology,
    joining,
)

from kafkawire.admin import AdminClient
from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.logs import read_table
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.groups.streams import StreamsGroupDescription
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import GroupIdNotFoundError, NonEmptyGroupError

AT_ONCE = {
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "3",
}
TOPICS = (NewTopic("orders", num_partitions=4),)
MISSING_INTERNAL_TOPICS, ASSIGNMENT_DELAYED = 3, 5


@asynccontextmanager
async def broker_with_topics(data_dir: Path | None = None, **properties: str) -> AsyncIterator[EmbeddedBroker]:
    own = {name.replace("_", "."): value for name, value in properties.items()}
    async with EmbeddedBroker({**AT_ONCE, **own}, clock=ManualClock(), data_dir=data_dir, topics=TOPICS) as broker:
        yield broker


async def described(broker: EmbeddedBroker) -> StreamsGroupDescription:
    async with AdminClient(broker.bootstrap_servers) as admin:
        return (await admin.describe_streams_groups(["g"]))["g"]


async def members(broker: EmbeddedBroker) -> list[str]:
    return sorted(member.member_id for member in (await described(broker)).members)


async def test_tasks_move_after_their_member_has_given_them_up() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        first, second = StreamsClient(client, "a"), StreamsClient(client, "b")
        await first.join()
        assert first.active == [0, 1, 2, 3]
        await second.join()
        assert second.active == []
        had = first.active
        await first.beat()
        assert len(first.active) == 2
        await second.beat()
        assert second.active == [], "the first may still process them"
        await first.beat()
        await second.beat()
        assert sorted([*first.active, *second.active]) == had
        assert (await described(broker)).state.value == "Stable"
        await first.leave()
        await second.beat()
        assert second.active == had


async def test_a_group_waits_for_members_before_it_assigns_tasks() -> None:
    async with (
        broker_with_topics(group_streams_initial_rebalance_delay_ms="3000") as broker,
        connected_to(broker) as client,
    ):
        first, second = StreamsClient(client, "a"), StreamsClient(client, "b")
        await first.join()
        await second.join()
        await broker.advance(2.9)
        await first.beat()
        assert (first.active, first.status) == ([], [ASSIGNMENT_DELAYED])
        await broker.advance(0.2)
        await first.beat()
        await second.beat()
        assert [len(first.active), len(second.active)] == [2, 2]
        assert first.status == second.status == []


async def test_a_silent_member_is_removed_after_its_session() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        silent, lively = StreamsClient(client, "a"), StreamsClient(client, "b")
        await silent.join()
        await lively.join()
        await broker.advance(44.0)
        await lively.beat()
        await broker.advance(1.5)
        assert await members(broker) == ["b"]
        await lively.beat()
        assert lively.active == [0, 1, 2, 3]
        await silent.beat()
        assert silent.error == ErrorCode.UNKNOWN_MEMBER_ID


async def test_a_member_that_keeps_its_tasks_is_removed_after_its_rebalance_timeout() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        greedy, other = StreamsClient(client, "a"), StreamsClient(client, "b")
        await greedy.join()
        had = greedy.active
        await other.join()
        for _ in range(2):
            greedy.active = had
            await greedy.beat()
            await broker.advance(4.0)
        assert await members(broker) == ["a", "b"]
        await broker.advance(2.1)
        assert await members(broker) == ["b"]
        await other.beat()
        assert other.active == had


async def test_the_properties_of_a_group_are_those_of_its_configuration() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        async with AdminClient(broker.bootstrap_servers) as admin:
            changes = [
                ConfigChange.set("streams.session.timeout.ms", "50000"),
                ConfigChange.set("streams.heartbeat.interval.ms", "7000"),
                ConfigChange.set("streams.initial.rebalance.delay.ms", "1000"),
            ]
            assert not (await admin.incremental_alter_configs({ConfigResource.group("g"): changes})).errors()
        answer = await client.ask(joining("a"), 0, StreamsGroupHeartbeatResponse)
        assert (answer.heartbeat_interval_ms, answer.active_tasks) == (7000, ())
        await broker.advance(49.0)
        assert await members(broker) == ["a"]
        await broker.advance(1.5)
        assert await members(broker) == []


async def test_the_interval_of_assignments_can_be_set_for_all_groups_while_the_broker_runs() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        first, second = StreamsClient(client, "a"), StreamsClient(client, "b")
        await first.join()
        async with AdminClient(broker.bootstrap_servers) as admin:
            change = {
                ConfigResource.broker_default(): [ConfigChange.set("group.streams.assignment.interval.ms", "9000")]
            }
            assert not (await admin.incremental_alter_configs(change)).errors()
        await second.join()
        assert second.status == [ASSIGNMENT_DELAYED]
        await broker.advance(9.0)
        await second.beat()
        assert second.status == []


async def test_groups_and_their_members_survive_a_restart(tmp_path: Path) -> None:
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        member, keeps = StreamsClient(client, "a", COUNTS_ORDERS), StreamsClient(client, "b", COUNTS_ORDERS)
        await member.join()
        await keeps.join()
        await member.beat()
        await keeps.beat()
        before = await described(broker)
        assert [len(each.assignment.active) for each in before.members].count(0) < 2
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        after = await described(broker)
        assert (after.members, after.state, after.group_epoch) == (before.members, before.state, before.group_epoch)
        member.connection = client
        tasks, epoch = member.active, member.epoch
        await member.beat()
        assert (member.error, member.active, member.epoch) == (ErrorCode.NONE, tasks, epoch)
        assert (await described(broker)).topology == before.topology
        await broker.advance(45.5)
        assert await members(broker) == []
    rows = [row for batch in read_table("group_history", tmp_path) for row in batch.to_pylist()]
    assert {row["member_id"] for row in rows} >= {"a", "b"}


async def test_streams_topology_of_a_group_has_partition_counts_from_a_heartbeat_on(tmp_path: Path) -> None:
    """The deviation ``streams-topology``."""

    async def counts(broker: EmbeddedBroker) -> list[int]:
        async with connected_to(broker) as client:
            answer = await client.ask(StreamsGroupDescribeRequest(("g",)), 0, StreamsGroupDescribeResponse)
        topology = answer.groups[0].topology
        assert topology is not None
        return [each.partitions for one in topology.subtopologies or () for each in one.state_changelog_topics]

    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        member = StreamsClient(client, "a", COUNTS_ORDERS)
        await member.join()
        await member.beat()
        assert await counts(broker) == [4]
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        assert await counts(broker) == [0]
        member.connection = client
        await member.beat()
        assert await counts(broker) == [4]


async def test_members_that_come_at_once_make_internal_topics_once() -> None:
    async with broker_with_topics() as broker, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected_to(broker)) for _ in range(5)]
        streamers = [StreamsClient(client, f"m{at}", COUNTS_ORDERS) for at, client in enumerate(clients)]
        await asyncio.gather(*(each.join() for each in streamers))
        for _ in range(3):
            for each in streamers:
                await each.beat()
                assert (each.error, each.status) == (ErrorCode.NONE, [])
        assert sorted(partition for each in streamers for partition in each.active) == [0, 1, 2, 3]
        async with AdminClient(broker.bootstrap_servers) as admin:
            assert "g-changes" in {*await admin.list_topics()}


async def test_streams_creation_errors_are_said_of_the_first_topics_and_forgotten_after_a_while() -> None:
    """The deviation ``streams-creation-errors``."""
    names = ["a.b", "a_b", *(f"g-{each}" for each in range(5))]
    topics = (NewTopic("a.b", num_partitions=1),)
    configs = (StreamsGroupHeartbeatRequest.KeyValue("cleanup.policy", "nonsense"),)
    changelogs = tuple(TopicInfo(name, 0, 0, configs) for name in names[1:])
    topology = Topology(0, (Subtopology("0", ("orders",), state_changelog_topics=changelogs),))
    async with broker_with_topics() as broker, connected_to(broker) as client:
        async with AdminClient(broker.bootstrap_servers) as admin:
            (await admin.create_topics(topics)).all()
        joined = await client.ask(joining("a", topology), 0, StreamsGroupHeartbeatResponse)
        assert [each.status_code for each in joined.status or ()] == [MISSING_INTERNAL_TOPICS]
        short = StreamsGroupHeartbeatRequest("g", "a", joined.member_epoch)

        async def detail() -> str:
            answer = await client.ask(short, 0, StreamsGroupHeartbeatResponse)
            (condition,) = answer.status or ()
            return condition.status_detail

        said = await detail()
        assert said.partition("Creation failed: ")[2].count(" (") == 3
        assert said.endswith("and 3 more.")
        await broker.advance(10.1)
        assert "Creation failed" not in await detail(), "it is tried again"
        assert "Creation failed" in await detail()


async def test_a_group_with_members_is_not_deleted_and_one_without_is() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        member = StreamsClient(client, "a")
        await member.join()
        async with AdminClient(broker.bootstrap_servers) as admin:
            assert isinstance((await admin.delete_streams_groups(["g"])).errors()["g"], NonEmptyGroupError)
            await member.leave()
            assert not (await admin.delete_streams_groups(["g"])).errors()
            assert isinstance((await admin.delete_streams_groups(["g"])).errors()["g"], GroupIdNotFoundError)
            assert "g" not in {group.group_id for group in (await admin.list_groups()).values()}
        await member.join()
        assert (member.epoch, member.active) == (2, [0, 1, 2, 3]), "it is a new group"


async def test_a_group_without_members_and_offsets_goes_after_a_while() -> None:
    async with broker_with_topics(offsets_retention_minutes="1") as broker, connected_to(broker) as client:
        member, stays = StreamsClient(client, "a"), StreamsClient(client, "b")
        await member.join()
        await broker.advance(700.0 - 660.0)
        await stays.join()
        await member.leave()
        await stays.leave()
        assert await members(broker) == []
        await broker.advance(601.0)
        async with AdminClient(broker.bootstrap_servers) as admin:
            errors = (await admin.describe_streams_groups(["g"])).errors()
        assert isinstance(errors["g"], GroupIdNotFoundError)


async def test_there_are_no_streams_groups_where_the_broker_serves_none() -> None:
    only = {"group.coordinator.rebalance.protocols": "classic,consumer"}
    request = StreamsGroupDescribeRequest(("g",))
    async with EmbeddedBroker(only) as broker, connected_to(broker) as client:
        answer = await client.ask(joining("a"), 0, StreamsGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        refused = await client.ask(request, 0, StreamsGroupDescribeResponse)
        assert [each.error_code for each in refused.groups] == [ErrorCode.UNSUPPORTED_VERSION]


async def test_a_copy_of_the_state_has_groups_without_members() -> None:
    async with broker_with_topics() as broker:
        async with connected_to(broker) as client:
            await StreamsClient(client, "a").join()
        state = await broker.copy_state()
    async with EmbeddedBroker(AT_ONCE, state=state) as copied:
        assert await members(copied) == []
        async with connected_to(copied) as client:
            member = StreamsClient(client, "b", READS_ORDERS)
            await member.join()
            assert member.active == [0, 1, 2, 3]


async def test_a_large_topology_is_answered_like_a_small_one() -> None:
    """Though others are served while it is read."""
    topics = [f"missing-{number}" for number in range(1000)]
    async with broker_with_topics() as broker, connected_to(broker) as client:
        for sources, status in ((("orders",), []), ((*topics, "orders"), [1])):
            request = joining("a", Topology(0, (Subtopology("0", sources),)), group=f"g-{len(sources)}")
            answer = await client.ask(request, 0, StreamsGroupHeartbeatResponse)
            assert (answer.error_code, [each.status_code for each in answer.status or ()]) == (ErrorCode.NONE, status)
