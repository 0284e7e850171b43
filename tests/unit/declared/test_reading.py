"""The state of a cluster is read whole or in part; what cannot be read is said (A16, G2, C28)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.embedded.filled_state import ALICE, AUTHORIZER, BILLING, DEFAULT_CLIENT, GROUP, METRICS, PROPERTIES, fill

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    BlockingAdminClient,
    ClientQuotaFilter,
    ConfigResource,
    PatternType,
    ResourceType,
    ScramMechanism,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.declared.planned import Kind
from kafkawire.declared.reading import ReadCluster, read_cluster
from kafkawire.declared.scope import EVERYTHING, ReadScope
from kafkawire.declared.state import CredentialState, TopicState
from kafkawire.protocol import (
    DescribeAclsRequest,
    DescribeClientQuotasRequest,
    DescribeConfigsRequest,
    DescribeTopicPartitionsRequest,
    DescribeUserScramCredentialsRequest,
    MetadataRequest,
)
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    SecurityDisabledError,
    TopicAuthorizationFailedError,
)
from kafkawire.wire.kafka_errors import OperationTimeoutError


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as running:
        with BlockingAdminClient(running.bootstrap_servers) as admin:
            fill(admin)
        yield running


def read(broker: ThreadedBroker, scope: ReadScope = EVERYTHING) -> ReadCluster:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        return admin.run(lambda client: read_cluster(client, scope))


def test_topics_have_partitions_replicas_assignments_and_the_configs_that_are_set_on_them(
    broker: ThreadedBroker,
) -> None:
    topics = read(broker).state.topics
    assert list(topics) == ["orders", "orders-dead", "payments"]
    assert topics["orders"] == TopicState(
        partitions=3,
        replication_factor=1,
        assignments={0: (1,), 1: (1,), 2: (1,)},
        configs={"cleanup.policy": "delete", "retention.ms": "604800000"},
    )
    assert topics["payments"].configs == {}


def test_brokers_groups_and_metrics_subscriptions_have_the_configs_that_are_set_on_them(broker: ThreadedBroker) -> None:
    configs = read(broker).state.configs
    assert configs[ConfigResource.broker_default()]["log.retention.ms"] == "86400000"
    assert configs[ConfigResource.broker(1)] == {"log.cleaner.threads": "2"}
    assert configs[GROUP] == {"consumer.session.timeout.ms": "50000"}
    assert configs[METRICS] == {"interval.ms": "60000"}


def test_acls_quotas_and_credentials_are_read(broker: ThreadedBroker) -> None:
    found = read(broker)
    assert found.state.acls == frozenset(BILLING)
    assert found.state.quotas == {ALICE: {"producer_byte_rate": 1024.0}, DEFAULT_CLIENT: {"consumer_byte_rate": 2048.0}}
    assert found.state.credentials == {
        (user, ScramMechanism.SCRAM_SHA_512): CredentialState(iterations=8192) for user in ("alice", "bob")
    }
    assert found.unread == ()
    assert found.cluster_id is not None


@pytest.mark.parametrize("kind", Kind)
def test_one_kind_is_read_alone(broker: ThreadedBroker, kind: Kind) -> None:
    whole = read(broker).state
    alone = read(broker, ReadScope(kinds=frozenset({kind}))).state
    fields = {"users": "credentials"}
    for other in Kind:
        name = fields.get(other, other)
        assert getattr(alone, name) == (getattr(whole, name) if other is kind else type(getattr(whole, name))())


def test_only_the_items_concerned_are_read(broker: ThreadedBroker) -> None:
    scope = ReadScope(
        topics=frozenset({"payments", "not-there", "not/valid"}),
        configs=frozenset({GROUP}),
        acls=(AclBindingFilter(ResourceType.GROUP, "billing", pattern_type=PatternType.LITERAL),),
        quotas=(ClientQuotaFilter.of_entity(ALICE),),
        users=frozenset({"bob", "nobody"}),
    )
    before = len(broker.requests)
    found = read(broker, scope)
    assert set(found.state.topics) == {"payments"}
    assert set(found.state.configs) == {GROUP}
    assert found.state.acls == frozenset(acl for acl in BILLING if acl.resource_type is ResourceType.GROUP)
    assert set(found.state.quotas) == {ALICE}
    assert set(found.state.credentials) == {("bob", ScramMechanism.SCRAM_SHA_512)}
    assert found.unread == ()
    asked = [each.request for each in list(broker.requests)[before:]]
    assert not any(isinstance(each, MetadataRequest) and each.topics is None for each in asked)


def test_topics_are_read_by_prefix_and_by_name(broker: ThreadedBroker) -> None:
    scope = ReadScope(topics=frozenset({"payments"}), topic_prefixes=("orders-",))
    assert set(read(broker, scope).state.topics) == {"orders-dead", "payments"}


def test_all_kinds_are_read_at_the_same_time(broker: ThreadedBroker) -> None:
    before = len(broker.requests)
    read(broker)
    kinds = [
        DescribeAclsRequest,
        DescribeClientQuotasRequest,
        DescribeUserScramCredentialsRequest,
        DescribeConfigsRequest,
        DescribeTopicPartitionsRequest,
    ]
    asked = [type(each.request) for each in list(broker.requests)[before:]]
    assert [kind for kind in kinds if kind not in asked] == []


def test_progress_says_how_many_items_of_a_kind_are_read(broker: ThreadedBroker) -> None:
    reports = []
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.run(lambda client: read_cluster(client, progress=lambda *report: reports.append(report)))
    assert (Kind.TOPICS, 0, 3) in reports
    assert {(Kind.TOPICS, 3, 3), (Kind.ACLS, 3, 3), (Kind.QUOTAS, 2, 2), (Kind.USERS, 2, 2)} <= set(reports)


def test_a_cluster_without_authorizer_has_no_acls_that_could_be_read() -> None:
    with ThreadedBroker(topics=["orders"]) as plain:
        found = read(plain)
    assert set(found.state.topics) == {"orders"}
    (unread,) = found.unread
    assert (unread.kind, unread.what, unread.item) == (Kind.ACLS, "ACLs", None)
    assert isinstance(unread.error, SecurityDisabledError)
    assert str(unread) == "ACLs: No Authorizer is configured on the broker"


def test_what_the_caller_may_not_read_is_named() -> None:
    closing = [
        AclBinding.of_cluster("User:admin", AclOperation.ALL),
        AclBinding(ResourceType.TOPIC, "orders", "User:admin", AclOperation.DESCRIBE_CONFIGS),
        AclBinding(ResourceType.TOPIC, "orders", "User:ANONYMOUS", AclOperation.DESCRIBE),
        AclBinding(ResourceType.TOPIC, "secret", "User:admin", AclOperation.READ),
    ]
    open_until_acls_are_there = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
    with ThreadedBroker(open_until_acls_are_there, topics=["orders", "payments", "secret"]) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_acls(closing).all()
        found = read(broker, ReadScope(topics=frozenset({"orders", "payments", "secret"})))
    assert set(found.state.topics) == {"orders", "payments"}
    assert found.state.acls == frozenset()
    assert found.state.quotas == {}
    assert found.state.credentials == {}
    reasons = {each.what: (each.kind, each.item, type(each.error)) for each in found.unread}
    assert reasons == {
        "ACLs": (Kind.ACLS, None, ClusterAuthorizationFailedError),
        "quotas": (Kind.QUOTAS, None, ClusterAuthorizationFailedError),
        "SCRAM users": (Kind.USERS, None, ClusterAuthorizationFailedError),
        "metrics subscriptions": (Kind.CONFIGS, None, ClusterAuthorizationFailedError),
        "configs of groups": (Kind.CONFIGS, None, ClusterAuthorizationFailedError),
        "configs of all brokers": (Kind.CONFIGS, ConfigResource.broker_default(), ClusterAuthorizationFailedError),
        "configs of broker 1": (Kind.CONFIGS, ConfigResource.broker(1), ClusterAuthorizationFailedError),
        "topic secret": (Kind.TOPICS, "secret", TopicAuthorizationFailedError),
        "configs of topic orders": (Kind.TOPICS, ConfigResource.topic("orders"), TopicAuthorizationFailedError),
        "configs of topic secret": (Kind.TOPICS, ConfigResource.topic("secret"), TopicAuthorizationFailedError),
    }


def test_a_broker_that_does_not_run_is_not_waited_for(broker: ThreadedBroker) -> None:
    away = ConfigResource.broker(77)
    found = read(broker, ReadScope(kinds=frozenset({Kind.CONFIGS}), configs=frozenset({away, GROUP})))
    assert set(found.state.configs) == {GROUP}
    (unread,) = found.unread
    assert unread.item == away
    assert str(unread) == "configs of broker 77: broker 77 is not running"


def test_a_cluster_that_does_not_answer_is_an_error() -> None:
    with BlockingAdminClient("127.0.0.1:1") as admin, pytest.raises(OperationTimeoutError, match="refused"):
        admin.run(lambda client: read_cluster(client, timeout=0.2))
