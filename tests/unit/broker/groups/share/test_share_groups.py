"""Share groups of a broker: sessions, restarts, topics that go, and groups that are deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.embedded.connection import connected_to
from tests.embedded.share_members import ShareClient

from kafkawire.admin import AdminClient
from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.logs import read_table
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import GroupIdNotFoundError, NonEmptyGroupError

AT_ONCE = {"group.share.assignment.interval.ms": "0", "offsets.topic.num.partitions": "3"}
TOPICS = (NewTopic("orders", num_partitions=4), NewTopic("payments", num_partitions=1))


@asynccontextmanager
async def broker_with_topics(data_dir: Path | None = None) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(AT_ONCE, clock=ManualClock(), data_dir=data_dir, topics=TOPICS) as broker:
        yield broker


async def described(broker: EmbeddedBroker, group: str = "g") -> dict[str, list[TopicPartition]]:
    """The members of a group and what they read."""
    async with AdminClient(broker.bootstrap_servers) as admin:
        found = (await admin.describe_share_groups([group]))[group]
        return {member.member_id: sorted(member.assignment) for member in found.members}


async def begun(broker: EmbeddedBroker, group: str = "g") -> list[TopicPartition]:
    """The partitions for which a group has states."""
    async with AdminClient(broker.bootstrap_servers) as admin:
        return sorted((await admin.list_share_group_offsets({group: None}))[group])


async def test_members_get_partitions_after_their_states_have_begun() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        first, second = ShareClient(client, "g", "a"), ShareClient(client, "g", "b")
        await first.join()
        assert first.partitions == []
        assert len(await begun(broker)) == 4
        await first.beat()
        assert first.partitions == [0, 1, 2, 3]
        await second.join()
        await first.beat()
        assert sorted(first.partitions + second.partitions) == [0, 1, 2, 3]
        assert len(first.partitions) == len(second.partitions) == 2
        others = [ShareClient(client, "g", f"c{number}") for number in range(6)]
        for member in others:
            await member.join()
        for member in (first, second, *others):
            await member.beat()
        assert {len(member.partitions) for member in (first, second, *others)} == {1}
        assert sorted(p for member in (first, second, *others) for p in member.partitions) == [0, 0, 1, 1, 2, 2, 3, 3]


async def test_states_begin_with_the_epoch_of_the_group_and_where_its_configuration_says(tmp_path: Path) -> None:
    """The start offset -1 is that of ``share.auto.offset.reset``."""
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        await ShareClient(client, "g", "a").join()
    fields = ("partition", "snapshot_epoch", "state_epoch", "record_leader_epoch", "start_offset")
    states = [
        tuple(row[field] for field in fields)
        for batch in read_table("share_snapshot", tmp_path)
        for row in batch.to_pylist()
    ]
    assert sorted(states) == [(partition, 0, 2, 0, -1) for partition in range(4)]


async def test_a_heartbeat_without_news_has_no_assignment() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        member = ShareClient(client, "g", "a")
        await member.join()
        await member.beat()
        for request, has_assignment in (
            (ShareGroupHeartbeatRequest("g", "a", member.epoch), False),
            (ShareGroupHeartbeatRequest("g", "a", member.epoch, subscribed_topic_names=("orders",)), True),
            (ShareGroupHeartbeatRequest("g", "a", 0, subscribed_topic_names=("orders",)), True),
        ):
            answer = await client.ask(request, 1, ShareGroupHeartbeatResponse)
            assert (answer.error_code, answer.assignment is not None) == (ErrorCode.NONE, has_assignment)
            assert answer.member_epoch == member.epoch, "nothing has changed"


async def test_a_silent_member_is_removed_after_its_session() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        silent, lively = ShareClient(client, "g", "a"), ShareClient(client, "g", "b")
        await silent.join()
        await lively.join()
        await broker.advance(44.0)
        await lively.beat()
        await broker.advance(1.5)
        assert [*await described(broker)] == ["b"]
        await lively.beat()
        assert lively.partitions == [0, 1, 2, 3]
        await silent.beat()
        assert silent.error == ErrorCode.UNKNOWN_MEMBER_ID


async def test_the_session_of_a_group_is_that_of_its_configuration() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        async with AdminClient(broker.bootstrap_servers) as admin:
            change = {ConfigResource.group("g"): [ConfigChange.set("share.session.timeout.ms", "50000")]}
            assert not (await admin.incremental_alter_configs(change)).errors()
        member = ShareClient(client, "g", "a")
        await member.join()
        await broker.advance(49.0)
        assert await described(broker)
        await broker.advance(1.5)
        assert not await described(broker)


async def test_groups_and_their_members_survive_a_restart(tmp_path: Path) -> None:
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        member = ShareClient(client, "g", "a")
        await member.join()
        await member.beat()
        before = await described(broker)
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        assert await described(broker) == before
        assert len(await begun(broker)) == 4
        member.connection = client
        await member.beat()
        assert (member.error, member.partitions) == (ErrorCode.NONE, [0, 1, 2, 3])
        await broker.advance(45.5)
        assert not await described(broker)


async def test_a_topic_that_is_deleted_is_forgotten(tmp_path: Path) -> None:
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        member = ShareClient(client, "g", "a", ("orders", "payments"))
        await member.join()
        await member.beat()
        assert member.partitions == [0, 0, 1, 2, 3]
        async with AdminClient(broker.bootstrap_servers) as admin:
            (await admin.delete_topics(["orders"])).values()
        await member.beat()
        assert await begun(broker) == [TopicPartition("payments", 0)]
        assert member.partitions == [0]
    batches = read_table("share_group_state_partition_metadata", tmp_path)
    *_, before, last = [row["initialized_topics"] for batch in batches for row in batch.to_pylist()]
    assert sorted(topic["topic_name"] for topic in before) == ["orders", "payments"]
    assert [topic["topic_name"] for topic in last] == ["payments"]


async def test_a_group_with_members_is_not_deleted_and_one_without_is() -> None:
    async with broker_with_topics() as broker, connected_to(broker) as client:
        member = ShareClient(client, "g", "a")
        await member.join()
        async with AdminClient(broker.bootstrap_servers) as admin:
            assert isinstance((await admin.delete_share_groups(["g"])).errors()["g"], NonEmptyGroupError)
            await member.leave()
            assert not (await admin.delete_share_groups(["g"])).errors()
            assert isinstance((await admin.delete_share_groups(["g"])).errors()["g"], GroupIdNotFoundError)
            assert "g" not in {group.group_id for group in (await admin.list_groups()).values()}
        assert await begun(broker) == []


async def test_a_group_reads_from_altered_offsets_on_until_they_are_deleted() -> None:
    first = TopicPartition("orders", 0)
    async with broker_with_topics() as broker, AdminClient(broker.bootstrap_servers) as admin:
        assert not (await admin.alter_share_group_offsets("g", {first: 7})).errors()
        listed = (await admin.list_share_group_offsets({"g": None}))["g"].values()
        assert {partition: each and each.start_offset for partition, each in listed.items()} == {first: 7}
        assert not (await admin.delete_share_group_offsets("g", ["orders"])).errors()
        assert (await admin.list_share_group_offsets({"g": None}))["g"].values() == {}
        again = (await admin.delete_share_group_offsets("g", ["orders"])).errors()["orders"]
        assert "There is no offset information to delete." in str(again)


@pytest.mark.parametrize("ends", ["the group", "its offsets"])
async def test_states_end_with_their_group_or_with_its_offsets(tmp_path: Path, ends: str) -> None:
    async with broker_with_topics(tmp_path) as broker, connected_to(broker) as client:
        member = ShareClient(client, "g", "a")
        await member.join()
        await member.leave()
        async with AdminClient(broker.bootstrap_servers) as admin:
            if ends == "the group":
                assert not (await admin.delete_share_groups(["g"])).errors()
            else:
                assert not (await admin.delete_share_group_offsets("g", ["orders"])).errors()
    states = [
        (row["partition"], row["tombstone"])
        for batch in read_table("share_snapshot", tmp_path)
        for row in batch.to_pylist()
    ]
    assert sorted(states) == [(partition, is_end) for partition in range(4) for is_end in (False, True)]
