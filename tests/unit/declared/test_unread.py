"""Nothing is said about what could not be read."""

from __future__ import annotations

import pytest

from kafkawire.declared.planned import Kind
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.declared.unread import Unread, without_unread
from kafkawire.model.acls.bindings import AclBinding, AclOperation
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism
from kafkawire.protocol.errors import ClusterAuthorizationFailedError, TopicAuthorizationFailedError

REFUSED = ClusterAuthorizationFailedError("Cluster authorization failed.")
ORDERS = ConfigResource.topic("orders")
BILLING = ConfigResource.group("billing")
BROKER = ConfigResource.broker(1)

STATE = ClusterState(
    topics={"orders": TopicState(partitions=1, configs={"retention.ms": "1"}), "payments": TopicState()},
    configs={BILLING: {"consumer.session.timeout.ms": "1"}, BROKER: {"log.cleaner.threads": "2"}},
    acls=frozenset({AclBinding.of_cluster("User:etl", AclOperation.ALTER)}),
    quotas={ClientQuotaEntity(user="etl"): {"producer_byte_rate": 1.0}},
    credentials={("etl", ScramMechanism.SCRAM_SHA_256): CredentialState(iterations=4096)},
)


@pytest.mark.parametrize(
    ("unread", "left"),
    [
        (Unread(Kind.ACLS, "ACLs", REFUSED), {"acls": frozenset()}),
        (Unread(Kind.QUOTAS, "quotas", REFUSED), {"quotas": {}}),
        (Unread(Kind.USERS, "SCRAM users", REFUSED), {"credentials": {}}),
        (
            Unread(Kind.CONFIGS, "configs of groups", REFUSED, resource_type=ConfigResourceType.GROUP),
            {"configs": {BROKER: {"log.cleaner.threads": "2"}}},
        ),
        (
            Unread(Kind.CONFIGS, "configs of broker 1", REFUSED, BROKER),
            {"configs": {BILLING: {"consumer.session.timeout.ms": "1"}}},
        ),
        (Unread(Kind.TOPICS, "topic orders", REFUSED, "orders"), {"topics": {"payments": TopicState()}}),
        (
            Unread(Kind.TOPICS, "configs of topic orders", REFUSED, ORDERS),
            {"topics": {"orders": TopicState(partitions=1), "payments": TopicState()}},
        ),
    ],
    ids=lambda each: each.what if isinstance(each, Unread) else "",
)
def test_a_state_without_it(unread: Unread, left: dict[str, object]) -> None:
    found = without_unread(STATE, [unread])
    assert {name: getattr(found, name) for name in left} == left
    others = set(STATE.__struct_fields__) - set(left)
    assert all(getattr(found, name) == getattr(STATE, name) for name in others)


def test_the_reason_is_the_brokers_or_the_name_of_the_error() -> None:
    assert str(Unread(Kind.ACLS, "ACLs", REFUSED)) == "ACLs: Cluster authorization failed."
    nameless = Unread(Kind.TOPICS, "topic orders", TopicAuthorizationFailedError())
    assert str(nameless) == "topic orders: TOPIC_AUTHORIZATION_FAILED"
