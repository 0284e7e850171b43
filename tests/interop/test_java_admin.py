"""The driver of Java's Admin: each of its operations answers, for every release of the broker."""

from __future__ import annotations

import time

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers, Clusters, SecureBrokers
from tests.apache_kafka.java_admin import GroupKind, JavaAdmin, JavaAdminClient, JavaAdminError
from tests.apache_kafka.java_answers import JavaAcl, JavaConfigResource, Partition
from tests.apache_kafka.releases import broker_releases, newest_broker_release
from tests.apache_kafka.secure_broker import SUPER_USER

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


@pytest.fixture
def admin(broker: Broker, java_admin: JavaAdmin) -> JavaAdminClient:
    return java_admin.client(broker.address)


@pytest.fixture
def secure_admin(broker: Broker, secure_kafka_brokers: SecureBrokers, java_admin: JavaAdmin) -> JavaAdminClient:
    """An Admin that is logged in and may do everything."""
    return java_admin.client(properties=secure_kafka_brokers(broker.release).java_sasl("SCRAM-SHA-512"))


@pytest.fixture
def topic(admin: JavaAdminClient) -> str:
    name = new("topic")
    admin.create_topic(name, partitions=2, configs={"retention.ms": "60000"})
    eventually(lambda: {listed.name for listed in admin.list_topics()}, lambda names: name in names)
    return name


def new(kind: str) -> str:
    return f"java-{kind}-{time.monotonic_ns()}"


def test_cluster(broker: Broker, admin: JavaAdminClient) -> None:
    cluster = admin.describe_cluster()
    assert (cluster.cluster_id, cluster.controller) == (broker.cluster_id, broker.node_id)
    assert [(node.id, node.host, node.port) for node in cluster.nodes] == [(broker.node_id, broker.host, broker.port)]
    assert cluster.authorized_operations is None
    assert "metadata.version" in admin.describe_features().finalized
    quorum = admin.describe_quorum()
    assert quorum.leader_id == broker.node_id
    assert [voter.id for voter in quorum.voters] == [broker.node_id]


def test_controllers_are_asked_by_their_own_addresses(broker: Broker, java_admin: JavaAdmin) -> None:
    controllers = {"bootstrap.controllers": f"{broker.host}:{broker.controller_port}"}
    cluster = java_admin.client(properties=controllers).describe_cluster()
    assert [node.port for node in cluster.nodes] == [broker.controller_port]


def test_topics_partitions_and_offsets(broker: Broker, admin: JavaAdminClient, topic: str) -> None:
    (described,) = admin.describe_topics([topic], authorized_operations=True)
    assert (described.name, described.internal) == (topic, False)
    assert [(p.partition, p.leader, p.replicas, p.isr) for p in described.partitions] == [
        (index, broker.node_id, (broker.node_id,), (broker.node_id,)) for index in range(2)
    ]
    assert "READ" in (described.authorized_operations or ())
    assert {listed.name: listed.topic_id for listed in admin.list_topics()}[topic] == described.topic_id

    first, second = Partition(topic, 0), Partition(topic, 1)
    assert admin.produce(first, ["a", "b", "c"]) == 2
    assert [(found.partition, found.offset) for found in admin.list_offsets([first, second], -1)] == [
        (first, 3),
        (second, 0),
    ]
    assert [found.offset for found in admin.list_offsets([first, second], -2)] == [0, 0]
    assert [found.offset for found in admin.list_offsets([first, second], 0)] == [0, -1]
    assert admin.list_reassignments() == ()


def test_log_dirs(broker: Broker, admin: JavaAdminClient, topic: str) -> None:
    (log_dir,) = eventually(
        lambda: admin.describe_log_dirs([broker.node_id]),
        lambda described: (
            {Partition(topic, 0), Partition(topic, 1)} <= {replica.partition for replica in described[0].replicas}
        ),
    )
    assert (log_dir.broker, log_dir.path, log_dir.error) == (broker.node_id, str(broker.data), None)
    assert log_dir.usable_bytes
    (replica,) = admin.describe_replica_log_dirs([Partition(topic, 0)], broker.node_id)
    assert (replica.current_path, replica.future_path) == (str(broker.data), None)


