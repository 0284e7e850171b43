"""The counterpart of KIP-108 for configs, at real brokers with a policy of our own (B11)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.topics import NewTopic
from kafkawire.protocol.errors import InvalidConfigError, PolicyViolationError, UnknownServerError
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

POLICIES = Path(__file__).parents[1] / "java" / "policies"

FIRST = {"cleanup.policy": "delete", "retention.ms": "6000"}
"""What topics have before they are altered."""

TELL = ConfigChange.set("flush.messages", "44")
"""Has the policy refuse, and say what it was shown."""


@pytest.fixture(scope="module", params=broker_releases())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    release: str = request.param
    properties = {"alter.config.policy.class.name": "policies.AlterationsDecide"}
    folder = tmp_path_factory.mktemp(f"alter-policy-{release}")
    with running_broker(release, folder, properties=properties, plugins=[compiled(release, POLICIES)]) as running:
        yield running


@pytest.fixture
def topic(admin: BlockingAdminClient) -> ConfigResource:
    """A topic of the test's own, whose configs are there."""
    name = f"topic-{uuid.uuid4()}"
    admin.create_topics([NewTopic(name, 1, 1, configs=FIRST)]).all()
    resource = ConfigResource.topic(name)
    eventually(lambda: values_of(admin, resource), lambda values: values.items() >= FIRST.items())
    return resource


def values_of(admin: BlockingAdminClient, resource: ConfigResource) -> Mapping[str, str | None]:
    described = admin.describe_configs([resource], keys=list(FIRST)).values().get(resource, {})
    return {name: entry.value for name, entry in described.items()}


def refusal(admin: BlockingAdminClient, resource: ConfigResource, *changes: ConfigChange) -> KafkaError:
    """What an alteration fails with; validated or carried out, that is the same."""
    refused, validated = (
        admin.incremental_alter_configs({resource: changes}, validate_only=validate_only).errors()[resource]
        for validate_only in (False, True)
    )
    assert (type(refused), refused.message) == (type(validated), validated.message)
    return refused


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (ConfigChange.set("retention.ms", "7000"), "retention.ms=7000"),
        (ConfigChange.append("cleanup.policy", "compact"), "cleanup.policy=delete,compact"),
        (ConfigChange.delete("retention.ms"), "retention.ms=null"),
    ],
    ids=["set", "append", "delete"],
)
def test_the_policy_sees_the_resulting_values(
    admin: BlockingAdminClient, topic: ConfigResource, change: ConfigChange, shown: str
) -> None:
    """B11."""
    error = refusal(admin, topic, change, TELL)
    assert isinstance(error, PolicyViolationError)
    assert shown in error.message
    assert error.message.startswith(f"TOPIC {topic.name} ")
    assert values_of(admin, topic) == FIRST


def test_the_policy_does_not_see_values_that_stay_the_same(admin: BlockingAdminClient, topic: ConfigResource) -> None:
    """B11."""
    unchanged = [ConfigChange.set(name, value) for name, value in FIRST.items()]
    assert refusal(admin, topic, *unchanged).message == f"TOPIC {topic.name} {{}}"
    assert refusal(admin, topic, *unchanged, TELL).message == f"TOPIC {topic.name} {{flush.messages=44}}"


def test_the_policy_sees_the_given_values_of_a_replacement_and_not_the_removed_ones(
    admin: BlockingAdminClient, topic: ConfigResource
) -> None:
    """B11."""
    error = admin.alter_configs({topic: {"flush.messages": "44"}}).errors()[topic]
    assert error.message == f"TOPIC {topic.name} {{flush.messages=44}}"
    assert values_of(admin, topic) == FIRST


def test_a_violation_fails_its_resource_only_and_the_others_are_altered(
    admin: BlockingAdminClient, topic: ConfigResource
) -> None:
    """B11."""
    others = [ConfigResource.topic(f"{kind}-{uuid.uuid4()}") for kind in ("disliked", "broken", "good")]
    admin.create_topics([NewTopic(other.name, 1, 1, configs=FIRST) for other in others]).all()
    disliked, broken, good = others
    results = admin.incremental_alter_configs(
        {
            topic: [TELL],
            disliked: [ConfigChange.set("flush.messages", "40")],
            broken: [ConfigChange.set("flush.messages", "666")],
            good: [ConfigChange.set("retention.ms", "7000")],
        }
    )
    assert {resource: type(error) for resource, error in results.errors().items()} == {
        topic: PolicyViolationError,
        disliked: InvalidConfigError,
        broken: UnknownServerError,
    }
    assert list(results.values()) == [good]
    eventually(lambda: values_of(admin, good), lambda values: values.get("retention.ms") == "7000")


def test_the_policy_sees_changes_of_a_broker_and_of_the_broker_default(
    admin: BlockingAdminClient, broker: Broker
) -> None:
    """B11."""
    change = ConfigChange.set("log.flush.interval.messages", "44")
    for resource, name in (
        (ConfigResource.broker(broker.node_id), str(broker.node_id)),
        (ConfigResource.broker_default(), ""),
    ):
        error = refusal(admin, resource, change)
        assert isinstance(error, PolicyViolationError)
        assert error.message == f"BROKER {name} {{log.flush.interval.messages=44}}"


def test_the_policy_sees_the_configs_of_a_new_topic_if_it_has_any(admin: BlockingAdminClient) -> None:
    """The policy would refuse the plain topic too if it were called without configs (B11)."""
    plain, told = f"plain-{uuid.uuid4()}", f"told-{uuid.uuid4()}"
    results = admin.create_topics([NewTopic(plain, 1, 1), NewTopic(told, 1, 1, configs={"flush.messages": "44"})])
    assert list(results.values()) == [plain]
    error = results.errors()[told]
    assert isinstance(error, PolicyViolationError)
    assert error.message == f"TOPIC {told} {{flush.messages=44}}"
