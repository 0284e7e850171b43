"""Brokers that begin with a copy of another's state, and change it without the others seeing it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.embedded.connection import BrokerConnection, connected_to
from tests.embedded.filled_state import BILLING, PROPERTIES, fill
from tests.unit.broker.test_records_on_disk import create, fetched, listed, produce

from kafkawire.admin import (
    AclBindingFilter,
    AdminClient,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigResource,
    NewTopic,
    ScramDeletion,
    ScramMechanism,
    TopicPartition,
)
from kafkawire.broker import ConfigurationError, EmbeddedBroker, ThreadedBroker
from kafkawire.declared import ClusterState, read_cluster
from kafkawire.protocol import (
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

ORDERS = TopicPartition("orders", 0)
LATEST = -1
NO_DELAY = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(params=["memory", "disk"])
def data_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path if request.param == "disk" else None


def seen(broker: ThreadedBroker) -> tuple[ClusterState, object]:
    """All that an admin client sees, apart from records."""
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        return admin.run(read_cluster).state, admin.list_consumer_group_offsets(["billing"]).all()


def change_everything(broker: ThreadedBroker) -> None:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.delete_topics(["payments"]).all()
        admin.create_topics([NewTopic("more")]).all()
        admin.create_partitions({"orders": 5}).all()
        admin.incremental_alter_configs({ConfigResource.topic("orders"): [ConfigChange.set("retention.ms", "1")]}).all()
        admin.delete_acls([AclBindingFilter()]).all()
        user = ClientQuotaEntity(user="alice")
        admin.alter_client_quotas([ClientQuotaAlteration(user, {"producer_byte_rate": None})]).all()
        admin.alter_user_scram_credentials([ScramDeletion("bob", ScramMechanism.SCRAM_SHA_512)]).all()
        admin.alter_consumer_group_offsets("billing", {ORDERS: 7}).all()


def test_a_broker_begins_with_the_whole_state(data_dir: Path | None) -> None:
    with ThreadedBroker(PROPERTIES, data_dir=data_dir) as prepared:
        with BlockingAdminClient(prepared.bootstrap_servers) as admin:
            fill(admin)
            admin.alter_consumer_group_offsets("billing", {ORDERS: 2}).all()
        before, state = seen(prepared), prepared.copy_state()
    assert before[0].acls == frozenset(BILLING)
    with ThreadedBroker(PROPERTIES, state=state) as broker:
        assert seen(broker) == before
        assert broker.cluster_id == prepared.cluster_id


def test_changes_are_seen_neither_in_the_copy_nor_in_brokers_that_began_with_it(data_dir: Path | None) -> None:
    with ThreadedBroker(PROPERTIES, data_dir=data_dir) as prepared:
        with BlockingAdminClient(prepared.bootstrap_servers) as admin:
            fill(admin)
            admin.alter_consumer_group_offsets("billing", {ORDERS: 2}).all()
        before, state = seen(prepared), prepared.copy_state()
        with ThreadedBroker(PROPERTIES, state=state) as one, ThreadedBroker(PROPERTIES, state=state) as other:
            change_everything(one)
            assert seen(one) != before
            assert seen(other) == before
            assert seen(prepared) == before
            change_everything(prepared)
        with ThreadedBroker(PROPERTIES, state=state) as later:
            assert seen(later) == before


def test_a_broker_begins_with_the_copy_again_when_it_restarts() -> None:
    with ThreadedBroker(PROPERTIES, topics=["orders", "payments"]) as prepared:
        state = prepared.copy_state()
    with ThreadedBroker(PROPERTIES, state=state) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.delete_topics(["orders"]).all()
        broker.restart()
        assert set(admin.list_topics()) == {"orders", "payments"}


async def test_records_are_the_same_and_stay_apart(data_dir: Path | None) -> None:
    async with EmbeddedBroker(data_dir=data_dir) as prepared, connected_to(prepared) as client:
        await create(client)
        await produce(client, b"a", b"b", producer_id=4, sequence=0)
        state = await prepared.copy_state()
        await produce(client, b"only in the first")
    async with EmbeddedBroker(state=state) as one, EmbeddedBroker(state=state) as other:
        async with connected_to(one) as client:
            assert await fetched(client) == [b"a", b"b"]
            again = await produce(client, b"a", b"b", producer_id=4, sequence=0)
            assert again.base_offset == 0, "the batch is known, and not appended again"
            await produce(client, b"c", producer_id=4, sequence=2)
        async with connected_to(other) as client:
            assert (await listed(client, LATEST)).offset == 2
            await produce(client, b"d", producer_id=4, sequence=2)
            assert await fetched(client) == [b"a", b"b", b"d"]
        async with connected_to(one) as client:
            assert await fetched(client) == [b"a", b"b", b"c"]


async def test_records_that_one_broker_deletes_are_there_for_others() -> None:
    async with EmbeddedBroker() as prepared, connected_to(prepared) as client:
        await create(client)
        await produce(client, b"a", b"b")
        state = await prepared.copy_state()
    partition = TopicPartition("t", 0)
    async with EmbeddedBroker(state=state) as one, AdminClient(one.bootstrap_servers) as admin:
        (await admin.delete_records({partition: -1})).all()
        await one.clean_records()
        (await admin.delete_topics(["t"])).all()
    async with EmbeddedBroker(state=state) as other, connected_to(other) as client:
        assert await fetched(client) == [b"a", b"b"]


async def test_a_group_has_its_offsets_and_no_members() -> None:
    async with EmbeddedBroker(NO_DELAY) as prepared, connected_to(prepared) as client:
        await create(client)
        await _join_and_commit(client, 5)
        state = await prepared.copy_state()
    async with EmbeddedBroker(state=state) as broker, AdminClient(broker.bootstrap_servers) as admin:
        group = (await admin.describe_classic_groups(["g"]))["g"]
        assert (group.state.value, group.members) == ("Empty", ())
        offsets = (await admin.list_consumer_group_offsets(["g"]))["g"]
        committed = offsets[TopicPartition("t", 0)]
        assert committed is not None
        assert committed.offset == 5


async def test_a_broker_that_does_not_run_has_no_state_to_copy() -> None:
    broker = EmbeddedBroker()
    with pytest.raises(RuntimeError, match="does not run"):
        await broker.copy_state()
    async with broker:
        pass
    with pytest.raises(RuntimeError, match="does not run"):
        await broker.copy_state()


def test_arguments_that_contradict_a_state_are_refused(tmp_path: Path) -> None:
    with ThreadedBroker({"node.id": "5"}) as prepared:
        state = prepared.copy_state()
    with pytest.raises(ConfigurationError, match=r"set node\.id to 5"):
        ThreadedBroker(state=state)
    with pytest.raises(ValueError, match="copy the directory"):
        ThreadedBroker({"node.id": "5"}, state=state, data_dir=tmp_path)
    with pytest.raises(ValueError, match="copy the directory"):
        ThreadedBroker({"node.id": "5"}, state=state, from_log=tmp_path)


async def _join_and_commit(client: BrokerConnection, offset: int) -> None:
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", b""),)
    joining = JoinGroupRequest("g", 60_000, 60_000, protocol_type="consumer", protocols=protocols)
    joined = await client.ask(joining, 3, JoinGroupResponse)
    assignment = (SyncGroupRequest.SyncGroupRequestAssignment(joined.member_id, b""),)
    await client.ask(SyncGroupRequest("g", 1, joined.member_id, assignments=assignment), 3, SyncGroupResponse)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(
        "t", partitions=(OffsetCommitRequest.OffsetCommitRequestPartition(0, offset),)
    )
    committed = await client.ask(
        OffsetCommitRequest("g", 1, joined.member_id, topics=(topic,)), 7, OffsetCommitResponse
    )
    assert not committed.topics[0].partitions[0].error_code
