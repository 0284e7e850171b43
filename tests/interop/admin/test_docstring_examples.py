"""The examples in docstrings of the admin client run on real brokers: on one with logins, and on a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from tests.apache_kafka.cluster import Cluster
from tests.apache_kafka.java_admin import GroupKind, JavaAdmin, JavaAdminClient
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, SecureBroker
from tests.made.docstring_examples import ADDRESS, Example, errors_of, of_admin, prepare

from kafkawire.admin import (
    AclBindingFilter,
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    NewTopic,
    ScramCredentials,
    ScramDeletion,
    TopicPartition,
)
from kafkawire.protocol.errors import (
    BrokerIdNotRegisteredError,
    ControllerIdNotRegisteredError,
    TopicAlreadyExistsError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.nightly]

OF_CLUSTERS = tuple(f"admin.operations.{module}." for module in ("cluster", "log_dirs", "partitions", "quorum"))
"""Where the names of the examples begin that need several nodes."""

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
TOPICS = ("orders", "invoices", "clicks", "refunds")
USERS = ("billing", "deployment", "reports", "shop")
SOONER = {"asyncio.sleep(5)": "asyncio.sleep(0.05)"}

ENDS_IN: Mapping[str, set[type[KafkaError]]] = {
    "AdminClient": {TopicAlreadyExistsError},
    "BlockingAdminClient": {TopicAlreadyExistsError},
    "add_raft_voter": {UnsupportedVersionError},
    "client_instance_id": {UnsupportedVersionError},
    "remove_members_from_consumer_group": {UnknownMemberIdError},
    "remove_raft_voter": {UnsupportedVersionError},
    "unregister_broker": {BrokerIdNotRegisteredError},
    "unregister_controller": {ControllerIdNotRegisteredError},
}
"""The errors, as their docstrings list them, of examples about nodes, members and features that are not there."""


@pytest.fixture
async def logged_in(secure_kafka_broker: SecureBroker) -> AsyncIterator[AdminClient]:
    address = f"{secure_kafka_broker.broker.host}:{secure_kafka_broker.sasl_plaintext_port}"
    async with AdminClient(address, credentials=ScramCredentials(SUPER_USER, PASSWORDS[SUPER_USER])) as admin:
        yield admin


def parts(*, of_clusters: bool) -> list[Example]:
    return [example for example in of_admin() if example.owner.startswith(OF_CLUSTERS) is of_clusters]


@pytest.mark.parametrize("example", parts(of_clusters=False), ids=str)
async def test_an_example_runs_on_a_secure_broker(
    example: Example, secure_kafka_broker: SecureBroker, logged_in: AdminClient, java_admin: JavaAdmin
) -> None:
    address = secure_kafka_broker.address
    try:
        await prepare(logged_in)
        if "share_group" in example.name or "streams_group" in example.name:
            await make_groups(logged_in, java_admin.client(address))
        elif "transactions." in example.owner:
            (await logged_in.fence_producers(["billing-1"])).all()
        elif "tokens." in example.owner:
            await make_token(logged_in)
            address = f"{secure_kafka_broker.broker.host}:{secure_kafka_broker.sasl_plaintext_port}"
        errors = await errors_of(example, {ADDRESS: address, "/var/lib/kafka/data": str(LOGS)}, admin=logged_in)
    finally:
        await clean_up(logged_in)
    assert set(map(type, errors)) == ENDS_IN.get(example.name, set()), errors


@pytest.mark.parametrize("example", parts(of_clusters=True), ids=str)
async def test_an_example_runs_on_a_cluster(example: Example, kafka_cluster: Cluster) -> None:
    places = {**SOONER, "/var/lib/kafka/disk-2": str(kafka_cluster.nodes[1].log_dirs[1])}
    async with AdminClient(kafka_cluster.bootstrap) as admin:
        (await admin.create_topics([NewTopic("orders", num_partitions=3, replication_factor=3)])).all()
        (await admin.wait_for_topics(["orders"])).all()
        try:
            errors = await errors_of(example, places, admin=admin)
        finally:
            await admin.delete_topics(TOPICS)
            await until_gone(admin)
    assert set(map(type, errors)) == ENDS_IN.get(example.name, set()), errors


async def make_groups(admin: AdminClient, java: JavaAdminClient) -> None:
    """A share group and a streams group, whose members have left."""
    # It is already gone if the broker just now removes the offsets of the topics that the last example has deleted.
    await admin.delete_consumer_groups(["enrichment"])
    groups: Mapping[str, GroupKind] = {"workers": "share", "enrichment": "streams"}
    for group, kind in groups.items():
        with java.member(group, ["orders"], kind):
            pass
    (await admin.alter_share_group_offsets("workers", {TopicPartition("orders", 0): 0})).all()


async def make_token(admin: AdminClient) -> None:
    """A token that the broker lists."""
    made = (await admin.create_delegation_token()).token_id
    async with asyncio.timeout(30):
        while all(token.token_id != made for token in await admin.describe_delegation_token()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def clean_up(admin: AdminClient) -> None:
    """Remove everything that examples have made or that was made for them."""
    await admin.delete_topics(TOPICS)
    await admin.delete_consumer_groups(["billing", "enrichment", "workers"])
    await admin.delete_acls([AclBindingFilter(principal=f"User:{user}") for user in USERS])
    rates = {"producer_byte_rate": None, "consumer_byte_rate": None}
    users = [ClientQuotaEntity(user=user) for user in (*USERS, None)]
    (await admin.alter_client_quotas([ClientQuotaAlteration(user, rates) for user in users])).all()
    await admin.alter_user_scram_credentials(
        [ScramDeletion("billing", "SCRAM-SHA-256"), ScramDeletion("reports", "SCRAM-SHA-512")]
    )
    for token in await admin.describe_delegation_token():
        await admin.expire_delegation_token(token.hmac)
    await until_gone(admin)


async def until_gone(admin: AdminClient) -> None:
    """Wait until the topics of examples are gone: the next one creates topics of the same names."""
    async with asyncio.timeout(30):
        while not (await admin.list_topics()).keys().isdisjoint(TOPICS):  # noqa: ASYNC110 the broker sends no event
            await asyncio.sleep(0.02)
