"""A data directory is handed over: many clients write, the broker is killed, Kafka serves it, and it comes back."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.fixtures import DumpLog
from tests.apache_kafka.handed_over import HandedOver, kafka_on
from tests.embedded.process import STARTER, pipe, running, started
from tests.interop.broker import concurrent_clients
from tests.interop.broker.concurrent_clients import ORDERS, PASSWORD, Done
from tests.kafka_logs.dumps import parse_dump

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AdminClient,
    ClientQuotaFilter,
    CommittedOffset,
    ConfigResource,
    ConfigResourceType,
    NewTopic,
    ResourceType,
    ScramCredentials,
    TopicPartition,
)
from kafkawire.broker import EmbeddedBroker
from kafkawire.wire.batches import decode_records, read_batches

# Their own warnings are none of ours.
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

METADATA: Final = "__cluster_metadata-0"
SNAPSHOTS: Final = {**AUTHORIZER, "metadata.log.max.record.bytes.between.snapshots": "6000"}
WRITTEN_EARLIER: Final = Path(__file__).parents[2] / "fixtures" / "mixed-append-times" / "data"
ENOUGH: Final = 30
SECONDS: Final = 30


@dataclass
class Acknowledged:
    """The acknowledged changes; each client writes names that no other has.

    Attributes:
        topics: name to partitions.
        acls: names of topics that User:alice may read.
        quotas: user to limit.
        users: who can log in.
        offsets: group to the last offset of partition 0.
    """

    topics: dict[str, float] = field(default_factory=dict)
    acls: set[str] = field(default_factory=set)
    quotas: dict[str, float] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    offsets: dict[str, float] = field(default_factory=dict)

    def add(self, done: Done) -> None:
        match done.kind:
            case "topic":
                self.topics[done.name] = done.value
            case "acl":
                self.acls.add(done.name)
            case "quota":
                self.quotas[done.name] = done.value
            case "user":
                self.users.add(done.name)
            case "offset":
                self.offsets[done.name] = done.value


def write_until_killed(process: subprocess.Popen[str], data_dir: Path, acknowledged: Acknowledged, first: int) -> None:
    """Start a broker, let clients of all kinds write at once, and kill it in the middle."""
    pid, port = started(process, data_dir, SNAPSHOTS)
    done = Counter[str]()
    with running([sys.executable, "-m", concurrent_clients.__name__, f"127.0.0.1:{port}", str(first)]) as clients:
        for line in pipe(clients.stdout):
            each = msgspec.json.decode(line, type=Done)
            assert each.kind != "failure", each
            acknowledged.add(each)
            done[each.client] += 1
            if len(done) == len(concurrent_clients.CLIENTS) and min(done.values()) >= ENOUGH:
                break
        os.kill(pid, signal.SIGKILL)
        assert pipe(process.stdout).readline() == "gone\n"
        clients.kill()
        for line in pipe(clients.stdout):
            if line.endswith("\n"):  # the last one may be cut
                acknowledged.add(msgspec.json.decode(line, type=Done))


async def state(address: str) -> Mapping[str, Any]:
    """Everything that was written, as the admin client sees it."""
    async with AdminClient(address) as admin:
        names = [*await admin.list_topics()]
        described = (await admin.describe_topics(names)).all()
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
        configs = (await admin.describe_configs(resources)).all()
        return {
            "topics": {name: (topic.topic_id, len(topic.partitions)) for name, topic in described.items()},
            "configs": {resource.name: configs[resource]["retention.ms"].value for resource in resources},
            "acls": set((await admin.describe_acls([AclBindingFilter()])).union()),
            "quotas": (await admin.describe_client_quotas([ClientQuotaFilter()])).union(),
            "users": (await admin.describe_user_scram_credentials()).all(),
        }


async def offsets(address: str, groups: Collection[str]) -> Mapping[str, Mapping[TopicPartition, int]]:
    """Group to what it has committed, once the coordinator has read its log."""
    async with AdminClient(address) as admin:
        found = (await admin.list_consumer_group_offsets([*groups])).all()
        return {
            group: {
                partition: committed.offset
                for partition, committed in committed_of.items()
                if isinstance(committed, CommittedOffset)
            }
            for group, committed_of in found.items()
        }


def check_all_is_there(
    found: Mapping[str, Any], committed: Mapping[str, Mapping[TopicPartition, int]], done: Acknowledged
) -> None:
    assert {name: found["topics"][name][1] for name in done.topics} == done.topics
    readable = {acl.resource_name for acl in found["acls"] if acl.principal == "User:alice"}
    assert done.acls <= readable
    quotas = {entity["user"]: values["producer_byte_rate"] for entity, values in found["quotas"].items()}
    assert {user: quotas[user] for user in done.quotas} == done.quotas
    assert done.users <= found["users"].keys()
    kept = {name for name in done.topics if name.startswith("kafka-python-")}
    assert {found["configs"][name] for name in kept} == {"60000"}
    partition = TopicPartition(ORDERS, 0)
    assert {group for group, offset in done.offsets.items() if committed[group][partition] < offset} == set()


async def log_in(address: str, user: str) -> None:
    async with AdminClient(address, credentials=ScramCredentials(user, PASSWORD, "SCRAM-SHA-256")) as admin:
        await admin.list_topics()


def consume_in_groups(address: str) -> Mapping[str, int]:
    """Members of both kinds read at Kafka and commit; the offsets by group."""
    confluent: Any = importlib.import_module("confluent_kafka")
    producer = confluent.Producer({"bootstrap.servers": address})
    for number in range(10):
        producer.produce(ORDERS, b"%d" % number, partition=0)
    assert producer.flush(SECONDS) == 0
    committed = {}
    for protocol in ("classic", "consumer"):
        group = f"members-{protocol}"
        settings = {"bootstrap.servers": address, "group.id": group, "group.protocol": protocol}
        consumer = confluent.Consumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": False})
        consumer.subscribe([ORDERS])
        assert len(consumer.consume(10, SECONDS)) == 10
        (partition,) = [each for each in consumer.commit(asynchronous=False) if each.partition == 0]
        committed[group] = partition.offset
        consumer.close()
    return committed


async def create_orders(data_dir: Path) -> None:
    async with EmbeddedBroker(SNAPSHOTS, data_dir=data_dir) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_topics([NewTopic(ORDERS, 1, 1)])).all()


HARMLESS: Final = ("is no longer the leader", "NotControllerException", "EventPerformanceMonitor")
"""Of a node that is elected once more while it starts, and of a busy machine."""


def check_kafka_found_nothing_wrong(kafka: HandedOver) -> None:
    printed = kafka.output.read_text("utf-8", errors="replace")
    assert "stray" not in printed
    lines = printed.splitlines()
    # ControllerApis names the exception in the next line only.
    errors = ["\n".join(lines[at : at + 2]) for at, line in enumerate(lines) if " ERROR " in line]
    assert [error for error in errors if not any(words in error for words in HARMLESS)] == []


@pytest.mark.extended
def test_everything_that_was_acknowledged_is_there_at_kafka_and_then_at_the_broker_again(tmp_path: Path) -> None:
    data, done = tmp_path / "data", Acknowledged()
    asyncio.run(create_orders(data))
    with running([sys.executable, "-c", STARTER]) as process:
        for first in (1, 10_000):
            write_until_killed(process, data, done, first)
    assert len(list((data / METADATA).glob("*.checkpoint"))) >= 2
    assert has_shared_batches(data / METADATA)

    with kafka_on(data, tmp_path / "kafka") as kafka:
        groups = set(done.offsets)
        check_all_is_there(asyncio.run(state(kafka.address)), asyncio.run(offsets(kafka.address, groups)), done)
        for user in sorted(done.users)[:: max(1, len(done.users) // 3)]:
            asyncio.run(log_in(kafka.scram_address, user))
        members = consume_in_groups(kafka.address)
        asyncio.run(change_at_kafka(kafka.address))
        groups |= members.keys()
        at_kafka, committed = asyncio.run(state(kafka.address)), asyncio.run(offsets(kafka.address, groups))
    check_kafka_found_nothing_wrong(kafka)
    assert {group: committed[group][TopicPartition(ORDERS, 0)] for group in members} == members

    async def back_again() -> None:
        async with EmbeddedBroker(SNAPSHOTS, data_dir=data) as broker:
            assert await state(broker.bootstrap_servers) == at_kafka
            assert await offsets(broker.bootstrap_servers, groups) == committed

    asyncio.run(back_again())


async def change_at_kafka(address: str) -> None:
    async with AdminClient(address) as admin:
        (await admin.create_topics([NewTopic("made-at-kafka", 3, 1, configs={"retention.ms": "70000"})])).all()
        acl = AclBinding(ResourceType.TOPIC, "made-at-kafka", "User:bob", AclOperation.WRITE)
        (await admin.create_acls([acl])).all()
        moved = {TopicPartition(ORDERS, 0): 3}
        (await admin.alter_consumer_group_offsets("kafka-python", moved)).all()


def has_shared_batches(folder: Path) -> bool:
    """Whether requests of several clients share a batch; all its records have one append time."""
    shared = False
    for path in sorted(folder.glob("*.log")):
        for batch in read_batches(path.read_bytes()):
            times = {record.timestamp for record in decode_records(batch)}
            assert times == {batch.max_timestamp}
            shared = shared or batch.records_count > 3
    return shared


@pytest.mark.extended
def test_a_directory_of_an_earlier_version_is_repaired_and_handed_over(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    """Batches of many append times, which Kafka does not read, and commits that have no topic."""
    data = shutil.copytree(WRITTEN_EARLIER, tmp_path / "data", copy_function=shutil.copyfile)
    expected = {
        f"group-{group}": {TopicPartition(f"topic-{group}-{number}", 0): number + 1 for number in range(6)}
        for group in range(4)
    }

    async def at_broker() -> Mapping[str, Any]:
        async with EmbeddedBroker(SNAPSHOTS, data_dir=data) as broker:
            assert await offsets(broker.bootstrap_servers, expected) == expected
            return await state(broker.bootstrap_servers)

    found = asyncio.run(at_broker())
    assert len(found["topics"]) == len(found["acls"]) == len(found["quotas"]) == 24
    for path in sorted((data / METADATA).glob("*.log")):
        assert all(batch.valid for batch in parse_dump(kafka_dump_log(path, "--cluster-metadata-decoder")))
    with kafka_on(data, tmp_path / "kafka") as kafka:
        assert asyncio.run(state(kafka.address)) == found
        assert asyncio.run(offsets(kafka.address, expected)) == expected
    check_kafka_found_nothing_wrong(kafka)
    assert (data / ".kafka_cleanshutdown").exists()

    moved = {TopicPartition("topic-0-0", 0): 100}

    async def move_at_broker() -> None:
        async with (
            EmbeddedBroker(SNAPSHOTS, data_dir=data) as broker,
            AdminClient(broker.bootstrap_servers) as admin,
        ):
            (await admin.alter_consumer_group_offsets("group-0", moved)).all()

    asyncio.run(move_at_broker())
    expected["group-0"] |= moved
    with kafka_on(data, tmp_path / "kafka again") as kafka:
        assert asyncio.run(state(kafka.address)) == found
        assert asyncio.run(offsets(kafka.address, expected)) == expected
    check_kafka_found_nothing_wrong(kafka)
