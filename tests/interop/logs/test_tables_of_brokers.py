"""Tables of compressed and compacted logs of a real broker equal the output of kafka-dump-log of its release."""

from __future__ import annotations

import asyncio
import importlib
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from tests.apache_kafka.broker import AUTHORIZER, running_broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import broker_release_parameters, is_at_least
from tests.kafka_logs.dumped_tables import (
    assert_batches_as_dumped,
    assert_records_as_dumped,
    assert_typed_as_dumped,
    record_of,
    rows_of,
)
from tests.kafka_logs.dumps import DumpedBatch, parse_dump

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AdminClient,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    NewTopic,
    ResourceType,
    ScramMechanism,
    ScramUpsertion,
)
from kafkawire.logs import Accounts, LogReadError, find_log_files, read_table
from kafkawire.logs.registry import BUILT_IN
from kafkawire.logs.tables.typed_tables import typed_table_names

pytestmark = [
    pytest.mark.interop,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

Untyped: TypeAlias = Any

OFFSETS: Final = "__consumer_offsets"
PROPERTIES: Final = {
    **AUTHORIZER,
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "log.cleaner.backoff.ms": "200",
    "metadata.log.max.record.bytes.between.snapshots": "3000",
}
CODECS: Final = ("gzip", "snappy", "lz4", "zstd", "uncompressed")
COMMITS_FOR_EACH: Final = 12
DECODERS: Final = {
    "__cluster_metadata": "--cluster-metadata-decoder",
    OFFSETS: "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
}
WITH_MARKERS = {"OFFSET_COMMIT", "COMMIT", "ABORT"}
OTHER_FILES: Final = shutil.ignore_patterns(".lock", "*.snapshot")
"""Files of a running broker that are no logs, and may be gone before they are copied."""
PLAIN_TEXT_BEFORE_4_1: Final = "__transaction_state"


@pytest.fixture(scope="module", params=broker_release_parameters())
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The logs of a broker after many changes, before and after compaction."""
    release: str = request.param
    folder = tmp_path_factory.mktemp(f"tables-{release}")
    with running_broker(release, folder / "broker", properties=PROPERTIES) as broker:
        change_metadata(broker.address)
        asyncio.run(commit(broker.address))
        # A transaction has ended for its producer before its marker is in the log.
        eventually(lambda: record_types(broker.data / f"{OFFSETS}-0"), WITH_MARKERS.issubset, seconds=30)
        shutil.copytree(broker.data, folder / "written", ignore=OTHER_FILES)
        asyncio.run(commit_slowly(broker.address))
        eventually(lambda: gaps(broker.data / f"{OFFSETS}-0"), bool, seconds=30)
    # Only now is no file replaced by a compacted one while it is copied.
    shutil.copytree(broker.data, folder / "compacted", ignore=OTHER_FILES)
    return release, folder


def change_metadata(address: str) -> None:
    with BlockingAdminClient(address) as admin:
        for number in range(6):
            admin.create_topics([NewTopic(f"topic-{number}", 2, 1, configs={"retention.ms": "60000"})]).all()
        admin.wait_for_topics([f"topic-{number}" for number in range(6)])
        admin.delete_topics(["topic-0"]).all()
        for number in range(10):
            acl = AclBinding(ResourceType.TOPIC, f"name-{number}", f"User:user-{number}", AclOperation.READ)
            admin.create_acls([acl]).all()
            entity = ClientQuotaEntity({"user": f"user-{number}", "client-id": None})
            admin.alter_client_quotas([ClientQuotaAlteration(entity, {"producer_byte_rate": 1e6 + number})]).all()
        admin.delete_acls([AclBindingFilter(principal="User:user-3")]).all()
        upsertion = ScramUpsertion("alice", ScramMechanism.SCRAM_SHA_256, "secret of the user")
        admin.alter_user_scram_credentials([upsertion]).all()


async def commit(address: str) -> None:
    """Commits in all codecs, and in transactions, one of which is aborted."""
    aiokafka: Untyped = importlib.import_module("aiokafka")
    partitions = [aiokafka.TopicPartition(f"topic-{number}", each) for number in range(1, 6) for each in (0, 1)]
    consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=address, group_id="simple", enable_auto_commit=False)
    async with consumer:
        consumer.assign(partitions)
        await consumer.commit(dict.fromkeys(partitions, 0))
        for codec in CODECS:
            await set_topic_config(address, {"compression.type": codec})
            for offset in range(1, COMMITS_FOR_EACH):
                await consumer.commit(dict.fromkeys(partitions[: offset % len(partitions) + 1], offset))
    async with aiokafka.AIOKafkaProducer(bootstrap_servers=address, transactional_id="once") as producer:
        async with producer.transaction():
            await producer.send_offsets_to_transaction({partitions[0]: 7}, "exactly")
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({partitions[0]: 9}, "exactly")
        await producer.abort_transaction()


async def commit_slowly(address: str) -> None:
    """Commits of a member of a group, over segments that are soon compacted."""
    aiokafka: Untyped = importlib.import_module("aiokafka")
    partition = aiokafka.TopicPartition("topic-1", 0)
    await set_topic_config(address, {"segment.ms": "500", "min.cleanable.dirty.ratio": "0.001"})
    async with aiokafka.AIOKafkaConsumer(
        "topic-1", bootstrap_servers=address, group_id="members", enable_auto_commit=False
    ) as member:
        for offset in range(4):
            await member.commit({partition: offset})
            await asyncio.sleep(0.6)


async def set_topic_config(address: str, configs: Mapping[str, str]) -> None:
    changes = [ConfigChange(name, ConfigOperation.SET, value) for name, value in configs.items()]
    async with AdminClient(address) as admin:
        (await admin.incremental_alter_configs({ConfigResource.topic(OFFSETS): changes})).all()


def record_types(folder: Path) -> set[str | None]:
    """The types of the records of a log."""
    return {row["record_type"] for batch in read_table("records", str(folder)) for row in batch.to_pylist()}


def gaps(folder: Path) -> bool:
    """Whether compaction has removed offsets. A file that disappears meanwhile counts as no."""
    try:
        rows = [row for batch in read_table("records", str(folder)) for row in batch.to_pylist()]
    except LogReadError:
        return False
    offsets = [row["log_offset"] for row in rows if row["_error"] is None]
    return bool(offsets) and offsets[-1] - offsets[0] + 1 > len(offsets)


def dumps_of(release: str, data: Path, topic: str) -> dict[str, tuple[DumpedBatch, ...]]:
    """The output of the release's kafka-dump-log for each file of a topic."""
    files = [file.path for file in find_log_files([f"{data}/{topic}-0"])]
    tool = "org.apache.kafka.tools.DumpLogSegments" if is_at_least(release, "4.3") else "kafka.tools.DumpLogSegments"
    text = run_tool(release, tool, "--files", ",".join(files), DECODERS[topic])
    parts = text.split("Dumping ")[1:]
    return {part.partition("\n")[0].strip(): parse_dump(part.partition("\n")[2]) for part in parts}


@pytest.mark.parametrize("topic", DECODERS)
@pytest.mark.parametrize("state", ["written", "compacted"])
def test_tables_equal_the_output_of_kafka_dump_log(logs: tuple[str, Path], state: str, topic: str) -> None:
    release, folder = logs
    dumped = dumps_of(release, folder / state, topic)
    assert dumped
    for path, dump in dumped.items():
        assert_batches_as_dumped(rows_of("batches", path), dump)
        has_json = is_at_least(release, "4.1") or topic != PLAIN_TEXT_BEFORE_4_1
        assert_records_as_dumped(rows_of("records", path), dump, has_json=has_json)
        if has_json:
            assert_typed_tables(path, dump)


def assert_typed_tables(path: str, dump: Sequence[DumpedBatch]) -> None:
    """Each row, except control records, is in exactly one typed table, with the same fields."""
    said = {record.offset: record_of(record) for batch in dump if not batch.control for record in batch.records}
    seen: Counter[int] = Counter()
    for table in typed_table_names(BUILT_IN):
        for row in rows_of(table, path):
            assert_typed_as_dumped(row, said[row["log_offset"]])
            seen[row["log_offset"]] += 1
    assert seen == dict.fromkeys(said, 1)


def test_all_codecs_and_gaps_were_compared(logs: tuple[str, Path]) -> None:
    _, folder = logs
    path = f"{folder}/written/{OFFSETS}-0"
    assert {row["codec"] for row in rows_of("batches", path)} == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert record_types(Path(path)) >= WITH_MARKERS
    assert gaps(folder / "compacted" / f"{OFFSETS}-0")


@pytest.mark.parametrize("state", ["written", "compacted"])
def test_the_whole_folder_is_accounted_for(logs: tuple[str, Path], state: str) -> None:
    data = logs[1] / state
    accounts = Accounts()
    rows = sum(batch.num_rows for batch in read_table("records", str(data), accounts=accounts))
    assert rows == accounts.rows > 100
    assert accounts.bytes_read == accounts.bytes_decoded + accounts.bytes_skipped.get("zero_fill", 0)
    assert accounts.bytes_read == sum(file.size for file in find_log_files([str(data)]))
    assert not accounts.errors
