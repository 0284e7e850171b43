"""Elections and reassignments at a twin of several brokers; those of one node are compared with Apache Kafka."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.admin import AdminClient, ElectionType, TopicPartition
from kafkawire.broker import EmbeddedBroker
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConfigRecord,
    FeatureLevelRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from kafkawire.protocol.errors import (
    EligibleLeadersNotAvailableError,
    InvalidReplicaAssignmentError,
    InvalidReplicationFactorError,
    NoReassignmentInProgressError,
    PreferredLeaderNotAvailableError,
)

TOPIC = Uuid(bytes(15) + b"\1")
DIRECTORY = Uuid(bytes(15) + b"\x09")
FIRST, LAGGING, LEADERLESS = (TopicPartition("orders", number) for number in range(3))
FENCED = 3


def broker_record(node_id: int) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(broker_id=node_id, fenced=node_id == FENCED, log_dirs=(DIRECTORY,))


def partition_record(number: int, replicas: tuple[int, ...], isr: tuple[int, ...], leader: int) -> PartitionRecord:
    directories = (DIRECTORY,) * len(replicas)
    return PartitionRecord(number, TOPIC, replicas, isr, leader=leader, leader_epoch=5, directories=directories)


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[AdminClient]:
    """At a twin of a cluster of four brokers, of which the third is fenced."""
    records = (
        FeatureLevelRecord("metadata.version", 30),
        *map(broker_record, (1, 2, 3, 4)),
        TopicRecord("orders", TOPIC),
        partition_record(0, (1, 2), (2, 1), 2),
        partition_record(1, (3, 2), (2,), 2),
        partition_record(2, (4, 3), (3,), -1),
    )
    write_segment(tmp_path / METADATA_LOG, 0, (Step(1000, records),))
    async with EmbeddedBroker(from_log=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        yield admin


async def state(admin: AdminClient, partition: TopicPartition) -> tuple[int | None, Sequence[int], Sequence[int]]:
    described = (await admin.describe_topics(["orders"]))["orders"].partitions[partition.partition]
    return described.leader, described.replicas, described.isr


async def test_the_preferred_leader_is_elected_if_it_is_in_sync(admin: AdminClient) -> None:
    elected = await admin.elect_leaders([FIRST, LAGGING])
    assert elected[FIRST] is True
    assert isinstance(elected.errors()[LAGGING], PreferredLeaderNotAvailableError)
    assert await state(admin, FIRST) == (1, (1, 2), (2, 1))
    assert (await admin.elect_leaders([FIRST]))[FIRST] is False


async def test_an_unclean_election_makes_a_live_replica_the_leader_and_only_it_is_in_sync(admin: AdminClient) -> None:
    elected = await admin.elect_leaders([LEADERLESS, FIRST], ElectionType.UNCLEAN)
    assert (elected[LEADERLESS], elected[FIRST]) == (True, False)
    assert await state(admin, LEADERLESS) == (4, (4, 3), (4,))


async def test_no_leader_is_elected_where_all_replicas_are_fenced(admin: AdminClient) -> None:
    (await admin.alter_partition_reassignments({LEADERLESS: [3]})).all()
    elected = await admin.elect_leaders([LEADERLESS], ElectionType.UNCLEAN)
    assert isinstance(elected.errors()[LEADERLESS], EligibleLeadersNotAvailableError)


async def test_elections_of_all_partitions_name_those_that_needed_one(admin: AdminClient) -> None:
    elected = await admin.elect_leaders()
    assert elected[FIRST] is True
    assert set(elected) == {FIRST, LAGGING, LEADERLESS}


@pytest.mark.parametrize(
    ("replicas", "leader", "isr"),
    [((2, 1), 2, (2, 1)), ((4,), 4, (4,)), ((4, 2), 2, (2, 4)), ((1,), 1, (1,)), ((1, 2, 4), 2, (2, 1, 4))],
)
async def test_a_reassignment_to_live_brokers_is_complete_at_once(
    admin: AdminClient, replicas: tuple[int, ...], leader: int, isr: tuple[int, ...]
) -> None:
    assert (await admin.alter_partition_reassignments({FIRST: replicas}))[FIRST] is None
    assert await state(admin, FIRST) == (leader, replicas, isr)
    assert await admin.list_partition_reassignments() == {}


async def test_a_reassignment_to_a_fenced_broker_waits_and_can_be_cancelled(admin: AdminClient) -> None:
    (await admin.alter_partition_reassignments({FIRST: (4, FENCED)})).all()
    ongoing = (await admin.list_partition_reassignments())[FIRST]
    assert (ongoing.replicas, ongoing.adding, ongoing.removing) == ((4, 3, 1, 2), (3, 4), (1, 2))
    assert await state(admin, FIRST) == (2, (4, 3, 1, 2), (2, 1, 4))
    assert await admin.list_partition_reassignments([LAGGING]) == {}
    assert (await admin.alter_partition_reassignments({FIRST: None}))[FIRST] is None
    assert await state(admin, FIRST) == (2, (1, 2), (2, 1))
    again = await admin.alter_partition_reassignments({FIRST: None})
    assert isinstance(again.errors()[FIRST], NoReassignmentInProgressError)


async def test_a_waiting_reassignment_can_be_replaced(admin: AdminClient) -> None:
    (await admin.alter_partition_reassignments({FIRST: (FENCED,)})).all()
    (await admin.alter_partition_reassignments({FIRST: (1, 4)})).all()
    assert await state(admin, FIRST) == (1, (1, 4), (1, 4))


async def test_brokers_that_there_are_not_and_other_numbers_of_replicas_are_refused(admin: AdminClient) -> None:
    unknown = await admin.alter_partition_reassignments({FIRST: (1, 9)})
    assert isinstance(unknown.errors()[FIRST], InvalidReplicaAssignmentError)
    longer = await admin.alter_partition_reassignments({FIRST: (1, 2, 4)}, allow_replication_factor_change=False)
    assert isinstance(longer.errors()[FIRST], InvalidReplicationFactorError)
    assert await state(admin, FIRST) == (2, (1, 2), (2, 1))


async def test_a_cancellation_loses_records_only_where_the_topic_allows_it(tmp_path: Path) -> None:
    """All replicas in sync are being added: without them only one that misses records could lead."""
    adding = PartitionRecord(
        0, TOPIC, (4, 1), (4,), leader=4, adding_replicas=(4,), removing_replicas=(1,), directories=(DIRECTORY,) * 2
    )
    records = (
        FeatureLevelRecord("metadata.version", 30), *map(broker_record, (1, 4)), TopicRecord("orders", TOPIC), adding,
    )  # fmt: skip
    write_segment(tmp_path / METADATA_LOG, 0, (Step(1000, records),))
    async with EmbeddedBroker(from_log=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        refused = await admin.alter_partition_reassignments({FIRST: None})
        assert isinstance(refused.errors()[FIRST], InvalidReplicaAssignmentError)
    allowed = Step(2000, (ConfigRecord(2, "orders", "unclean.leader.election.enable", "true"),))
    write_segment(tmp_path / METADATA_LOG, 0, (Step(1000, records), allowed))
    async with EmbeddedBroker(from_log=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.alter_partition_reassignments({FIRST: None})).all()
        assert await state(admin, FIRST) == (1, (1,), (1,))
