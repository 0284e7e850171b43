"""Log directories on disk and in memory; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.embedded.connection import connected_to

from kafkawire.admin import AdminClient, Replica, TopicPartition
from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import FindCoordinatorRequest, FindCoordinatorResponse, ProduceRequest, ProduceResponse
from kafkawire.protocol.errors import LogDirNotFoundError
from kafkawire.wire.batches import Record, encode_batch

ORDERS = TopicPartition("orders", 0)
BATCH = encode_batch([Record(value=bytes(1000))])


async def produce(broker: EmbeddedBroker) -> None:
    data = ProduceRequest.TopicProduceData("orders", partition_data=(ProduceRequest.PartitionProduceData(0, BATCH),))
    async with connected_to(broker) as client:
        answer = await client.ask(ProduceRequest(acks=-1, topic_data=(data,)), 9, ProduceResponse)
        assert not answer.responses[0].partition_responses[0].error_code


async def test_a_data_directory_has_the_sizes_of_its_files_also_after_a_restart(tmp_path: Path) -> None:
    async with EmbeddedBroker(data_dir=tmp_path, topics=["orders"]) as broker:
        await produce(broker)
        async with AdminClient(broker.bootstrap_servers) as admin:
            ((before,),) = [one.values() for one in (await admin.describe_log_dirs()).all().values()]
            await broker.restart()
            directories = (await admin.describe_log_dirs([1]))[1]
    assert list(directories) == [str(tmp_path)]
    found = directories[str(tmp_path)]
    (log,) = (tmp_path / "orders-0").glob("*.log")
    assert found.replicas[ORDERS].size_bytes == before.replicas[ORDERS].size_bytes == log.stat().st_size == len(BATCH)
    assert found.total_bytes == shutil.disk_usage(tmp_path).total
    assert not found.error
    assert not found.is_cordoned


async def test_internal_topics_have_a_size_too(tmp_path: Path) -> None:
    async with EmbeddedBroker({"offsets.topic.num.partitions": "2"}, data_dir=tmp_path) as broker:
        async with connected_to(broker) as client:
            await client.ask(FindCoordinatorRequest("g"), 2, FindCoordinatorResponse)
        async with AdminClient(broker.bootstrap_servers) as admin:
            (found,) = (await admin.describe_log_dirs([1]))[1].values()
    assert {partition.partition for partition in found.replicas} == {0, 1}
    assert {partition.topic for partition in found.replicas} == {"__consumer_offsets"}


async def test_without_a_directory_the_records_are_in_bounded_memory() -> None:
    async with EmbeddedBroker(topics=["orders"]) as broker, AdminClient(broker.bootstrap_servers) as admin:
        before = (await admin.describe_log_dirs([1]))[1]["memory"]
        await produce(broker)
        after = (await admin.describe_log_dirs([1]))[1]["memory"]
    assert before.replicas[ORDERS].size_bytes == 0
    assert after.replicas[ORDERS].size_bytes == len(BATCH)
    assert before.total_bytes == before.usable_bytes == after.total_bytes == 256 * 1024 * 1024
    assert (after.usable_bytes or 0) < before.usable_bytes - len(BATCH)


async def test_one_directory_has_all_replicas_and_none_moves(tmp_path: Path) -> None:
    replica = Replica(ORDERS, 1)
    async with (
        EmbeddedBroker(data_dir=tmp_path, topics=["orders"]) as broker,
        AdminClient(broker.bootstrap_servers) as admin,
    ):
        assert (await admin.alter_replica_log_dirs({replica: str(tmp_path)}))[replica] is None
        moved = await admin.alter_replica_log_dirs({replica: str(tmp_path / "other")})
        assert isinstance(moved.errors()[replica], LogDirNotFoundError)
        assert (await admin.describe_replica_log_dirs([replica]))[replica].current == str(tmp_path)
