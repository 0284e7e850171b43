"""The last state in the histories of a real broker's logs equals what Java's Admin describes."""

from __future__ import annotations

import asyncio
import importlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import GroupKind, JavaAdmin, JavaAdminClient
from tests.apache_kafka.java_answers import JavaAcl, Partition
from tests.apache_kafka.node import HOST, Node, free_ports, listed_brokers, started
from tests.apache_kafka.releases import (
    broker_release_parameters,
    is_at_least,
    newest_broker_release,
    offers_feature,
)
from tests.kafka_logs.histories import Row, history, still_open
from tests.made.cluster_state import CLUSTER_HISTORIES
from tests.made.logs import METADATA_LOG

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    NewTopic,
    PatternType,
    ResourceType,
)
from kafkawire.logs import Accounts, ReadOptions

pytestmark = [
    pytest.mark.interop,
    pytest.mark.extended,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

Untyped: TypeAlias = Any

PROPERTIES: Final = {
    **AUTHORIZER,
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
SNAPSHOTS: Final = {"metadata.log.max.record.bytes.between.snapshots": "3000"}
FEATURES: Final = {"share": "share.version", "streams": "streams.version"}
"""The feature that groups of a kind need; a release that only previews one does not turn it on by itself."""

CONSUMER_GROUPS: Final = {"group.coordinator.rebalance.protocols": "classic,consumer"}
"""What releases before 4.0 need to have consumer groups."""

TOPICS: Final = ("kept", "grown", "gone", "again")


@dataclass(frozen=True)
class Running:
    """A node and where it keeps its logs."""

    node: Node
    port: int
    data: Path

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def wait(self) -> None:
        self.node.wait_until(lambda: 1 in listed_brokers(self.port))


@contextmanager
def kafka(release: str, folder: Path, further: Mapping[str, str]) -> Iterator[Running]:
    """A node of a new cluster."""

    def start(home: Path) -> Running:
        port, controller_port = free_ports(2)
        properties = {
            **PROPERTIES,
            "controller.quorum.voters": f"1@{HOST}:{controller_port}",
            "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
            "log.dirs": str(home / "data"),
            **further,
        }
        made = Running(Node(release, 1, home, properties, heap="512m"), port, home / "data")
        made.node.format(["--feature", f"{FEATURES['share']}=1"] if offers_feature(release, FEATURES["share"]) else [])
        try:
            made.node.start()
            made.wait()
        except BaseException:
            made.node.stop()
            raise
        return made

    with started(start, lambda made: made.node.stop(), folder) as made:
        yield made


@pytest.fixture(scope="module", params=broker_release_parameters())
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    release: str = request.param
    further = SNAPSHOTS if is_at_least(release, "4.0") else {**SNAPSHOTS, **CONSUMER_GROUPS}
    with kafka(release, tmp_path_factory.mktemp(f"histories-{release}"), further) as made:
        yield made


@pytest.fixture(scope="module")
def java(running: Running, java_admin: JavaAdmin) -> JavaAdminClient:
    return java_admin.client(running.address)


@pytest.fixture(scope="module")
def changed(running: Running, java: JavaAdminClient) -> Running:
    """The node after topics, configs, ACLs, quotas and offsets were added, changed and removed."""
    with BlockingAdminClient(running.address) as admin:
        change_topics_and_configs(admin)
        change_acls(admin)
        change_quotas(admin)
    for partition in (0, 1):
        java.alter_group_offset("simple", Partition("kept", partition), 5 + partition)
    java.alter_group_offset("simple", Partition("kept", 0), 7)
    with BlockingAdminClient(running.address) as admin:
        java.alter_group_offset("emptied", Partition("kept", 0), 1)
        admin.delete_consumer_groups(["emptied"]).all()
    asyncio.run(commit_in_transactions(running.address))
    return running


def change_topics_and_configs(admin: BlockingAdminClient) -> None:
    configs = {"retention.ms": "60000", "max.message.bytes": "2000"}
    admin.create_topics([NewTopic(name, 2, 1, configs=configs) for name in TOPICS]).all()
    admin.wait_for_topics(TOPICS)
    admin.create_partitions({"grown": 5}).all()
    admin.delete_topics(["gone", "again"]).all()
    eventually(lambda: set(admin.list_topics()), lambda names: not names & {"gone", "again"})
    admin.create_topics([NewTopic("again", 3, 1, configs={"cleanup.policy": "compact"})]).all()
    changes = {
        ConfigResource.topic("kept"): [
            ConfigChange("retention.ms", ConfigOperation.SET, "70000"),
            ConfigChange("max.message.bytes", ConfigOperation.DELETE),
            ConfigChange("cleanup.policy", ConfigOperation.APPEND, "compact"),
        ],
        ConfigResource.broker(1): [
            ConfigChange("leader.replication.throttled.rate", ConfigOperation.SET, "1000"),
            ConfigChange("listener.name.plaintext.ssl.key.password", ConfigOperation.SET, "not to be shown"),
        ],
        ConfigResource.broker_default(): [ConfigChange("log.cleaner.threads", ConfigOperation.SET, "2")],
    }
    admin.incremental_alter_configs(changes).all()


def change_acls(admin: BlockingAdminClient) -> None:
    acls = [
        AclBinding(resource, f"name-{number}", f"User:user-{number}", operation, pattern_type=pattern)
        for number, (resource, operation, pattern) in enumerate(
            [
                (ResourceType.TOPIC, AclOperation.READ, PatternType.LITERAL),
                (ResourceType.TOPIC, AclOperation.WRITE, PatternType.PREFIXED),
                (ResourceType.GROUP, AclOperation.DESCRIBE, PatternType.LITERAL),
                (ResourceType.TRANSACTIONAL_ID, AclOperation.ALL, PatternType.PREFIXED),
            ]
        )
    ]
    admin.create_acls(acls).all()
    for acl in acls[:2]:
        admin.delete_acls([AclBindingFilter(principal=acl.principal)]).all()
    admin.create_acls(acls[:1]).all()


def change_quotas(admin: BlockingAdminClient) -> None:
    entities = [
        ClientQuotaEntity({"user": "alice"}),
        ClientQuotaEntity({"user": None}),
        ClientQuotaEntity({"user": "bob", "client-id": None}),
        ClientQuotaEntity({"ip": "10.0.0.1"}),
    ]
    keys = ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "connection_creation_rate"]
    for value in (100.0, 200.0, None):
        for entity, key in zip(entities, keys, strict=True):
            if value is not None or entity == entities[0]:
                admin.alter_client_quotas([ClientQuotaAlteration(entity, {key: value})]).all()


async def commit_in_transactions(address: str) -> None:
    """One transaction that is committed, one that is aborted, and one that hides a commit that comes after it."""
    aiokafka: Untyped = importlib.import_module("aiokafka")
    partition = aiokafka.TopicPartition("kept", 0)
    async with aiokafka.AIOKafkaProducer(bootstrap_servers=address, transactional_id="exactly-once") as producer:
        for offset, group in ((11, "committed"), (12, "committed")):
            async with producer.transaction():
                await producer.send_offsets_to_transaction({partition: offset}, group)
        for group in ("committed", "aborted"):
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({partition: 99}, group)
            await producer.abort_transaction()


def check(running: Running, name: str, javas: Callable[[], object], ours: Callable[[list[Row]], object]) -> None:
    """The current rows of the logs equal Java's answer, once the node has applied all of its log."""

    def asked() -> tuple[object, object]:
        return javas(), ours(still_open(read(running, name)))

    answered, read_from_logs = eventually(asked, lambda both: both[0] == both[1], seconds=20)
    assert answered == read_from_logs


def read(running: Running, name: str) -> list[Row]:
    """A history of the logs as they are now; the end of a batch that is being written is no error."""
    accounts = Accounts()
    rows = history(name, running.data, accounts=accounts)
    assert not accounts.errors
    return rows


def acls(rows: list[Row]) -> set[JavaAcl]:
    names = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission")
    return {JavaAcl(*(row[name] for name in names)) for row in rows}


def configs(rows: list[Row], resource_type: str, resource_name: str) -> dict[str, str]:
    return {
        row["name"]: row["value"]
        for row in rows
        if (row["resource_type"], row["resource_name"]) == (resource_type, resource_name) and row["value"] is not None
    }


def configs_of_java(java: JavaAdminClient, resource_type: str, name: str, source: str) -> dict[str, str | None]:
    described = java.describe_configs(resource_type, name)
    return {
        config.name: "[hidden]" if config.sensitive else config.value for config in described if config.source == source
    }


def quotas(rows: list[Row]) -> set[tuple[object, ...]]:
    return {(row["user"], row["client_id"], row["ip"], row["key"], row["value"]) for row in rows}


def quotas_of_java(java: JavaAdminClient) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for described in java.describe_client_quotas():
        entity = {kind: "<default>" if name is None else name for kind, name in described.entity.items()}
        for key, value in described.quotas.items():
            found.add((entity.get("user"), entity.get("client-id"), entity.get("ip"), key, value))
    return found


def partitions_of_java(java: JavaAdminClient) -> set[tuple[object, ...]]:
    names = [listed.name for listed in java.list_topics(internal=True)]
    return {
        (topic.name, each.partition, each.leader, each.replicas, each.isr)
        for topic in java.describe_topics(names)
        for each in topic.partitions
    }


def partitions(rows: list[Row]) -> set[tuple[object, ...]]:
    return {(row["topic"], row["partition"], row["leader"], tuple(row["replicas"]), tuple(row["isr"])) for row in rows}


def topics_of_java(java: JavaAdminClient) -> set[tuple[object, ...]]:
    names = [listed.name for listed in java.list_topics(internal=True)]
    return {(topic.name, topic.topic_id, len(topic.partitions)) for topic in java.describe_topics(names)}


def check_cluster(running: Running, java: JavaAdminClient) -> None:
    """Topics, partitions, brokers, ACLs and quotas."""
    check(running, "partition_history", lambda: partitions_of_java(java), partitions)
    check(
        running,
        "broker_history",
        lambda: {(node.id, node.host, node.port, node.rack) for node in java.describe_cluster().nodes},
        lambda rows: {
            (row["broker_id"], each["host"], each["port"], row["rack"])
            for row in rows
            for each in row["endpoints"]
            if not row["fenced"]
        },
    )
    check(running, "acl_history", lambda: set(java.describe_acls()), acls)
    check(running, "quota_history", lambda: quotas_of_java(java), quotas)
    check(
        running,
        "topic_history",
        lambda: topics_of_java(java),
        lambda rows: {(row["name"], row["topic_id"], row["partitions"]) for row in rows},
    )


def check_configs(running: Running, java: JavaAdminClient) -> None:
    """Configs of topics and brokers."""
    for resource_type, name, source in (
        ("TOPIC", "kept", "DYNAMIC_TOPIC_CONFIG"),
        ("TOPIC", "grown", "DYNAMIC_TOPIC_CONFIG"),
        ("TOPIC", "again", "DYNAMIC_TOPIC_CONFIG"),
        ("BROKER", "1", "DYNAMIC_BROKER_CONFIG"),
        ("BROKER", "", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    ):
        check(
            running,
            "config_history",
            lambda: configs_of_java(java, resource_type, name, source),  # noqa: B023 called at once
            lambda rows: configs(rows, resource_type, name),  # noqa: B023
        )


def test_cluster(changed: Running, java: JavaAdminClient) -> None:
    check_cluster(changed, java)
    assert len(read(changed, "acl_history")) == 5
    assert len(still_open(read(changed, "acl_history"))) == 3
    lives = [row for row in read(changed, "topic_history") if row["name"] == "again"]
    assert [row["partitions"] for row in lives] == [2, 3]
    assert lives[0]["topic_id"] != lives[1]["topic_id"]


def test_configs(changed: Running, java: JavaAdminClient) -> None:
    check_configs(changed, java)
    rows = read(changed, "config_history")
    assert configs(still_open(rows), "TOPIC", "kept") == {"retention.ms": "70000", "cleanup.policy": "delete,compact"}
    assert configs(still_open(rows), "TOPIC", "again") == {"cleanup.policy": "compact"}
    assert "not to be shown" not in str(rows)


def test_committed_offsets(changed: Running, java: JavaAdminClient) -> None:
    for group in ("simple", "emptied", "committed", "aborted"):
        check(
            changed,
            "offset_commits",
            lambda: {
                (each.partition.topic, each.partition.partition, each.offset)
                for each in java.list_group_offsets(group)  # noqa: B023 called at once
            },
            lambda rows: {
                (row["topic"], row["partition"], row["committed_offset"])
                for row in rows
                if row["group_id"] == group  # noqa: B023
            },
        )
    rows = read(changed, "offset_commits")
    transactional = [row for row in rows if row["is_transactional"]]
    assert {(row["group_id"], row["committed_offset"], row["txn_outcome"]) for row in transactional} == {
        ("committed", 11, "committed"),
        ("committed", 12, "committed"),
        ("committed", 99, "aborted"),
        ("aborted", 99, "aborted"),
    }
    first, second = (row for row in transactional if row["txn_outcome"] == "committed")
    assert first["valid_to"] == second["valid_from"] > second["append_time"]
    assert all(row["valid_from"] == row["valid_to"] for row in transactional if row["txn_outcome"] == "aborted")
    outcomes = {(row["file"], row["log_offset"]): row["txn_outcome"] for row in read(changed, "records")}
    assert all(outcomes[row["file"], row["log_offset"]] == row["txn_outcome"] for row in rows)


KINDS: Final[tuple[GroupKind, ...]] = ("classic", "consumer", "share", "streams")


@pytest.mark.parametrize("kind", KINDS)
def test_groups(changed: Running, java: JavaAdminClient, kind: GroupKind) -> None:
    if kind in FEATURES and not offers_feature(changed.node.release, FEATURES[kind]):
        pytest.skip(f"the broker of {changed.node.release} has no {kind} groups")
    group = f"{kind}-group"

    def described() -> object:
        (answer,) = java.describe_groups([group], kind)
        members = {
            (
                member.member_id,
                member.client_id,
                member.host,
                member.instance_id,
                None if member.assignment is None else tuple(sorted((p.topic, p.partition) for p in member.assignment)),
            )
            for member in answer.members
        }
        return (None if kind == "classic" else answer.epoch), members

    def told(rows: list[Row]) -> object:
        names = {row["topic_id"]: row["name"] for row in read(changed, "topic_history")}
        of_group = [row for row in rows if row["group_id"] == group]
        assert {row["kind"] for row in of_group} <= {kind}
        (epoch,) = {row["epoch"] for row in of_group} or {None}
        members = {
            (
                row["member_id"],
                row["client_id"],
                row["client_host"],
                row["instance_id"],
                None if kind == "streams" else assigned(row, names),
            )
            for row in of_group
            if row["member_id"] is not None
        }
        return (None if kind == "classic" else epoch), members

    with ExitStack() as members:
        for _ in range(1 if kind == "streams" else 2):
            members.enter_context(java.member(group, ["grown"], kind))
            eventually(lambda: {listed.group_id for listed in java.list_groups()}, lambda known: group in known)
            check(changed, "group_history", described, told)
        for row in still_open(read(changed, "group_history")):
            if row["group_id"] == group:
                assert row["topics"] == ["grown"]
    check(changed, "group_history", described, told)
    (row,) = (row for row in still_open(read(changed, "group_history")) if row["group_id"] == group)
    assert row["member_id"] is None


def assigned(row: Row, names: dict[str, str]) -> tuple[tuple[str, int], ...]:
    return tuple(
        sorted(
            (part["topic"] or names[part["topic_id"]], partition)
            for part in row["assignment"] or ()
            for partition in part["partitions"]
        )
    )


def test_state_at_each_snapshot_is_the_snapshot(changed: Running, tmp_path: Path) -> None:
    """Each snapshot that the node wrote has, without the log, the state of the log up to its end offset."""
    for snapshot in eventually(lambda: snapshots_of_changes(changed), lambda found: found):
        end = int(snapshot.name.partition("-")[0])
        alone = tmp_path / str(end) / METADATA_LOG
        alone.mkdir(parents=True)
        shutil.copy(snapshot, alone)
        for name in ("acl_history", "quota_history", "topic_history", "config_history", *CLUSTER_HISTORIES):
            below = still_open(history(name, changed.data, options=ReadOptions(high_watermark=end)))
            assert without_beginnings(history(name, alone)) == without_beginnings(below), (name, end)


def snapshots_of_changes(changed: Running) -> list[Path]:
    """All snapshots except the one from formatting, whose end offset is 0."""
    return [path for path in (changed.data / METADATA_LOG).glob("*-*.checkpoint") if int(path.name.partition("-")[0])]


def without_beginnings(rows: list[Row]) -> list[Row]:
    left_out = {"valid_from", "created_at", "from_offset", "added_by_snapshot", "cluster"}
    kept = ({name: value for name, value in row.items() if name not in left_out} for row in rows)
    return sorted((row for row in kept if row.get("value", "") is not None), key=str)


def test_after_a_restart(changed: Running, java: JavaAdminClient) -> None:
    names = ("acl_history", "quota_history", "config_history")
    before = {name: still_open(read(changed, name)) for name in names}
    changed.node.stop()
    assert {name: still_open(read(changed, name)) for name in before} == before
    changed.node.start()
    changed.wait()
    check_cluster(changed, java)
    check_configs(changed, java)


def test_deleted_topics_have_no_configs_even_if_a_restarted_broker_shows_them(
    java_admin: JavaAdmin, tmp_path: Path
) -> None:
    """A broker that loads all of the log at once shows the configs of a deleted topic for the next one of its name."""
    with kafka(newest_broker_release(), tmp_path, {}) as running:
        with BlockingAdminClient(running.address) as admin:
            admin.create_topics([NewTopic("t", 1, 1, configs={"retention.ms": "60000"})]).all()
            admin.wait_for_topics(["t"])
            admin.delete_topics(["t"]).all()
            eventually(lambda: set(admin.list_topics()), lambda names: "t" not in names)
            admin.create_topics([NewTopic("t", 1, 1, configs={"cleanup.policy": "compact"})]).all()
            admin.wait_for_topics(["t"])
        java = java_admin.client(running.address)
        assert configs_of_java(java, "TOPIC", "t", "DYNAMIC_TOPIC_CONFIG") == {"cleanup.policy": "compact"}
        running.node.stop()
        running.node.start()
        running.wait()
        shown = configs_of_java(java, "TOPIC", "t", "DYNAMIC_TOPIC_CONFIG")
        assert shown == {"cleanup.policy": "compact", "retention.ms": "60000"}
        rows = read(running, "config_history")
    assert configs(still_open(rows), "TOPIC", "t") == {"cleanup.policy": "compact"}
    ended = [row for row in rows if row["resource_name"] == "t" and row["valid_to"] is not None]
    assert [(row["name"], row["value"]) for row in ended] == [("retention.ms", "60000")]
