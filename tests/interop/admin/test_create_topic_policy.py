"""KIP-108 at real brokers with a policy of our own: B1 to B10, with the answers of released brokers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.model.topics import NewTopic
from kafkawire.protocol.errors import (
    InvalidConfigError,
    InvalidPartitionsError,
    InvalidReplicaAssignmentError,
    InvalidReplicationFactorError,
    InvalidRequestError,
    InvalidTopicError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    UnknownServerError,
)
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

POLICIES = Path(__file__).parents[1] / "java" / "policies"


@pytest.fixture(scope="module", params=broker_releases())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    release: str = request.param
    properties = {"create.topic.policy.class.name": "policies.NamesDecide", "num.partitions": "3"}
    folder = tmp_path_factory.mktemp(f"policy-{release}")
    with running_broker(release, folder, properties=properties, plugins=[compiled(release, POLICIES)]) as running:
        yield running


@pytest.fixture
def own() -> str:
    """Ends the names of a test: nothing need be deleted, which every broker learns at its own time."""
    return f"-{uuid.uuid4()}"


def error_of(admin: BlockingAdminClient, topic: NewTopic) -> KafkaError:
    return admin.create_topics([topic]).errors()[topic.name]


def test_a_violation_fails_its_topic_only_and_the_others_are_created(admin: BlockingAdminClient, own: str) -> None:
    """B4."""
    names = [kind + own for kind in ("good", "forbidden", "better", "misconfigured")]
    results = admin.create_topics([NewTopic(name, 1, 1) for name in names])
    assert list(results) == names
    assert list(results.values()) == [names[0], names[2]]
    violation, other = results.errors().values()
    assert isinstance(violation, PolicyViolationError)
    assert violation.message == f"no topic may be called forbidden{own}"
    assert isinstance(other, InvalidConfigError)
    assert other.message == f"the policy does not like the configs of misconfigured{own}"
    admin.wait_for_topics(results.values()).all()
    assert results.errors().keys().isdisjoint(admin.list_topics())


def test_an_unexpected_error_of_the_policy_fails_its_topic(
    admin: BlockingAdminClient, broker: Broker, own: str
) -> None:
    """Brokers of 3.9 fail the whole request (B4)."""
    results = admin.create_topics([NewTopic(f"broken{own}", 1, 1), NewTopic(f"good{own}", 1, 1)])
    assert isinstance(results.errors()[f"broken{own}"], UnknownServerError)
    assert list(results.values()) == ([] if broker.release.startswith("3.") else [f"good{own}"])


def test_the_policy_is_configured_once_with_the_configuration_of_the_node(admin: BlockingAdminClient, own: str) -> None:
    """B1."""
    for attempt in range(2):
        error = error_of(admin, NewTopic(f"configured-{attempt}{own}", 1, 1))
        assert error.message == "configured 1 times, num.partitions 3"


@pytest.mark.parametrize(
    ("topic", "shown"),
    [
        (NewTopic("shown-b2-numbers", 2, 1), "2 partitions, 1 replicas, assigned null, configs {}"),
        (NewTopic("shown-b2-defaults"), "3 partitions, 1 replicas, assigned null, configs {}"),
        (
            NewTopic("shown-b2-places", replica_assignments={0: [1]}),
            "null partitions, null replicas, assigned {0=[1]}, configs {}",
        ),
        (
            NewTopic("shown-b3", 1, 1, configs={"retention.ms": "604800000"}),
            "1 partitions, 1 replicas, assigned null, configs {retention.ms=604800000}",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, NewTopic) else "",
)
def test_the_policy_sees_the_numbers_assignments_and_configs_of_the_request(
    admin: BlockingAdminClient, topic: NewTopic, shown: str
) -> None:
    """B2, B3."""
    assert error_of(admin, topic).message == shown


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        (NewTopic("__cluster_metadata", 1, 1), (InvalidRequestError, InvalidTopicError)),
        (NewTopic("forbidden name", 1, 1, configs={"x": "y"}), InvalidTopicError),
        (NewTopic("forbidden-config", 0, 0, configs={"no.such.config": "y"}), InvalidConfigError),
        (NewTopic("forbidden-both", 2, -1, replica_assignments={0: [1]}), InvalidRequestError),
        (NewTopic("forbidden-gap", replica_assignments={0: [1], 2: [1]}), InvalidReplicaAssignmentError),
        (NewTopic("forbidden-broker", replica_assignments={0: [99]}), InvalidReplicaAssignmentError),
        (NewTopic("forbidden-factor", 0, 0), InvalidReplicationFactorError),
        (NewTopic("forbidden-partitions", 0, 1), InvalidPartitionsError),
        (NewTopic("forbidden-place", 1, 2), InvalidReplicationFactorError),
        (NewTopic("forbidden", 1, 1), PolicyViolationError),
    ],
    ids=lambda value: value.name if isinstance(value, NewTopic) else "",
)
@pytest.mark.parametrize("validate_only", [False, True])
def test_the_first_failing_check_is_reported_and_the_policy_runs_last(
    admin: BlockingAdminClient, own: str, topic: NewTopic, expected: type[KafkaError], validate_only: bool
) -> None:
    """B5, B6."""
    results = admin.create_topics([topic, NewTopic(f"beside{own}", 1, 1)], validate_only=validate_only)
    assert isinstance(results.errors()[topic.name], expected)
    assert list(results.values()) == [f"beside{own}"]


def test_an_existing_or_colliding_name_is_reported_before_the_policy_runs(admin: BlockingAdminClient, own: str) -> None:
    """B5."""
    admin.create_topics([NewTopic(f"the.re{own}", 1, 1)]).all()
    assert isinstance(error_of(admin, NewTopic(f"the.re{own}", 0, 0)), TopicAlreadyExistsError)
    assert isinstance(error_of(admin, NewTopic(f"the_re{own}", 1, 1)), InvalidTopicError)


def test_validate_only_calls_the_policy_and_creates_nothing(admin: BlockingAdminClient, own: str) -> None:
    """B7."""
    good, forbidden = f"good{own}", f"forbidden{own}"
    for _ in range(2):
        results = admin.create_topics([NewTopic(good), NewTopic(forbidden, 1, 1)], validate_only=True)
        assert isinstance(results.errors()[forbidden], PolicyViolationError)
        assert list(results.values()) == [good]
    assert good not in admin.list_topics()


def test_a_validated_topic_has_configs_and_no_id(admin: BlockingAdminClient, own: str) -> None:
    """B8."""
    good = f"good{own}"
    topic = admin.create_topics([NewTopic(good, configs={"retention.ms": "5"})], validate_only=True)[good]
    assert (topic.topic_id, topic.num_partitions, topic.replication_factor) == (None, 3, 1)
    assert topic.configs is not None
    assert {config.name: config.value for config in topic.configs}["retention.ms"] == "5"
    created = admin.create_topics([NewTopic(good)])[good]
    admin.wait_for_topics([good]).all()
    assert created.topic_id == admin.list_topics()[good].topic_id


def test_each_topic_has_its_own_outcome_in_the_order_of_the_call(admin: BlockingAdminClient, own: str) -> None:
    """B9."""
    names = [f"{kind}-{number}{own}" for number in range(10) for kind in ("good", "forbidden")]
    results = admin.create_topics([NewTopic(name, 1, 1) for name in names])
    assert list(results) == names
    assert all(name.startswith("good") for name in results.values())
    assert [error.message for error in results.errors().values()] == [
        f"no topic may be called forbidden-{number}{own}" for number in range(10)
    ]
