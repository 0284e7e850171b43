"""Logs go both ways: Kafka reads what the broker wrote, and the broker what Kafka wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import kafka_on
from tests.kafka_logs.dumps import FIXTURES, DumpedRecord, parse_dump

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    CommittedOffset,
    NewTopic,
    ResourceType,
    ScramMechanism,
    ScramUpsertion,
)
from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import to_json
from kafkawire.records.control_records import ControlRecord, decode_control_record
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.wire.batches import Record, decode_records, read_batches

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PROPERTIES: Final = {**AUTHORIZER, "metadata.log.max.record.bytes.between.snapshots": "3000"}
METADATA: Final = "__cluster_metadata-0"


async def change(address: str, name: str) -> None:
    """Change something of every kind, one request after the other."""
    async with AdminClient(address) as admin:
        for number in range(5):
            topic = NewTopic(f"{name}-{number}", 3, 1, configs={"retention.ms": "60000"})
            (await admin.create_topics([topic])).all()
        (await admin.delete_topics([f"{name}-0"])).all()
        for number in range(20):
            user = f"{name}-{number}"
            entity = ClientQuotaEntity({"user": user})
            (await admin.alter_client_quotas([ClientQuotaAlteration(entity, {"producer_byte_rate": 1e6})])).all()
            acl = AclBinding(ResourceType.TOPIC, "orders", f"User:{user}", AclOperation.READ)
            (await admin.create_acls([acl])).all()
        upsertion = ScramUpsertion(name, ScramMechanism.SCRAM_SHA_256, "secret of the user")
        (await admin.alter_user_scram_credentials([upsertion])).all()


async def state(address: str) -> dict[str, Any]:
    """The admin client's descriptions of everything that is changed here."""
    async with AdminClient(address) as admin:
        topics = (await admin.describe_topics([*await admin.list_topics()])).all()
        return {
            "topics": {name: (topic.topic_id, len(topic.partitions)) for name, topic in topics.items()},
            "acls": (await admin.describe_acls([AclBindingFilter()])).union(),
            "quotas": (await admin.describe_client_quotas([ClientQuotaFilter()])).union(),
            "users": (await admin.describe_user_scram_credentials()).all(),
        }


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".log", ".checkpoint"})


def assert_said(record: Record, said: DumpedRecord, *, control: bool) -> None:
    """kafka-dump-log prints the same message."""
    assert record.offset == said.offset
    message, version = _message_of(record, control=control)
    printed = json.loads(said.rest[said.rest.index("{") :])
    if not control:
        assert printed.pop("version") == version
        printed = printed["data"]
    assert json.dumps(to_json(message, version)) == json.dumps(printed)


def _message_of(record: Record, *, control: bool) -> tuple[Any, int]:
    if control:
        read = decode_control_record(record.key, record.value)
        assert isinstance(read, ControlRecord)
        return read.message, read.version
    framed = decode_metadata_record(record.value)
    return framed.message, framed.version


async def test_kafka_dump_log_reads_logs_and_snapshots_record_for_record(
    tmp_path: Path, kafka_dump_log: DumpLog
) -> None:
    for name in ("one", "two"):
        async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker:
            await change(broker.bootstrap_servers, name)
    files = files_of(tmp_path / METADATA)
    assert {path.suffix for path in files} == {".log", ".checkpoint"}
    for path in files:
        dumped = parse_dump(kafka_dump_log(path, "--cluster-metadata-decoder"))
        batches = [*read_batches(path.read_bytes())]
        for batch, said in zip(batches, dumped, strict=True):
            assert said.valid
            assert (batch.base_offset, batch.partition_leader_epoch) == (said.base_offset, said.partition_leader_epoch)
            assert (batch.is_control, batch.position) == (said.control, said.position)
            for record, line in zip(decode_records(batch), said.records, strict=True):
                assert_said(record, line, control=batch.is_control)


async def test_a_directory_of_kafka_is_served(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "logs", tmp_path, copy_function=shutil.copyfile, dirs_exist_ok=True)
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=mine\nnode.id=1\n")
    expected = json.loads((FIXTURES / "end-state.json").read_text())
    for _ in range(2):
        async with (
            EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker,
            AdminClient(broker.bootstrap_servers) as admin,
        ):
            found = await state(broker.bootstrap_servers)
            described = (await admin.describe_topics([*await admin.list_topics(include_internal=True)])).all()
            groups = sorted({committed["group_id"] for committed in expected["committed_offsets"]})
            commits = (await admin.list_consumer_group_offsets(groups)).all()
        assert [
            (group, partition.topic, partition.partition, offset.offset)
            for group, committed in sorted(commits.items())
            for partition, offset in sorted(committed.items())
            if isinstance(offset, CommittedOffset)
        ] == sorted(
            (committed["group_id"], committed["topic"], committed["partition"], committed["offset"])
            for committed in expected["committed_offsets"]
        )
        assert {name: str(topic.topic_id) for name, topic in described.items()} == {
            topic["name"]: topic["topic_id"] for topic in expected["topics"]
        }
        assert {partition.leader for topic in described.values() for partition in topic.partitions} == {1}
        assert found["users"].keys() == {user["user"] for user in expected["scram_users"]}
        assert len(found["acls"]) == len(expected["acls"])
        assert {tuple(sorted(entity.items())): values for entity, values in found["quotas"].items()} == {
            tuple(sorted(quota["entity"].items())): quota["values"] for quota in expected["client_quotas"]
        }


async def test_kafka_serves_a_directory_of_the_broker_and_the_broker_goes_on_with_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with EmbeddedBroker(PROPERTIES, data_dir=data) as broker:
        await change(broker.bootstrap_servers, "one")
        expected = await state(broker.bootstrap_servers)
    with kafka_on(data, tmp_path / "kafka") as kafka:
        assert await state(kafka.address) == expected
        await change(kafka.address, "two")
        expected = await state(kafka.address)
    async with EmbeddedBroker(PROPERTIES, data_dir=data) as broker:
        assert await state(broker.bootstrap_servers) == expected