def test_configs(broker: Broker, admin: JavaAdminClient, topic: str) -> None:
    admin.alter_config("TOPIC", topic, "cleanup.policy", "compact")
    configs = eventually(
        lambda: {config.name: config for config in admin.describe_configs("TOPIC", topic)},
        lambda configs: configs["cleanup.policy"].value == "compact",
    )
    assert (configs["retention.ms"].value, configs["retention.ms"].source) == ("60000", "DYNAMIC_TOPIC_CONFIG")
    assert (configs["cleanup.policy"].value, configs["cleanup.policy"].type) == ("compact", "LIST")
    assert [synonym.source for synonym in configs["cleanup.policy"].synonyms] == [
        "DYNAMIC_TOPIC_CONFIG",
        "DEFAULT_CONFIG",
    ]
    broker_configs = {config.name: config.value for config in admin.describe_configs("BROKER", str(broker.node_id))}
    assert broker_configs["node.id"] == str(broker.node_id)


def test_config_resources(kafka_broker: Broker, java_admin: JavaAdmin) -> None:
    admin = java_admin.client(kafka_broker.address)
    topic = new("topic")
    admin.create_topic(topic)
    eventually(admin.list_config_resources, lambda resources: JavaConfigResource("TOPIC", topic) in resources)


def test_acls(secure_admin: JavaAdminClient) -> None:
    acl = JavaAcl("TOPIC", new("prefix"), "PREFIXED", f"User:{new('user')}", "*", "READ", "DENY")
    secure_admin.create_acl(acl)
    assert eventually(lambda: secure_admin.describe_acls(principal=acl.principal), bool) == (acl,)
    assert acl in secure_admin.describe_acls()
    assert acl not in secure_admin.describe_acls(pattern_type="LITERAL")
    matching = secure_admin.describe_acls(
        resource_type="TOPIC", resource_name=f"{acl.resource_name}-more", pattern_type="MATCH", host="*"
    )
    assert matching == (acl,)


def test_acls_without_an_authorizer_are_an_error_with_its_code(admin: JavaAdminClient) -> None:
    with pytest.raises(JavaAdminError, match="No Authorizer is configured") as refused:
        admin.describe_acls()
    assert (refused.value.kind, refused.value.code) == ("SecurityDisabledException", 54)


def test_client_quotas(admin: JavaAdminClient) -> None:
    user = new("user")
    admin.alter_client_quota({"user": user}, {"producer_byte_rate": 1024.0, "consumer_byte_rate": 2048.0})
    admin.alter_client_quota({"user": user, "client-id": None}, {"request_percentage": 12.5})
    described = eventually(lambda: admin.describe_client_quotas({"user": user}), lambda described: len(described) == 2)
    found = {tuple(sorted(quotas.entity)): quotas for quotas in described}
    assert found["user",].quotas == {"producer_byte_rate": 1024.0, "consumer_byte_rate": 2048.0}
    assert found["client-id", "user"].entity == {"user": user, "client-id": None}
    (strict,) = admin.describe_client_quotas({"user": user}, strict=True)
    assert strict == found["user",]
    (of_default,) = admin.describe_client_quotas({"user": user}, defaults=["client-id"])
    assert of_default == found["client-id", "user"]
    admin.alter_client_quota({"user": user}, {"producer_byte_rate": None, "consumer_byte_rate": None})
    eventually(lambda: admin.describe_client_quotas({"user": user}, strict=True), lambda described: described == ())
    assert admin.describe_client_quotas({"user": user}, any_of=["client-id"]) == (of_default,)


def test_scram_users(admin: JavaAdminClient) -> None:
    user = new("user")
    admin.upsert_scram_user(user, "SCRAM_SHA_512", "secret", iterations=8192)
    (described,) = eventually(
        lambda: [described for described in admin.describe_scram_users() if described.user == user], bool
    )
    assert [(c.mechanism, c.iterations) for c in described.credentials] == [("SCRAM_SHA_512", 8192)]
    assert admin.describe_scram_users([user]) == (described,)


def test_delegation_tokens(secure_admin: JavaAdminClient) -> None:
    secret = secure_admin.create_delegation_token()
    tokens = eventually(
        lambda: {token.token_id: token for token in secure_admin.describe_delegation_tokens()},
        lambda tokens: secret.token_id in tokens,
    )
    assert tokens[secret.token_id].owner == f"User:{SUPER_USER}"
    assert tokens[secret.token_id].max_timestamp - tokens[secret.token_id].issue_timestamp == 600_000


