"""A broker as a whole: it starts, remembers, halts and stops."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from pathlib import Path

import pytest
from tests.kafka_dumps import FIXTURES

from kafkawire.admin import AdminClient, ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.broker import ConfigurationError, DataDirectoryError, EmbeddedBroker, StorageError

QUOTA = ClientQuotaAlteration(ClientQuotaEntity({"user": "alice"}), {"producer_byte_rate": 1000.0})


async def alter(broker: EmbeddedBroker) -> None:
    async with AdminClient(broker.bootstrap_servers) as admin:
        (await admin.alter_client_quotas([QUOTA], timeout=20)).all()


async def quotas(broker: EmbeddedBroker) -> dict[ClientQuotaEntity, dict[str, float]]:
    async with AdminClient(broker.bootstrap_servers) as admin:
        found = (await admin.describe_client_quotas([ClientQuotaFilter()])).union()
        return {entity: dict(values) for entity, values in found.items()}


async def test_its_addresses_are_those_of_its_listeners() -> None:
    properties = {
        "listeners": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "advertised.listeners": "INSIDE://127.0.0.1:0,OUTSIDE://localhost:0",
        "inter.broker.listener.name": "INSIDE",
    }
    async with EmbeddedBroker(properties) as broker:
        assert broker.bootstrap_servers == broker.address("INSIDE") == f"{broker.host}:{broker.port}"
        host, _, port = broker.address("OUTSIDE").rpartition(":")
        assert (host, int(port) > 0) == ("localhost", True)
        with pytest.raises(KeyError):
            broker.address("NOWHERE")


async def test_without_a_directory_it_forgets_everything() -> None:
    broker = EmbeddedBroker()
    async with broker:
        await alter(broker)
        assert await quotas(broker) == {QUOTA.entity: QUOTA.values}
        first = broker.cluster_id
    async with broker:
        assert await quotas(broker) == {}
        assert broker.cluster_id != first


async def test_with_a_directory_it_remembers(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker:
        await alter(broker)
        cluster_id = broker.cluster_id
    async with EmbeddedBroker(data_dir=tmp_path) as broker:
        assert await quotas(broker) == {QUOTA.entity: QUOTA.values}
        assert broker.cluster_id == cluster_id


async def test_a_new_cluster_has_what_one_of_kafka_has() -> None:
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
        levels = (await admin.describe_features()).finalized
    assert {name: level.highest for name, level in levels.items()} == {
        "eligible.leader.replicas.version": 1,
        "group.version": 1,
        "metadata.version": 30,
        "share.version": 1,
        "streams.version": 1,
        "transaction.version": 2,
    }


async def test_it_runs_once_at_a_time(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker:
        with pytest.raises(RuntimeError, match="runs already"):
            await broker.start()
        with pytest.raises(DataDirectoryError, match="another broker uses the directory"):
            await EmbeddedBroker(data_dir=tmp_path).start()
        with pytest.raises(OSError, match="Address already in use"):
            await EmbeddedBroker(port=broker.port).start()
    async with EmbeddedBroker(data_dir=tmp_path, port=broker.port):
        pass


def test_a_wrong_property_is_told_before_anything_is_touched(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"num\.partitions"):
        EmbeddedBroker({"num.partitions": "none"}, data_dir=tmp_path / "data")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("failing", ["write", "fsync"])
async def test_it_halts_when_something_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    broker = EmbeddedBroker(data_dir=tmp_path)
    await broker.start()
    await alter(broker)

    def fail(*_arguments: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, failing, fail)
    async with AdminClient(broker.bootstrap_servers) as admin:
        lost = ClientQuotaAlteration(ClientQuotaEntity({"user": "bob"}), {"producer_byte_rate": 1.0})
        asked = asyncio.create_task(admin.alter_client_quotas([lost], timeout=2))
        error = await broker.halted()
        with pytest.raises(ExceptionGroup):
            (await asked).all()
    monkeypatch.undo()
    assert "Input/output error" in str(error)
    with pytest.raises(StorageError, match="Free space or repair the disk, then start the broker again"):
        await broker.stop()
    async with broker:
        assert (await quotas(broker))[QUOTA.entity] == QUOTA.values


async def test_a_context_reports_that_its_broker_halted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(StorageError):  # noqa: PT012 the context is what is tried
        async with EmbeddedBroker(data_dir=tmp_path) as broker:
            monkeypatch.setattr(os, "fsync", fail)
            async with AdminClient(broker.bootstrap_servers) as admin:
                await admin.alter_client_quotas([QUOTA], timeout=1)


async def test_partitions_of_a_directory_of_kafka_have_a_leader_again(tmp_path: Path) -> None:
    folder = "__cluster_metadata-0"
    shutil.copytree(FIXTURES / "logs" / folder, tmp_path / folder, copy_function=shutil.copyfile)
    async with EmbeddedBroker(data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        names = [*await admin.list_topics(include_internal=True)]
        topics = (await admin.describe_topics(names)).all()
    assert len(topics) == 15
    for topic in topics.values():
        assert [(each.leader, each.isr, each.replicas) for each in topic.partitions] == [(1, (1,), (1,))] * len(
            topic.partitions
        )
