"""A twin of a real cluster's log gives the answers that the cluster gave, at the end and at an earlier date."""

from __future__ import annotations

import hashlib
import importlib
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.cluster import Cluster, running_cluster
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.releases import broker_release_parameters

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    NewTopic,
    PatternType,
    ResourceType,
    ScramCredentials,
    ScramMechanism,
    ScramUpsertion,
)
from kafkawire.broker import ThreadedBroker

pytestmark = [pytest.mark.interop, pytest.mark.extended]

METADATA = "__cluster_metadata-0"
ORDERS = ConfigResource(ConfigResourceType.TOPIC, "orders")
SECOND = ConfigResource(ConfigResourceType.BROKER, "2")
ALL_BROKERS = ConfigResource(ConfigResourceType.BROKER, "")
METRICS = ConfigResource(ConfigResourceType.CLIENT_METRICS, "producers")
PLACES = {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)}
SCRAM = {
    "listeners": "OPEN://127.0.0.1:0,LOGIN://127.0.0.1:0",
    "listener.security.protocol.map": "OPEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
    "listener.name.login.sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "inter.broker.listener.name": "OPEN",
}


def allow(name: str, principal: str, pattern: PatternType = PatternType.LITERAL) -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC, name, principal, AclOperation.READ, AclPermissionType.ALLOW, pattern_type=pattern
    )


def quota(user: str | None, rate: float | None) -> ClientQuotaAlteration:
    return ClientQuotaAlteration(ClientQuotaEntity({"user": user}), {"producer_byte_rate": rate})


def begin(admin: BlockingAdminClient) -> None:
    """Write the first state."""
    admin.create_topics(
        [NewTopic("orders", replica_assignments=PLACES, configs={"retention.ms": "1000"}), NewTopic("old", 2, 2)]
    ).all()
    admin.alter_client_quotas([quota("alice", 1000.0), quota(None, 2000.0)]).all()
    admin.alter_user_scram_credentials([ScramUpsertion("alice", ScramMechanism.SCRAM_SHA_256, "secret")]).all()
    admin.incremental_alter_configs(
        {
            SECOND: [ConfigChange("log.cleaner.threads", ConfigOperation.SET, "2")],
            ALL_BROKERS: [ConfigChange("message.max.bytes", ConfigOperation.SET, "2000000")],
            METRICS: [ConfigChange("interval.ms", ConfigOperation.SET, "5000")],
        }
    ).all()
    create_last(admin, allow("orders", "User:alice"), allow("pay", "User:bob", PatternType.PREFIXED))


def change(admin: BlockingAdminClient) -> None:
    """Write the second state over the first one."""
    admin.delete_topics(["old"]).all()
    admin.create_topics([NewTopic("new", 1, 3)]).all()
    admin.create_partitions({"orders": 4}).all()
    admin.delete_acls([AclBindingFilter(principal="User:bob")]).all()
    admin.alter_client_quotas([quota("alice", None), quota("bob", 5.0)]).all()
    admin.alter_user_scram_credentials([ScramUpsertion("bob", ScramMechanism.SCRAM_SHA_512, "secret")]).all()
    admin.incremental_alter_configs({ORDERS: [ConfigChange("retention.ms", ConfigOperation.SET, "5000")]}).all()
    create_last(admin, allow("new", "User:carol"))


def create_last(admin: BlockingAdminClient, *acls: AclBinding) -> None:
    """Create ACLs, and wait for them on all brokers: each of these has then applied all earlier changes too."""
    admin.create_acls(acls).all()
    admin.wait_for_acls(acls).all()


def described(admin: BlockingAdminClient) -> Mapping[str, Any]:
    """The whole state, as the methods that describe return it."""
    names = sorted(admin.list_topics(include_internal=True))
    cluster = admin.describe_cluster(include_fenced_brokers=False)
    resources = [
        METRICS,
        ALL_BROKERS,
        *(ConfigResource(ConfigResourceType.BROKER, str(node)) for node in (1, 2, 3)),
        *(ConfigResource(ConfigResourceType.TOPIC, name) for name in names),
    ]
    return {
        "cluster": (cluster.cluster_id, [each.node.id for each in cluster.nodes]),
        "topics": admin.describe_topics(names).all(),
        "acls": set(admin.describe_acls([AclBindingFilter()]).union()),
        "quotas": admin.describe_client_quotas([ClientQuotaFilter()]).union(),
        "users": admin.describe_user_scram_credentials().all(),
        "configs": {
            resource: {
                name: entry.value
                for name, entry in entries.items()
                if entry.source not in {ConfigSource.STATIC_BROKER_CONFIG, ConfigSource.DEFAULT_CONFIG}
            }
            for resource, entries in admin.describe_configs(resources).all().items()
        },
        "features": admin.describe_features().finalized,
    }


def settled(admin: BlockingAdminClient) -> Mapping[str, Any]:
    """The whole state, once all replicas are in sync: until then a slow broker changes it after the last request."""
    return eventually(
        lambda: described(admin),
        lambda state: all(
            set(partition.isr) == set(partition.replicas)
            for topic in state["topics"].values()
            for partition in topic.partitions
        ),
    )


