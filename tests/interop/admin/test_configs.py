"""Configurations at real brokers: everything that has one, every change, and what is refused (G1 to G6)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest
from tests.apache_kafka.cluster import Cluster
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases, is_at_least
from tests.apache_kafka.secure_broker import PASSWORDS, USER, SecureBroker
from tests.stand_ins.channels import soon

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.model.configs.resources import (
    ConfigChange,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigType,
)
from kafkawire.model.topics import NewTopic
from kafkawire.protocol import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidConfigError,
    InvalidRequestError,
    InvalidTopicError,
    PolicyViolationError,
    TopicAuthorizationFailedError,
    UnknownServerError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import KafkaError, OperationTimeoutError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

DEFAULT = ConfigResource.broker_default()
UNHEARD_OF = ConfigResource(ConfigResourceType(99), "x")
SETTINGS = ConnectionSettings(client_id="test")


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.fixture
def node(broker: SecureBroker) -> ConfigResource:
    return ConfigResource.broker(broker.broker.node_id)


@pytest.fixture
def logger(broker: SecureBroker) -> ConfigResource:
    return ConfigResource.broker_logger(broker.broker.node_id)


@pytest.fixture
def topic(admin: BlockingAdminClient) -> Iterator[ConfigResource]:
    name = f"configured-{time.monotonic_ns()}"
    admin.create_topics([NewTopic(name, 1, 1)]).all()
    eventually(admin.list_topics, lambda topics: name in topics)
    yield ConfigResource.topic(name)
    admin.delete_topics([name]).all()


def entry(admin: BlockingAdminClient, resource: ConfigResource, name: str) -> ConfigEntry | None:
    return admin.describe_configs([resource])[resource].get(name)


def value(admin: BlockingAdminClient, resource: ConfigResource, name: str) -> str | None:
    found = entry(admin, resource, name)
    return None if found is None else found.value


def has(admin: BlockingAdminClient, resource: ConfigResource, name: str, wanted: str) -> None:
    eventually(lambda: value(admin, resource, name), lambda found: found == wanted)


def change(admin: BlockingAdminClient, resource: ConfigResource, *changes: ConfigChange) -> None:
    admin.incremental_alter_configs({resource: changes}).all()


def errors_of(results: Mapping[ConfigResource, KafkaError]) -> dict[ConfigResource, type[KafkaError]]:
    return {resource: type(error) for resource, error in results.items()}


def test_brokers_topics_and_client_metrics_are_described_with_their_configs(
    admin: BlockingAdminClient, node: ConfigResource, topic: ConfigResource
) -> None:
    """G1."""
    resources = [node, DEFAULT, topic, ConfigResource.client_metrics("none")]
    results = admin.describe_configs(resources, include_synonyms=True, include_documentation=True)
    assert list(results.all()) == resources
    retention = results[topic]["retention.ms"]
    assert (retention.value, retention.config_type, retention.is_default) == ("604800000", ConfigType.LONG, True)
    assert retention.documentation is not None
    segment = results[topic]["segment.bytes"]
    assert [(synonym.name, synonym.source) for synonym in segment.synonyms] == [
        ("log.segment.bytes", ConfigSource.DEFAULT_CONFIG)
    ]
    identity = results[node]["node.id"]
    assert (identity.value, identity.is_read_only) == (node.name, True)
    assert identity.source is ConfigSource.STATIC_BROKER_CONFIG
    secret = results[node]["delegation.token.secret.key"]
    assert (secret.value, secret.is_sensitive, secret.config_type) == (None, True, ConfigType.PASSWORD)


def test_groups_and_loggers_are_described_by_brokers_that_support_them(
    admin: BlockingAdminClient, broker: SecureBroker, logger: ConfigResource, topic: ConfigResource
) -> None:
    """G1."""
    group = ConfigResource.group("none")
    results = admin.describe_configs([group, logger, topic])
    if is_at_least(broker.broker.release, "4.1"):
        assert results[group]["consumer.session.timeout.ms"].config_type is ConfigType.INT
        assert {found.source for found in results[logger].values()} == {ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG}
    else:
        # It has no configs of groups, and these tests run it without the library that lists its loggers.
        assert list(results.values()) == [topic]
        assert errors_of(results.errors()) == {group: InvalidRequestError, logger: UnknownServerError}


def test_only_requested_keys_are_described_and_each_bad_resource_has_its_error(
    admin: BlockingAdminClient, topic: ConfigResource
) -> None:
    """G4."""
    missing, illegal, nameless = (ConfigResource.topic(name) for name in ("no-such-topic", "a b", ""))
    results = admin.describe_configs(
        [topic, missing, UNHEARD_OF, illegal, nameless], keys=["retention.ms", "nosuch", "cleanup.policy"]
    )
    assert set(results[topic]) == {"retention.ms", "cleanup.policy"}
    assert errors_of(results.errors()) == {
        missing: UnknownTopicOrPartitionError, illegal: InvalidTopicError, nameless: InvalidTopicError,
        UNHEARD_OF: InvalidRequestError,
    }  # fmt: skip
    assert len(admin.describe_configs([topic], keys=[])[topic]) > 20


def test_values_are_set_appended_subtracted_and_deleted(admin: BlockingAdminClient, topic: ConfigResource) -> None:
    """G5."""
    change(admin, topic, ConfigChange.set("retention.ms", "6000"), ConfigChange.append("cleanup.policy", "compact"))
    has(admin, topic, "cleanup.policy", "delete,compact")
    assert value(admin, topic, "retention.ms") == "6000"
    retention = entry(admin, topic, "retention.ms")
    assert retention is not None
    assert (retention.source, retention.is_default) == (ConfigSource.DYNAMIC_TOPIC_CONFIG, False)
    change(admin, topic, ConfigChange.subtract("cleanup.policy", "delete"), ConfigChange.delete("retention.ms"))
    has(admin, topic, "cleanup.policy", "compact")
    assert value(admin, topic, "retention.ms") == "604800000"
    change(admin, topic, ConfigChange.delete("retention.ms"))  # need not be set


def test_validation_changes_nothing(admin: BlockingAdminClient, topic: ConfigResource) -> None:
    good, bad = ConfigChange.set("retention.ms", "6000"), ConfigChange.set("retention.ms", "soon")
    assert admin.incremental_alter_configs({topic: [good]}, validate_only=True).all() == {topic: None}
    results = admin.incremental_alter_configs({topic: [bad]}, validate_only=True)
    assert errors_of(results.errors()) == {topic: InvalidConfigError}
    change(admin, topic, ConfigChange.set("flush.ms", "77"))
    has(admin, topic, "flush.ms", "77")
    assert value(admin, topic, "retention.ms") == "604800000"


def test_resources_that_are_refused_leave_the_others_changed(
    admin: BlockingAdminClient,
    broker: SecureBroker,
    node: ConfigResource,
    logger: ConfigResource,
    topic: ConfigResource,
) -> None:
    """G5."""
    metrics, group = ConfigResource.client_metrics("m"), ConfigResource.group("g")
    missing, nameless = ConfigResource.topic("no-such-topic"), ConfigResource.topic("")
    results = admin.incremental_alter_configs(
        {
            missing: [ConfigChange.set("retention.ms", "1")],
            nameless: [ConfigChange.set("retention.ms", "1")],
            UNHEARD_OF: [ConfigChange.set("a", "1")],
            metrics: [ConfigChange.set("nosuch", "1")],
            group: [ConfigChange.set("nosuch", "1")],
            node: [ConfigChange.set("node.id", "9")],
            logger: [ConfigChange.set("root", "LOUD")],
            topic: [ConfigChange.set("flush.ms", "78")],
        }
    )
    lists_all = is_at_least(broker.broker.release, "4.1")
    assert errors_of(results.errors()) == {
        missing: UnknownTopicOrPartitionError,
        nameless: InvalidRequestError,
        UNHEARD_OF: InvalidRequestError,
        metrics: InvalidRequestError,
        group: InvalidConfigError if lists_all else InvalidRequestError,
        node: InvalidRequestError,
        logger: InvalidConfigError if lists_all else UnknownServerError,
    }
    has(admin, topic, "flush.ms", "78")


@pytest.mark.parametrize(
    "wrong",
    [
        ConfigChange.append("retention.ms", "1"),
        ConfigChange.subtract("retention.ms", "1"),
        ConfigChange.append("nosuch", "1"),
        ConfigChange.set("nosuch", "1"),
        ConfigChange.set("retention.ms", "soon"),
    ],
    ids=repr,
)
def test_one_bad_change_fails_all_changes_of_its_topic(
    admin: BlockingAdminClient, topic: ConfigResource, wrong: ConfigChange
) -> None:
    """G5."""
    results = admin.incremental_alter_configs({topic: [ConfigChange.set("flush.ms", "79"), wrong]})
    assert errors_of(results.errors()) == {topic: InvalidConfigError}
    assert value(admin, topic, "flush.ms") != "79"


async def test_changes_that_the_client_refuses_are_refused_by_the_broker_too(
    broker: SecureBroker, topic: ConfigResource
) -> None:
    """G5, G6."""
    config = IncrementalAlterConfigsRequest.AlterableConfig
    alterations = (
        (config("retention.ms", ConfigOperation.SET, "1"), config("retention.ms", ConfigOperation.DELETE)),
        (config("retention.ms", ConfigOperation.SET, None),),
        (config("cleanup.policy", ConfigOperation.APPEND, None),),
        (config("cleanup.policy", ConfigOperation.SUBTRACT, None),),
    )
    channel = await Channel.connect(broker.broker.host, broker.broker.port, SETTINGS, deadline=soon())
    for configs in alterations:
        resource = IncrementalAlterConfigsRequest.AlterConfigsResource(topic.resource_type, topic.name, configs)
        request = IncrementalAlterConfigsRequest((resource,))
        answer = await channel.request(request, IncrementalAlterConfigsResponse, 1, soon())
        assert [response.error_code for response in answer.responses] == [InvalidRequestError.code]
    await channel.close()


def test_brokers_loggers_groups_and_client_metrics_are_altered(
    admin: BlockingAdminClient, broker: SecureBroker, node: ConfigResource, logger: ConfigResource
) -> None:
    metrics, group = ConfigResource.client_metrics("interop"), ConfigResource.group("interop")
    settings = {
        node: ("log.cleaner.threads", "2"),
        DEFAULT: ("log.cleaner.backoff.ms", "14000"),
        metrics: ("interval.ms", "7000"),
    }
    if is_at_least(broker.broker.release, "4.1"):
        own = next(name for name in admin.describe_configs([logger])[logger] if name != "root")
        settings |= {logger: (own, "ERROR"), group: ("consumer.session.timeout.ms", "46000")}
    admin.incremental_alter_configs(
        {resource: [ConfigChange.set(name, to)] for resource, (name, to) in settings.items()}
    ).all()
    for resource, (name, to) in settings.items():
        has(admin, resource, name, to)
    assert metrics in admin.list_config_resources([ConfigResourceType.CLIENT_METRICS])
    admin.incremental_alter_configs(
        {resource: [ConfigChange.delete(name)] for resource, (name, _) in settings.items()}
    ).all()
    eventually(
        lambda: admin.list_config_resources([ConfigResourceType.CLIENT_METRICS]), lambda listed: metrics not in listed
    )


def test_more_changes_than_a_request_may_make(admin: BlockingAdminClient) -> None:
    subscriptions = [ConfigResource.client_metrics(f"many-{number}") for number in range(3_400)]
    settings = [
        ConfigChange.set("interval.ms", "7000"), ConfigChange.set("metrics", "org.apache"),
        ConfigChange.set("match", "client_id=a"),
    ]  # fmt: skip
    reported: list[tuple[int, int]] = []
    results = admin.incremental_alter_configs(
        dict.fromkeys(subscriptions, settings), progress=lambda done, total: reported.append((done, total))
    )
    assert list(results.all()) == subscriptions
    assert reported[-1] == (3_400, 3_400)
    deletions = [ConfigChange.delete(setting.name) for setting in settings]
    wanted = set(subscriptions)
    eventually(
        lambda: wanted.issubset(admin.list_config_resources([ConfigResourceType.CLIENT_METRICS])), lambda holds: holds
    )
    admin.incremental_alter_configs(dict.fromkeys(subscriptions, deletions)).all()
    eventually(
        lambda: wanted.isdisjoint(admin.list_config_resources([ConfigResourceType.CLIENT_METRICS])), lambda holds: holds
    )


def test_more_changes_of_one_resource_than_a_request_may_make(admin: BlockingAdminClient, node: ConfigResource) -> None:
    # The default of brokers takes unknown names too.
    many = [ConfigChange.set(f"my.own.{number}", "1") for number in range(10_001)]
    results = admin.incremental_alter_configs({DEFAULT: many, node: [ConfigChange.delete("log.cleaner.threads")]})
    assert errors_of(results.errors()) == {DEFAULT: PolicyViolationError}
    assert list(results.values()) == [node]


def test_a_replacement_removes_configs_that_are_not_given(admin: BlockingAdminClient, topic: ConfigResource) -> None:
    change(admin, topic, ConfigChange.set("retention.ms", "6000"), ConfigChange.set("flush.ms", "80"))
    has(admin, topic, "flush.ms", "80")
    missing = ConfigResource.topic("no-such-topic")
    wanted = {topic: {"flush.ms": "81"}, missing: {"flush.ms": "81"}}
    for validate_only in (True, False):
        results = admin.alter_configs(wanted, validate_only=validate_only)
        assert list(results.values()) == [topic]
        assert errors_of(results.errors()) == {missing: UnknownTopicOrPartitionError}
    has(admin, topic, "flush.ms", "81")
    assert value(admin, topic, "retention.ms") == "604800000"
    bad = admin.alter_configs({topic: {"flush.ms": "soon"}})
    assert errors_of(bad.errors()) == {topic: InvalidConfigError}


def test_newer_brokers_list_resources_with_configurations(
    admin: BlockingAdminClient, broker: SecureBroker, node: ConfigResource, topic: ConfigResource
) -> None:
    metrics = admin.list_config_resources([ConfigResourceType.CLIENT_METRICS])
    assert {resource.resource_type for resource in metrics} <= {ConfigResourceType.CLIENT_METRICS}
    if is_at_least(broker.broker.release, "4.1"):
        assert {node, topic} <= set(admin.list_config_resources())
        assert set(admin.list_config_resources([ConfigResourceType.BROKER])) == {node}
        with pytest.raises(UnsupportedVersionError, match="cannot list resources of TOPIC, UNKNOWN_99"):
            admin.list_config_resources([ConfigResourceType.TOPIC, ConfigResourceType(99)])
    else:
        for types in ([], [ConfigResourceType.TOPIC], [ConfigResourceType.TOPIC, ConfigResourceType.CLIENT_METRICS]):
            with pytest.raises(UnsupportedVersionError, match="ListConfigResources"):
                admin.list_config_resources(types)


def test_controllers_describe_and_alter_too(broker: SecureBroker, topic: ConfigResource) -> None:
    controller = f"{broker.broker.host}:{broker.broker.controller_port}"
    with BlockingAdminClient(bootstrap_controllers=controller) as admin:
        change(admin, topic, ConfigChange.set("flush.ms", "82"))
        # A controller also describes what it has applied, a moment after it has acknowledged it.
        eventually(lambda: value(admin, topic, "flush.ms"), lambda text: text == "82")


def test_missing_rights_are_an_error_of_each_resource(
    broker: SecureBroker, node: ConfigResource, topic: ConfigResource
) -> None:
    address = f"{broker.broker.host}:{broker.sasl_plaintext_port}"
    with BlockingAdminClient(address, credentials=PlainCredentials(USER, PASSWORDS[USER])) as admin:
        refused = {node: ClusterAuthorizationFailedError, topic: TopicAuthorizationFailedError}
        assert errors_of(admin.describe_configs([node, topic]).errors()) == refused
        changes = {resource: [ConfigChange.delete("flush.ms")] for resource in (node, topic)}
        assert errors_of(admin.incremental_alter_configs(changes).errors()) == refused


def test_brokers_of_a_cluster_tell_of_themselves_and_one_that_is_down_is_named(kafka_cluster: Cluster) -> None:
    brokers = {node: ConfigResource.broker(node) for node in kafka_cluster.nodes}
    loggers = {node: ConfigResource.broker_logger(node) for node in kafka_cluster.nodes}
    with BlockingAdminClient(kafka_cluster.bootstrap) as admin:
        results = admin.describe_configs([*brokers.values(), *loggers.values(), DEFAULT])
        assert {node: results[broker]["node.id"].value for node, broker in brokers.items()} == {
            node: str(node) for node in brokers
        }
        assert results.errors() == {}
        down, *up = sorted(brokers, key=lambda node: node == kafka_cluster.active_controller())
        kafka_cluster.kill(down)
        backoff = {broker: [ConfigChange.set("log.cleaner.backoff.ms", "14000")] for broker in brokers.values()}
        altered = admin.incremental_alter_configs(backoff, timeout=5.0)
        assert set(altered.values()) == {brokers[node] for node in up}
        assert isinstance(altered.errors()[brokers[down]], OperationTimeoutError)
        kafka_cluster.make_whole()
        deletion = {broker: [ConfigChange.delete("log.cleaner.backoff.ms")] for broker in brokers.values()}
        admin.incremental_alter_configs(deletion).all()
