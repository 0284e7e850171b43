"""What the demonstration's broker gets: topics, and a thousand users with ACLs and quotas, in one call each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    NewTopic,
    PatternType,
    ResourceType,
    Results,
)
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.wire.kafka_errors import KafkaError

USERS: Final = 1_000
TOPIC: Final = "orders"
SHUT_OUT: Final = AclBinding(ResourceType.TOPIC, TOPIC, "User:user-0300", AclOperation.WRITE, AclPermissionType.DENY)
"""The ACL whose history is shown."""

_TOPICS: Final = (
    NewTopic(TOPIC, 6, configs={"cleanup.policy": "compact"}),
    NewTopic("payments", 12),
    NewTopic("clicks", 64),
    NewTopic("audit", 1, configs={"retention.ms": "604800000"}),
)


class Call(NamedTuple):
    """A call for many items: how many there were, how many failed, and how long it took."""

    method: str
    items: int
    failed: int
    seconds: float


class SetUp(NamedTuple):
    """What was done.

    Attributes:
        topics: those to create.
        refused: the errors of those that were not created, by name.
        calls: for the users.
    """

    topics: Sequence[NewTopic]
    refused: Mapping[str, KafkaError]
    calls: Sequence[Call]


def set_up(bootstrap_servers: str) -> SetUp:
    """Create the topics, ACLs and quotas.

    Raises:
        KafkaError: the broker does not respond, or refuses a topic for another reason than its policy.
    """
    with BlockingAdminClient(bootstrap_servers) as client:
        created = client.create_topics(_TOPICS)
        refused = {str(name): error for name, error in created.errors().items()}
        for error in refused.values():
            if not isinstance(error, PolicyViolationError):
                raise error
        begin = time.perf_counter()
        acls = _call("create_acls", client.create_acls(_acls()), begin)
        begin = time.perf_counter()
        quotas = _call("alter_client_quotas", client.alter_client_quotas(_quotas()), begin)
    return SetUp(_TOPICS, refused, (acls, quotas))


def _call(method: str, results: Results[AclBinding, None] | Results[ClientQuotaEntity, None], begin: float) -> Call:
    return Call(method, len(results), len(results.errors()), time.perf_counter() - begin)


def _acls() -> Iterator[AclBinding]:
    """Every user may read; every hundredth may write too, except one, who is denied."""
    for number in range(USERS):
        user = f"User:user-{number:04}"
        yield AclBinding(ResourceType.TOPIC, TOPIC, user, AclOperation.READ)
        yield AclBinding(ResourceType.GROUP, f"user-{number:04}", user, AclOperation.READ)
        if number % 100 == 0:
            yield AclBinding(ResourceType.TOPIC, "ord", user, AclOperation.WRITE, pattern_type=PatternType.PREFIXED)
    yield SHUT_OUT


def _quotas() -> Iterator[ClientQuotaAlteration]:
    yield ClientQuotaAlteration(ClientQuotaEntity.of_user(None), {"producer_byte_rate": 1_000_000})
    for number in range(USERS):
        entity = ClientQuotaEntity.of_user(f"user-{number:04}")
        yield ClientQuotaAlteration(entity, {"consumer_byte_rate": 2_000_000 + number, "request_percentage": 50})
    batch = ClientQuotaEntity.of_user_and_client("user-0042", "batch")
    yield ClientQuotaAlteration(batch, {"producer_byte_rate": 250_000})