def test_classic_groups(admin: JavaAdminClient, topic: str) -> None:
    check_group(admin, topic, "classic")


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_groups_that_the_newest_release_has(kafka_broker: Broker, java_admin: JavaAdmin, kind: GroupKind) -> None:
    admin = java_admin.client(kafka_broker.address)
    topic = new("topic")
    admin.create_topic(topic, partitions=2)
    check_group(admin, topic, kind)


def check_group(admin: JavaAdminClient, topic: str, kind: GroupKind) -> None:
    group = new(f"{kind}-group")
    with admin.member(group, [topic], kind):
        eventually(admin.list_groups, lambda listings: group in {listing.group_id for listing in listings})
        (described,) = admin.describe_groups([group], kind)
        listed = {listing.group_id: listing for listing in admin.list_groups()}[group]
    assert (described.group_id, described.type, len(described.members)) == (group, kind.upper(), 1)
    assert listed.type == kind.upper()
    if kind in ("classic", "consumer"):
        assert described.members[0].assignment == (Partition(topic, 0), Partition(topic, 1))


def test_group_offsets(admin: JavaAdminClient, topic: str) -> None:
    group = new("group")
    admin.alter_group_offset(group, Partition(topic, 1), 7)
    (offset,) = admin.list_group_offsets(group)
    assert (offset.partition, offset.offset, offset.metadata) == (Partition(topic, 1), 7, "")


def test_share_group_offsets(kafka_broker: Broker, java_admin: JavaAdmin) -> None:
    admin = java_admin.client(kafka_broker.address)
    topic, group = new("topic"), new("share-group")
    admin.create_topic(topic)
    with admin.member(group, [topic], "share"):
        pass
    assert {offset.partition for offset in admin.list_share_group_offsets(group)} <= {Partition(topic, 0)}


@pytest.mark.parametrize("commit", [True, False])
def test_transactions_and_producers(admin: JavaAdminClient, topic: str, commit: bool) -> None:
    transactional_id, partition = new("transaction"), Partition(topic, 0)
    with admin.open_transaction(transactional_id, partition, commit=commit):
        (described,) = admin.describe_transactions([transactional_id])
        (producer,) = admin.describe_producers(partition)
        listed = {listing.transactional_id: listing for listing in admin.list_transactions()}
    assert (described.state, described.partitions) == ("ONGOING", (partition,))
    assert described.producer_id == producer.producer_id == listed[transactional_id].producer_id
    assert producer.transaction_start_offset == 0
    eventually(
        lambda: admin.describe_transactions([transactional_id])[0].state,
        lambda state: state == ("COMPLETE_COMMIT" if commit else "COMPLETE_ABORT"),
    )


def test_timings(secure_admin: JavaAdminClient) -> None:
    users = [new("user") for _ in range(3)]
    for user in users:
        secure_admin.create_acl(JavaAcl("TOPIC", user, "LITERAL", f"User:{user}", "*", "READ", "ALLOW"))
    keys = ["producer_byte_rate", "consumer_byte_rate"]
    altered = secure_admin.time_alter_client_quotas(users, keys, warm_ups=1, rounds=2)
    assert (len(altered.seconds), altered.items) == (2, 3)
    (quotas,) = eventually(lambda: secure_admin.describe_client_quotas({"user": users[0]}), bool)
    assert quotas.quotas.keys() == set(keys)
    eventually(secure_admin.describe_acls, lambda acls: users[-1] in [acl.resource_name for acl in acls])
    described = secure_admin.time_describe_acls_of_principals([f"User:{user}" for user in users], warm_ups=0, rounds=1)
    assert (len(described.seconds), described.items) == (1, 3)
    everything = secure_admin.time_describe_all_acls(warm_ups=0, rounds=3)
    assert len(everything.seconds) == 3
    assert everything.items >= 3
    assert min(altered.seconds + described.seconds + everything.seconds) > 0


def test_cluster_of_several_nodes(kafka_clusters: Clusters, java_admin: JavaAdmin) -> None:
    cluster = kafka_clusters(newest_broker_release())
    admin = java_admin.client(cluster.bootstrap)
    assert [node.id for node in admin.describe_cluster().nodes] == [1, 2, 3]
    assert {(d.broker, d.path) for d in admin.describe_log_dirs([1, 2, 3])} == {
        (node.node_id, str(path)) for node in cluster.nodes.values() for path in node.log_dirs
    }
    quorum = admin.describe_quorum()
    assert (quorum.leader_id, [voter.id for voter in quorum.voters]) == (cluster.active_controller(), [1, 2, 3])