_LINGER = 0.1
"""Seconds. A controller adds records to a batch that it began up to 25 ms before, and the batch has one time."""


@dataclass(frozen=True)
class Written:
    """A copied log, and the answers that the cluster gave while it wrote it.

    Attributes:
        folder: the copied folder of the metadata log, beside the identity of the directory.
        first, second: the answers.
        between: a time between the two states.
    """

    folder: Path
    first: Mapping[str, Any]
    second: Mapping[str, Any]
    between: datetime


def written_by(cluster: Cluster, folder: Path) -> Written:
    with BlockingAdminClient(cluster.bootstrap) as admin:
        begin(admin)
        first = settled(admin)
        time.sleep(_LINGER)
        between = datetime.now(UTC)
        time.sleep(_LINGER)
        change(admin)
        second = settled(admin)
    log_dir = cluster.nodes[cluster.active_controller()].log_dirs[0]
    shutil.copytree(log_dir / METADATA, folder / METADATA)
    shutil.copy(log_dir / "meta.properties", folder)
    return Written(folder, first, second, between)


@pytest.fixture(scope="module", params=broker_release_parameters(every_minor=False))
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    home = tmp_path_factory.mktemp("cluster")
    (home / "copy").mkdir()
    (home / "nodes").mkdir()
    with running_cluster(request.param, home / "nodes", properties=AUTHORIZER) as cluster:
        return written_by(cluster, home / "copy")


def sums(folder: Path) -> Mapping[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def test_at_the_end_the_answers_are_those_of_the_cluster(written: Written) -> None:
    with ThreadedBroker(from_log=written.folder) as twin, BlockingAdminClient(twin.bootstrap_servers) as admin:
        assert described(admin) == written.second


def test_at_an_earlier_date_the_answers_are_the_earlier_ones(written: Written) -> None:
    with (
        ThreadedBroker(from_log=written.folder, as_of=written.between) as twin,
        BlockingAdminClient(twin.bootstrap_servers) as admin,
    ):
        assert described(admin) == written.first


def test_changes_are_made_in_the_twin_only(written: Written) -> None:
    before = sums(written.folder)
    with ThreadedBroker(from_log=written.folder) as twin, BlockingAdminClient(twin.bootstrap_servers) as admin:
        change_of_change = allow("tried", "User:dave")
        admin.create_topics([NewTopic("tried", 6, 3)]).all()
        admin.create_acls([change_of_change]).all()
        admin.alter_client_quotas([quota("dave", 7.0)]).all()
        admin.incremental_alter_configs({ORDERS: [ConfigChange("retention.ms", ConfigOperation.DELETE)]}).all()
        admin.delete_topics(["new"]).all()
        after = described(admin)
        assert after["topics"].keys() == (written.second["topics"].keys() | {"tried"}) - {"new"}
        assert after["acls"] == written.second["acls"] | {change_of_change}
        assert after["configs"][ORDERS].get("retention.ms") is None
    assert sums(written.folder) == before


def test_users_log_in_with_their_passwords(written: Written) -> None:
    with ThreadedBroker(SCRAM, from_log=written.folder) as twin:
        login = ScramCredentials("alice", "secret", "SCRAM-SHA-256")
        with BlockingAdminClient(twin.address("LOGIN"), credentials=login) as admin:
            assert set(admin.list_topics()) == {"orders"}


def test_java_reaches_every_node_at_the_address_of_the_twin(written: Written, java_admin: JavaAdmin) -> None:
    with ThreadedBroker(from_log=written.folder) as twin:
        java = java_admin.client(twin.bootstrap_servers)
        assert {node.id for node in java.describe_cluster().nodes} == {1, 2, 3}
        configs = {config.name: config.value for config in java.describe_configs("BROKER", "2")}
        assert (configs["log.cleaner.threads"], configs["node.id"]) == ("2", "2")
        java.alter_config("BROKER", "3", "log.cleaner.threads", "2")
        java.create_topic("by-java", partitions=3, replication_factor=3)
        (created,) = java.describe_topics(["by-java"])
        assert {partition.leader for partition in created.partitions} == {1, 2, 3}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_librdkafka_reaches_every_node_at_the_address_of_the_twin(written: Written) -> None:
    confluent: Any = importlib.import_module("confluent_kafka.admin")
    with ThreadedBroker(from_log=written.folder) as twin:
        admin = confluent.AdminClient({"bootstrap.servers": twin.bootstrap_servers})
        assert set(admin.list_topics(timeout=20).brokers) == {1, 2, 3}
        (created,) = admin.create_topics([confluent.NewTopic("by-rdkafka", 3, 3)]).values()
        created.result(20)
        resource = confluent.ConfigResource(confluent.ConfigResource.Type.BROKER, "2")
        (described,) = admin.describe_configs([resource]).values()
        assert described.result(20)["log.cleaner.threads"].value == "2"
