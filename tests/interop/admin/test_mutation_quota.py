"""KIP-599 at real brokers: the quota for creating and deleting topics, strict or not by version (B7, B10, D15).

A quota of 1 fills a bucket with a token a second up to 11; each partition takes one. A request is let through while no
tokens are owed, whatever it takes.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.releases import broker_releases

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.settings import AdminSettings
from kafkawire.model.quotas.entities import (
    CONTROLLER_MUTATION_RATE,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
)
from kafkawire.model.topics import NewPartitions, NewTopic
from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import ThrottlingQuotaExceededError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

BURST = 11
OWED = 3
"""Tokens that a topic of the tests takes from its user, and the seconds until they are back."""

OWED_FOR_LONG = 30
"""The same where no test waits for them."""

TIMEOUT_MS = 20_000


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    release: str = request.param
    return kafka_brokers(release)


@pytest.fixture
def admin(broker: Broker) -> Iterator[BlockingAdminClient]:
    """Not limited: the quotas of the tests are for their own client ids."""
    with BlockingAdminClient(broker.address) as client:
        yield client


@pytest.fixture
def limited_id(admin: BlockingAdminClient) -> Iterator[str]:
    """The client id by which the user of the plain listener has a quota."""
    client_id = f"limited-{uuid.uuid4()}"
    entity = ClientQuotaEntity.of_user_and_client("ANONYMOUS", client_id)
    everything = ClientQuotaFilter()
    admin.alter_client_quotas([ClientQuotaAlteration(entity, {CONTROLLER_MUTATION_RATE: 1.0})]).all()
    eventually(lambda: admin.describe_client_quotas([everything])[everything], lambda quotas: entity in quotas)
    yield client_id
    admin.alter_client_quotas([ClientQuotaAlteration(entity, {CONTROLLER_MUTATION_RATE: None})]).all()


@pytest.fixture
def own() -> str:
    return f"-{uuid.uuid4()}"


def limited(broker: Broker, client_id: str, *, retry: bool) -> BlockingAdminClient:
    return BlockingAdminClient(broker.address, settings=AdminSettings(client_id=client_id, retry_throttled=retry))


def too_much(own: str, owed: int = OWED) -> list[NewTopic]:
    """A topic that takes more than there is, and one that there is nothing left for."""
    return [NewTopic(f"large{own}", BURST + owed, 1), NewTopic(f"late{own}", 1, 1)]


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_topic_beyond_the_mutation_quota_is_refused_with_a_throttle_time(
    broker: Broker, admin: BlockingAdminClient, limited_id: str, own: str, validate_only: bool
) -> None:
    """Each topic of a request is checked by itself, and a validation takes tokens too (B10)."""
    with limited(broker, limited_id, retry=False) as client:
        results = client.create_topics(too_much(own), validate_only=validate_only)
    assert list(results.values()) == [f"large{own}"]
    error = results.errors()[f"late{own}"]
    assert isinstance(error, ThrottlingQuotaExceededError)
    assert (error.code, error.attempts) == (89, 1)
    assert 0 < error.throttle_ms <= OWED * 1000
    assert f"late{own}" not in admin.list_topics()


def test_a_refused_topic_is_created_when_the_throttle_time_is_over(broker: Broker, limited_id: str, own: str) -> None:
    """B10."""
    began = time.monotonic()
    with limited(broker, limited_id, retry=True) as client:
        created = client.create_topics(too_much(own)).all()
    assert set(created) == {f"large{own}", f"late{own}"}
    assert time.monotonic() - began > OWED - 1


def test_a_call_does_not_wait_for_the_quota_beyond_its_timeout(broker: Broker, limited_id: str, own: str) -> None:
    """B10."""
    began = time.monotonic()
    with limited(broker, limited_id, retry=True) as client:
        results = client.create_topics(too_much(own), timeout=OWED - 1)
        took = time.monotonic() - began
    assert list(results.values()) == [f"large{own}"]
    error = results.errors()[f"late{own}"]
    assert isinstance(error, ThrottlingQuotaExceededError)
    assert error.throttle_ms > 0
    assert took < OWED - 1


def test_deletions_and_new_partitions_beyond_the_quota_are_refused_too(
    broker: Broker, admin: BlockingAdminClient, limited_id: str, own: str
) -> None:
    """B10."""
    with limited(broker, limited_id, retry=False) as client:
        client.create_topics(too_much(own, OWED_FOR_LONG))
    admin.wait_for_topics([f"large{own}"]).all()
    with limited(broker, limited_id, retry=False) as client:
        grown = client.create_partitions({f"large{own}": NewPartitions(BURST + OWED_FOR_LONG + 1)})
    with limited(broker, limited_id, retry=False) as client:
        deleted = client.delete_topics([f"large{own}"])
    for error in (grown.errors()[f"large{own}"], deleted.errors()[f"large{own}"]):
        assert isinstance(error, ThrottlingQuotaExceededError)
        assert error.throttle_ms > 0
    assert f"large{own}" in admin.list_topics()


def test_request_versions_before_the_error_existed_are_carried_out_beyond_the_quota(
    broker: Broker, admin: BlockingAdminClient, limited_id: str, own: str
) -> None:
    """The error is returned since CreateTopics 6, DeleteTopics 5 and CreatePartitions 3 (B10)."""
    with limited(broker, limited_id, retry=False) as client:
        client.create_topics(too_much(own, OWED_FOR_LONG))
    admin.create_topics([NewTopic(f"free{own}", 1, 1)]).all()
    admin.wait_for_topics([f"large{own}", f"free{own}"]).all()
    exceeded, none = ErrorCode.THROTTLING_QUOTA_EXCEEDED, ErrorCode.NONE

    assert [create(broker, limited_id, f"new{own}", version) for version in (7, 6, 5)] == [exceeded, exceeded, none]
    assert [grow(broker, limited_id, f"free{own}", version) for version in (3, 2)] == [exceeded, none]
    assert [delete(broker, limited_id, f"large{own}", version) for version in (5, 4)] == [exceeded, none]
    admin.wait_for_topics([f"new{own}"]).all()
    eventually(admin.list_topics, lambda topics: f"large{own}" not in topics)
    assert len(admin.describe_topics([f"free{own}"])[f"free{own}"].partitions) == 2


# The broker does not read a throttled connection, so each request has its own.


def create(broker: Broker, client_id: str, topic: str, version: int) -> int:
    request = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic(topic, 1, 1),), TIMEOUT_MS)
    with connected_to(broker.host, broker.port, client_id=client_id) as connection:
        answer = connection.ask(request, version, CreateTopicsResponse)
    assert answer.throttle_time_ms > 0
    return answer.topics[0].error_code


def grow(broker: Broker, client_id: str, topic: str, version: int) -> int:
    request = CreatePartitionsRequest((CreatePartitionsRequest.CreatePartitionsTopic(topic, 2, None),), TIMEOUT_MS)
    with connected_to(broker.host, broker.port, client_id=client_id) as connection:
        answer = connection.ask(request, version, CreatePartitionsResponse)
    assert answer.throttle_time_ms > 0
    return answer.results[0].error_code


def delete(broker: Broker, client_id: str, topic: str, version: int) -> int:
    request = DeleteTopicsRequest(topic_names=(topic,), timeout_ms=TIMEOUT_MS)
    with connected_to(broker.host, broker.port, client_id=client_id) as connection:
        answer = connection.ask(request, version, DeleteTopicsResponse)
    assert answer.throttle_time_ms > 0
    return answer.responses[0].error_code
