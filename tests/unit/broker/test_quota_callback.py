"""Quota callbacks of users at a running broker: their calls, and how they are replaced (KIP-257)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from tests.made.logs import METADATA_LOG, Step, write_segment
from tests.stand_ins.cluster import FAST

from kafkawire.admin.client import AdminClient
from kafkawire.broker import (
    ClientQuotaCallback,
    ClientQuotaEntity as ToldEntity,
    ClientQuotaType,
    ClusterMetadata,
    ClusterNode,
    ConfigurationError,
    EmbeddedBroker,
    PartitionMetadata,
    Reconfigurable,
)
from kafkawire.broker.sessions import Principal
from kafkawire.layout.uuid import Uuid
from kafkawire.model.configs.resources import ConfigChange, ConfigResource, ConfigResourceType
from kafkawire.model.quotas.entities import PRODUCER_BYTE_RATE, ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import FeatureLevelRecord, PartitionRecord, RegisterBrokerRecord, TopicRecord
from kafkawire.protocol.errors import InvalidRequestError, UnknownServerError

DEFAULTS = ConfigResource(ConfigResourceType.BROKER, "")
ALICE = ClientQuotaEntity.of_user("alice")


class Recording(ClientQuotaCallback):
    """Records its calls."""

    events: ClassVar[list[str]] = []

    def _record(self, what: str) -> None:
        self.events.append(f"{type(self).__name__} {what}")

    def configure(self, configs: Mapping[str, str]) -> None:
        self._record(f"is configured with {configs['quota.of.mine']}")

    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        return {"all": "one"}

    def quota_limit(self, quota_type: ClientQuotaType, metric_tags: Mapping[str, str]) -> float | None:
        return None

    def update_quota(self, quota_type: ClientQuotaType, quota_entity: ToldEntity, new_value: float) -> None:
        self._record(f"has {quota_type.name} {quota_entity.config_entities[0].name} {new_value}")

    def remove_quota(self, quota_type: ClientQuotaType, quota_entity: ToldEntity) -> None:
        self._record(f"has no {quota_type.name} {quota_entity.config_entities[0].name}")

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> bool:
        leaders = {name: [one.leader for one in partitions] for name, partitions in cluster.topics.items()}
        self._record(f"sees {len(cluster.nodes)} nodes, topics {leaders}")
        return False

    def close(self) -> None:
        self._record("is closed")


class Another(Recording):
    """The same by another name."""


class Failing(Recording):
    """Fails for every client."""

    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        raise ZeroDivisionError


class Unwilling(Recording):
    """Cannot be configured."""

    def configure(self, configs: Mapping[str, str]) -> None:
        raise ValueError("no")


class Adjustable(Recording, Reconfigurable):
    """Has a configuration of its own."""

    def reconfigurable_configs(self) -> Collection[str]:
        return {"quota.of.mine"}

    def validate_reconfiguration(self, configs: Mapping[str, str]) -> None:
        if configs["quota.of.mine"] == "broken":
            raise ZeroDivisionError
        if not configs["quota.of.mine"].isdecimal():
            raise ConfigurationError(f"quota.of.mine is a number, not {configs['quota.of.mine']}")

    def reconfigure(self, configs: Mapping[str, str]) -> None:
        self._record(f"is reconfigured with {configs['quota.of.mine']}")


class Seeing(Recording):
    """Keeps what it sees of the cluster."""

    seen: ClassVar[list[ClusterMetadata]] = []

    def configure(self, configs: Mapping[str, str]) -> None:
        self.seen.clear()

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> bool:
        self.seen.append(cluster)
        return False


def named(callback: type[ClientQuotaCallback]) -> str:
    return f"{__name__}:{callback.__name__}"


@pytest.fixture(autouse=True)
def _no_events() -> None:
    Recording.events.clear()


@asynccontextmanager
async def running(
    callback: type[ClientQuotaCallback] | None, data_dir: Path | None = None
) -> AsyncIterator[AdminClient]:
    properties = {"quota.of.mine": "5"} | ({"client.quota.callback.class": named(callback)} if callback else {})
    async with (
        EmbeddedBroker(properties, data_dir=data_dir) as broker,
        AdminClient(broker.bootstrap_servers, settings=FAST) as client,
    ):
        yield client


async def change(client: AdminClient, text: str | None) -> None:
    name = "client.quota.callback.class"
    one = ConfigChange.delete(name) if text is None else ConfigChange.set(name, text)
    (await client.incremental_alter_configs({DEFAULTS: [one]})).all()


async def test_a_callback_is_informed_of_everything(tmp_path: Path) -> None:
    async with running(Recording, tmp_path) as client:
        (await client.create_topics([NewTopic("t", 2)])).all()
        (await client.alter_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 5.0})])).all()
        (await client.alter_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: None})])).all()
        (await client.alter_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 7.0})])).all()
    assert Recording.events == [
        "Recording is configured with 5",
        "Recording sees 1 nodes, topics {}",
        "Recording sees 1 nodes, topics {'t': [1, 1]}",
        "Recording has PRODUCE alice 5.0",
        "Recording has no PRODUCE alice",
        "Recording has PRODUCE alice 7.0",
        "Recording is closed",
    ]
    Recording.events.clear()
    async with running(Recording, tmp_path) as client:
        pass
    assert Recording.events[:2] == ["Recording is configured with 5", "Recording has PRODUCE alice 7.0"]
    assert "Recording sees 1 nodes, topics {'t': [1, 1]}" in Recording.events


async def test_quota_callback_changed_while_the_broker_runs(tmp_path: Path) -> None:
    async with running(Recording, tmp_path) as client:
        (await client.alter_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 5.0})])).all()
        Recording.events.clear()
        await change(client, named(Another))
        assert Recording.events == [
            "Another is configured with 5",
            "Recording is closed",
            "Another has PRODUCE alice 5.0",
            "Another sees 1 nodes, topics {}",
        ]
        Recording.events.clear()
    async with running(Recording, tmp_path) as client:  # it is still the one that was set
        assert Recording.events[:2] == ["Another is closed", "Another is configured with 5"]
        Recording.events.clear()
        await change(client, None)
        assert Recording.events[:2] == ["Recording is configured with 5", "Another is closed"]
        await change(client, "")
        assert Recording.events[-1] == "Recording is closed"
        await change(client, named(Another))
        assert Recording.events[-3:-1] == ["Another is configured with 5", "Another has PRODUCE alice 5.0"]


@pytest.mark.parametrize("text", ["no.such.module:Class", f"{__name__}:NoSuchClass", f"{__name__}:named", "Class"])
async def test_classes_other_than_callbacks_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"client\.quota\.callback\.class"):
        async with EmbeddedBroker({"client.quota.callback.class": text}):
            pass
    async with running(Recording) as client:
        with pytest.RaisesGroup(pytest.RaisesExc(InvalidRequestError, match=r"client\.quota\.callback\.class")):
            await change(client, text)
        assert "Recording is closed" not in Recording.events


async def test_one_that_cannot_be_configured_does_not_take_over(caplog: pytest.LogCaptureFixture) -> None:
    async with running(Recording) as client:
        await change(client, named(Unwilling))
        assert "cannot be changed" in caplog.text
        assert "Recording is closed" not in Recording.events


async def test_one_that_cannot_be_asked_fails_requests_until_another_takes_over() -> None:
    async with running(None) as client:
        await change(client, named(Failing))
        results = await client.create_topics([NewTopic("t", 1)])
        (error,) = results.errors().values()
        assert isinstance(error, UnknownServerError)


async def test_a_single_broker_cannot_have_a_callback_of_its_own() -> None:
    async with running(None) as client:
        one = ConfigChange.set("client.quota.callback.class", named(Another))
        results = await client.incremental_alter_configs({ConfigResource(ConfigResourceType.BROKER, "1"): [one]})
        (error,) = results.errors().values()
        assert isinstance(error, InvalidRequestError)
        assert Recording.events == []


async def alter_own(client: AdminClient, value: str | None, resource: ConfigResource = DEFAULTS) -> None:
    one = ConfigChange.delete("quota.of.mine") if value is None else ConfigChange.set("quota.of.mine", value)
    (await client.incremental_alter_configs({resource: [one]})).all()


async def test_a_callback_is_configured_again_when_its_configuration_changes(tmp_path: Path) -> None:
    own = ConfigResource(ConfigResourceType.BROKER, "1")
    async with running(Adjustable, tmp_path) as client:
        Recording.events.clear()
        await alter_own(client, "6")
        await alter_own(client, "7", own)
        await alter_own(client, "8")  # the broker's own value counts
        (await client.incremental_alter_configs({DEFAULTS: [ConfigChange.set("other.name", "1")]})).all()
        await alter_own(client, None, own)
        assert Recording.events == [f"Adjustable is reconfigured with {value}" for value in (6, 7, 8)]
        Recording.events.clear()
    async with running(Adjustable, tmp_path):
        assert Recording.events[1:3] == ["Adjustable is configured with 5", "Adjustable is reconfigured with 8"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "quota.of.mine is a number, not x"),
        ("broken", r"Validation of dynamic config update of \[quota.of.mine\]"),
    ],
)
@pytest.mark.parametrize("name", ["", "1"])
async def test_a_callback_refuses_a_configuration(value: str, words: str, name: str) -> None:
    async with running(Adjustable) as client:
        Recording.events.clear()
        resource = ConfigResource(ConfigResourceType.BROKER, name)
        with pytest.RaisesGroup(pytest.RaisesExc(InvalidRequestError, match=words)):
            await alter_own(client, value, resource)
        assert "quota.of.mine" not in (await client.describe_configs([DEFAULTS]))[DEFAULTS]
        assert Recording.events == []


async def test_a_callback_sees_the_cluster_with_ids_racks_and_internal_topics() -> None:
    properties = {"client.quota.callback.class": named(Seeing), "broker.rack": "a"}
    async with EmbeddedBroker(properties) as broker, AdminClient(broker.bootstrap_servers, settings=FAST) as client:
        created = (await client.create_topics([NewTopic("t", 1), NewTopic("__transaction_state", 1)])).all()
        cluster = Seeing.seen[-1]
        assert cluster.cluster_id == broker.cluster_id
        assert cluster.nodes == (ClusterNode(1, broker.host, broker.port, "a"),)
        assert cluster.controller == cluster.nodes[0]
        assert cluster.topic_ids == {name: each.topic_id for name, each in created.items()}
        assert cluster.internal_topics == {"__transaction_state"}
        assert cluster.topics["t"] == (PartitionMetadata("t", 0, 1, (1,), (1,), ()),)
        before = len(Seeing.seen)
        (await client.delete_topics(["t"])).all()
        assert (len(Seeing.seen), set(Seeing.seen[-1].topics)) == (before + 1, {"__transaction_state"})


async def test_a_callback_of_a_twin_sees_all_brokers_and_offline_replicas(tmp_path: Path) -> None:
    def broker_record(node_id: int, *, fenced: bool) -> RegisterBrokerRecord:
        return RegisterBrokerRecord(broker_id=node_id, rack=f"rack-{node_id}", fenced=fenced)

    topic_id = Uuid(bytes(15) + b"\1")
    partition = PartitionRecord(0, topic_id, (1, 2), (1,), leader=1)
    brokers = broker_record(1, fenced=False), broker_record(2, fenced=True)
    records = FeatureLevelRecord("metadata.version", 30), *brokers, TopicRecord("t", topic_id), partition
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, records)])
    async with EmbeddedBroker({"client.quota.callback.class": named(Seeing)}, from_log=tmp_path) as broker:
        (cluster,) = Seeing.seen
        assert cluster.nodes == (ClusterNode(1, broker.host, broker.port, "rack-1"),)
        assert cluster.topics["t"] == (PartitionMetadata("t", 0, 1, (1, 2), (1,), (2,)),)
