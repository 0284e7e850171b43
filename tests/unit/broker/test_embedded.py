"""A broker as a whole: it starts, remembers, halts and stops."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.embedded.connection import connected_to
from tests.embedded.share_members import ShareClient
from tests.embedded.transactional_producer import TransactionalProducer
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.admin import (
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ScramDeletion,
    ScramMechanism,
)
from kafkawire.broker import ConfigurationError, DataDirectoryError, EmbeddedBroker, StorageError, ThreadedBroker
from kafkawire.broker.metadata_log.snapshots import Snapshot, write_snapshot
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    FeatureLevelRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message

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


@pytest.mark.parametrize("is_kept", [False, True])
async def test_it_leaves_no_task_behind_however_much_it_had_to_wait_for(tmp_path: Path, is_kept: bool) -> None:
    """Sessions of members, an open transaction, and what is done at intervals."""
    before = asyncio.all_tasks()
    async with EmbeddedBroker(data_dir=tmp_path if is_kept else None, topics=("in", "out", "orders")) as broker:
        async with connected_to(broker) as client:
            producer = TransactionalProducer(client)
            await producer.begun()
            assert await producer.write(b"1") == 0
            await ShareClient(client, "sharers", "a").join()
            join = ConsumerGroupHeartbeatRequest("consumers", "a", 0, None, None, 20_000, ("orders",), None, None, ())
            assert (await client.ask(join, 1, ConsumerGroupHeartbeatResponse)).member_epoch
        assert len(asyncio.all_tasks() - before) > 5
    assert asyncio.all_tasks() == before


async def test_without_a_directory_it_forgets_everything() -> None:
    broker = EmbeddedBroker()
    async with broker:
        await alter(broker)
        assert await quotas(broker) == {QUOTA.entity: QUOTA.values}
        first = broker.cluster_id
    async with broker:
        assert await quotas(broker) == {}
        assert broker.cluster_id != first


@pytest.mark.parametrize("path_type", [str, Path])
async def test_with_a_directory_it_remembers(tmp_path: Path, path_type: type[str | Path]) -> None:
    data_dir = path_type(tmp_path / "data")
    async with EmbeddedBroker(data_dir=data_dir) as broker:
        await alter(broker)
        cluster_id = broker.cluster_id
    async with EmbeddedBroker(data_dir=data_dir) as broker:
        assert await quotas(broker) == {QUOTA.entity: QUOTA.values}
        assert broker.cluster_id == cluster_id


async def test_a_new_cluster_has_the_features_of_a_new_cluster_of_kafka() -> None:
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


def test_a_wrong_property_is_reported_before_anything_is_changed(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"num\.partitions"):
        EmbeddedBroker({"num.partitions": "none"}, data_dir=tmp_path / "data")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("kind", [EmbeddedBroker, ThreadedBroker])
@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        (
            "properties",
            {"num.partitions": 3},
            r"properties\['num.partitions'\]: expected str, got int",
        ),
        ("topics", "orders", r"topics: .* got the string 'orders'; write \['orders'\]"),
        ("clock", 3, "clock: expected Clock or None, got int"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    kind: type[EmbeddedBroker | ThreadedBroker], argument: str, value: object, message: str
) -> None:
    given: dict[str, Any] = {argument: value}
    with pytest.raises(TypeError, match=message):
        kind(**given)


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
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=mine\nnode.id=1\n")
    async with EmbeddedBroker(data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        names = [*await admin.list_topics(include_internal=True)]
        topics = (await admin.describe_topics(names)).all()
    assert len(topics) == 15
    for topic in topics.values():
        assert [(each.leader, each.isr, each.replicas) for each in topic.partitions] == [(1, (1,), (1,))] * len(
            topic.partitions
        )


@pytest.mark.parametrize("garbage", [None, b"", b"hello world\n", b"\xff\xfe\0", b"version=1\nnode.id=1\n"])
async def test_a_directory_without_its_identity_is_refused_with_the_lines_to_write(
    tmp_path: Path, garbage: bytes | None
) -> None:
    async with EmbeddedBroker(data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        await admin.alter_client_quotas([QUOTA])
    meta = tmp_path / "meta.properties"
    before = meta.read_text()
    meta.unlink() if garbage is None else meta.write_bytes(garbage)
    with pytest.raises(StorageError, match=r"restore the file from a backup\. If there is none, write it") as refused:
        await EmbeddedBroker(data_dir=tmp_path).start()
    message = str(refused.value)
    assert message.startswith(f"{meta}: ")
    lines = re.findall(r'"(\S+=\S+)"', message)
    assert f"directory.id={broker_directory(before)}" in lines
    meta.write_text("\n".join(lines))
    async with EmbeddedBroker(data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        assert (await admin.describe_client_quotas([ClientQuotaFilter()])).union()


def broker_directory(meta_properties: str) -> str:
    return meta_properties.partition("directory.id=")[2].strip()


async def test_a_metadata_log_that_is_gone_is_noticed(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path):
        pass
    shutil.rmtree(tmp_path / "__cluster_metadata-0")
    with pytest.raises(StorageError, match=r"the log ends at offset 0, but .*put the segment back"):
        await EmbeddedBroker(data_dir=tmp_path).start()


@pytest.mark.parametrize("call", ["write", "fsync"])
async def test_a_disk_that_is_full_at_the_start_is_named_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """At each of the first writes, on a new directory and on one that has been used; nothing is left in the way."""

    async def start_with_room_for(writes: int, data_dir: Path) -> OSError | StorageError | None:
        real, left = getattr(os, call), [writes]

        def full(*arguments: object) -> object:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments)

        broker = EmbeddedBroker(data_dir=data_dir)
        with monkeypatch.context() as patched:
            patched.setattr(os, call, full)
            try:
                await broker.start()
            except (OSError, StorageError) as error:
                return error
            patched.undo()
            await broker.stop()
        return None

    for data_dir in (tmp_path / "new", tmp_path / "used"):
        async with EmbeddedBroker(data_dir=tmp_path / "used"):
            pass
        writes = 0
        while (error := await start_with_room_for(writes, data_dir)) is not None:
            said = str(error)
            assert "No space left on device" in said
            assert str(data_dir) in said, said
            writes += 1
        assert writes > 2
        async with EmbeddedBroker(data_dir=data_dir):
            pass


def write_bootstrap(data_dir: Path, *records: Message) -> None:
    """What ``kafka-storage format`` writes with ``meta.properties``."""
    written = write_snapshot(data_dir, 0, 0, Snapshot(records), last_timestamp=0, timestamp=0)
    written.path.rename(data_dir / "bootstrap.checkpoint")
    (data_dir / "meta.properties").write_text("version=1\ncluster.id=mine\nnode.id=1\n")


async def test_users_and_features_of_a_formatted_directory_are_taken_over(tmp_path: Path) -> None:
    """As ``kafka-storage format --add-scram --feature`` has them; once, so that a deleted user stays deleted."""
    user = UserScramCredentialRecord("alice", 1, b"salt", b"s" * 32, b"k" * 32, 4096)
    write_bootstrap(
        tmp_path, FeatureLevelRecord("metadata.version", 29), FeatureLevelRecord("transaction.version", 1), user
    )
    async with EmbeddedBroker(data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        assert (await admin.describe_user_scram_credentials()).all().keys() == {"alice"}
        levels = (await admin.describe_features()).finalized
        assert (levels["metadata.version"].highest, levels["transaction.version"].highest) == (30, 1)
        deletion = ScramDeletion("alice", ScramMechanism.SCRAM_SHA_256)
        (await admin.alter_user_scram_credentials([deletion])).all()
    async with EmbeddedBroker(data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        assert (await admin.describe_user_scram_credentials()).all().keys() == set()


async def test_a_damaged_bootstrap_checkpoint_is_named(tmp_path: Path) -> None:
    write_bootstrap(tmp_path, FeatureLevelRecord("transaction.version", 1))
    path = tmp_path / "bootstrap.checkpoint"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StorageError, match=r"bootstrap\.checkpoint: the batch at byte \d+ is truncated"):
        await EmbeddedBroker(data_dir=tmp_path).start()
