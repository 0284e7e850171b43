"""The same state, described by this client and by Java's Admin, is equal in every field."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TypeVar

import msgspec
import pytest
from tests.apache_kafka import as_java
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.java_admin import GroupKind, JavaAdmin, JavaAdminClient
from tests.apache_kafka.java_answers import JavaConfig, JavaGroup, JavaQuorum, Partition
from tests.apache_kafka.releases import broker_releases, is_at_least
from tests.apache_kafka.secure_broker import PASSWORDS, SUPER_USER, SecureBroker

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.cluster import Replica
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.groups.offsets import CommittedOffset
from kafkawire.model.partitions import OffsetSpec, TopicPartition
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.scram import ScramMechanism, ScramUpsertion
from kafkawire.model.topics import NewTopic

pytestmark = [pytest.mark.interop, pytest.mark.extended]

MATCHING = AclBindingFilter(ResourceType.TOPIC, "foo", pattern_type=PatternType.MATCH)

T = TypeVar("T")


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.fixture
def topic(admin: BlockingAdminClient) -> str:
    name = new("topic")
    admin.create_topics([NewTopic(name, 2, 1, configs={"retention.ms": "60000", "max.message.bytes": "2000"})]).all()
    eventually(lambda: admin.describe_topics([name]).values(), bool)
    return name


def new(kind: str) -> str:
    return f"agree-{kind}-{time.monotonic_ns()}"


def check_agreed(ours: Callable[[], T], javas: Callable[[], T], such: Callable[[T], object] = bool) -> None:
    """Both descriptions are equal, and have the expected content.

    Disks and the metadata log change all the time; they are described until nothing has changed in between.
    """
    asked = eventually(lambda: (ours(), javas()), lambda both: both[0] == both[1] and such(both[0]), seconds=10)
    assert asked[0] == asked[1]


def test_cluster(admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    check_agreed(
        lambda: as_java.cluster(admin.describe_cluster(include_authorized_operations=True)),
        lambda: java.describe_cluster(authorized_operations=True),
        lambda described: described.authorized_operations,
    )


def test_features(admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    check_agreed(lambda: as_java.features(admin.describe_features()), java.describe_features)


def test_quorum(admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    def ours() -> JavaQuorum:
        return as_java.quorum(admin.describe_metadata_quorum())

    check_agreed(lambda: timeless(ours()), lambda: timeless(java.describe_quorum()), lambda quorum: quorum.voters)
    first, second, third = ours(), java.describe_quorum(), ours()
    assert timestamps(first) <= timestamps(second) <= timestamps(third)


def timeless(quorum: JavaQuorum) -> JavaQuorum:
    """Without the timestamps, which the leader has from its clock."""
    voters = tuple(
        msgspec.structs.replace(voter, last_fetch_timestamp=None, last_caught_up_timestamp=None)
        for voter in quorum.voters
    )
    return msgspec.structs.replace(quorum, voters=voters)


def timestamps(quorum: JavaQuorum) -> list[tuple[int, int]]:
    return [(voter.last_fetch_timestamp or -1, voter.last_caught_up_timestamp or -1) for voter in quorum.voters]


def test_log_dirs(broker: SecureBroker, admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    node = broker.broker.node_id
    java.produce(Partition(topic, 1), ["a", "b"])
    check_agreed(
        lambda: as_java.log_dirs(admin.describe_log_dirs([node]).all()), lambda: java.describe_log_dirs([node])
    )
    replica = Replica(TopicPartition(topic, 1), node)
    check_agreed(
        lambda: (as_java.replica_log_dir(replica.partition, admin.describe_replica_log_dirs([replica])[replica]),),
        lambda: java.describe_replica_log_dirs([Partition(topic, 1)], node),
    )


@pytest.mark.usefixtures("topic")
@pytest.mark.parametrize("internal", [False, True])
def test_listed_topics(admin: BlockingAdminClient, java: JavaAdminClient, internal: bool) -> None:
    check_agreed(
        lambda: as_java.topic_listings(admin.list_topics(include_internal=internal).values()),
        lambda: java.list_topics(internal=internal),
    )


@pytest.mark.parametrize("authorized", [False, True])
def test_topics(admin: BlockingAdminClient, java: JavaAdminClient, topic: str, authorized: bool) -> None:
    check_agreed(
        lambda: (as_java.topic(admin.describe_topics([topic], include_authorized_operations=authorized)[topic]),),
        lambda: java.describe_topics([topic], authorized_operations=authorized),
    )


@pytest.mark.parametrize("spec", [OffsetSpec.LATEST, OffsetSpec.EARLIEST, OffsetSpec.MAX_TIMESTAMP, 0])
def test_offsets(admin: BlockingAdminClient, java: JavaAdminClient, topic: str, spec: OffsetSpec | int) -> None:
    java.produce(Partition(topic, 1), ["a", "b", "c"])
    wanted = [TopicPartition(topic, index) for index in range(2)]
    check_agreed(
        lambda: as_java.offsets(admin.list_offsets(dict.fromkeys(wanted, spec)).all()),
        lambda: java.list_offsets(as_java.partitions(wanted), int(spec)),
    )


@pytest.mark.parametrize("kind", ["topic", "broker", "brokers", "logger", "group"])
def test_configs(
    broker: SecureBroker, admin: BlockingAdminClient, java: JavaAdminClient, topic: str, kind: str
) -> None:
    if kind in ("logger", "group") and not is_at_least(broker.broker.release, "4.1"):
        pytest.skip(f"the broker of {broker.broker.release} answers UNKNOWN_SERVER_ERROR for a {kind}")
    changed = ConfigResource.broker_default()
    admin.incremental_alter_configs({changed: [ConfigChange.set("log.retention.ms", "7000000")]}).all()
    resource = {
        "topic": ConfigResource.topic(topic),
        "broker": ConfigResource.broker(broker.broker.node_id),
        "brokers": changed,
        "logger": ConfigResource.broker_logger(broker.broker.node_id),
        "group": ConfigResource.group(new("group")),
    }[kind]
    check_agreed(
        lambda: as_java.configs(
            admin.describe_configs([resource], include_synonyms=True, include_documentation=True)[resource].values()
        ),
        lambda: tuple(map(documented, java.describe_configs(resource.resource_type.name, resource.name))),
    )
    admin.incremental_alter_configs({changed: [ConfigChange.delete("log.retention.ms")]}).all()


def documented(config: JavaConfig) -> JavaConfig:
    """No documentation is None here, whether the broker says so or sends an empty text."""
    return msgspec.structs.replace(config, documentation=config.documentation or None)


@pytest.mark.usefixtures("topic")
def test_config_resources(broker: SecureBroker, admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    if not is_at_least(broker.broker.release, "4.1"):
        pytest.skip("brokers before 4.1 cannot list config resources of all types")
    check_agreed(
        lambda: sorted(map(str, map(as_java.config_resource, admin.list_config_resources()))),
        lambda: sorted(map(str, java.list_config_resources())),
    )


def test_acls(admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    principal = f"User:{new('user')}"
    acls = [
        AclBinding(ResourceType.TOPIC, "foo", principal, AclOperation.READ),
        AclBinding(ResourceType.TOPIC, "*", principal, AclOperation.ALL, AclPermissionType.DENY, "10.0.0.1"),
        AclBinding(ResourceType.GROUP, "f", principal, AclOperation.READ, pattern_type=PatternType.PREFIXED),
        AclBinding(ResourceType.TRANSACTIONAL_ID, "id", principal, AclOperation.DESCRIBE),
        AclBinding(ResourceType.DELEGATION_TOKEN, "token", principal, AclOperation.DESCRIBE),
        AclBinding(ResourceType.USER, "User:bob", principal, AclOperation.CREATE_TOKENS),
        AclBinding.of_cluster(principal, AclOperation.ALTER_CONFIGS),
    ]
    admin.create_acls(acls).all()
    own = AclBindingFilter(principal=principal)
    check_agreed(
        lambda: sorted(str(as_java.acl(acl)) for acl in admin.describe_acls([own])[own]),
        lambda: sorted(map(str, java.describe_acls(principal=principal))),
        lambda described: len(described) == len(acls),
    )
    check_agreed(
        lambda: sorted(str(as_java.acl(acl)) for acl in admin.describe_acls([MATCHING])[MATCHING]),
        lambda: sorted(map(str, java.describe_acls(resource_type="TOPIC", resource_name="foo", pattern_type="MATCH"))),
    )
    admin.delete_acls([own]).all()


def test_client_quotas(admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    user = new("user")
    entities = {
        ClientQuotaEntity.of_user(user): {"producer_byte_rate": 1024.0, "controller_mutation_rate": 0.1},
        ClientQuotaEntity.of_user_and_client(user, None): {"request_percentage": 12.5},
        ClientQuotaEntity.of_client(user): {"consumer_byte_rate": 1e9},
        ClientQuotaEntity.of_ip("10.1.2.3"): {"connection_creation_rate": 5.0},
    }
    admin.alter_client_quotas([ClientQuotaAlteration(entity, values) for entity, values in entities.items()]).all()
    everything = ClientQuotaFilter()
    check_agreed(
        lambda: sorted(map(str, as_java.quotas(admin.describe_client_quotas([everything])[everything]))),
        lambda: sorted(map(str, java.describe_client_quotas())),
        lambda described: len(described) >= len(entities),
    )
    admin.alter_client_quotas(
        [ClientQuotaAlteration(entity, dict.fromkeys(values)) for entity, values in entities.items()]
    ).all()


def test_scram_users(admin: BlockingAdminClient, java: JavaAdminClient) -> None:
    users = [new("user"), new("user")]
    upsertions = [
        ScramUpsertion(users[0], ScramMechanism.SCRAM_SHA_256, "secret"),
        ScramUpsertion(users[0], ScramMechanism.SCRAM_SHA_512, "secret", 8192),
        ScramUpsertion(users[1], ScramMechanism.SCRAM_SHA_512, "secret"),
    ]
    admin.alter_user_scram_credentials(upsertions).all()
    check_agreed(
        lambda: as_java.scram_users(admin.describe_user_scram_credentials().all()),
        java.describe_scram_users,
        lambda described: set(users) <= {user.user for user in described},
    )


def test_delegation_tokens(broker: SecureBroker, java_admin: JavaAdmin) -> None:
    java = java_admin.client(properties=broker.java_sasl("SCRAM-SHA-512"))
    credentials = ScramCredentials(SUPER_USER, PASSWORDS[SUPER_USER], "SCRAM-SHA-512")
    address = f"{broker.broker.host}:{broker.sasl_plaintext_port}"
    with BlockingAdminClient(address, credentials=credentials) as admin:
        made = admin.create_delegation_token(renewers=["User:bob", "User:alice"])
        check_agreed(
            lambda: sorted(map(str, map(as_java.delegation_token, admin.describe_delegation_token()))),
            lambda: sorted(map(str, java.describe_delegation_tokens())),
            lambda described: any(made.token_id in token for token in described),
        )


@pytest.mark.parametrize("kind", ["classic", "consumer", "share", "streams"])
def test_groups(
    broker: SecureBroker, admin: BlockingAdminClient, java: JavaAdminClient, topic: str, kind: GroupKind
) -> None:
    if kind != "classic" and not is_at_least(broker.broker.release, "4.1"):
        pytest.skip(f"the broker of {broker.broker.release} has no {kind} groups switched on")
    group = new(f"{kind}-group")
    with java.member(group, [topic], kind):
        eventually(lambda: [listed.group_id for listed in admin.list_groups().all()], lambda listed: group in listed)
        check_agreed(
            lambda: described_groups(admin, [group], kind),
            lambda: list(java.describe_groups([group], kind)),
            lambda described: [group.members for group in described] != [()],
        )
        check_agreed(lambda: as_java.group_listings(admin.list_groups().all()), java.list_groups)
    if kind == "share":
        check_agreed(
            lambda: share_offsets(admin, group), lambda: list(java.list_share_group_offsets(group)), lambda _: True
        )


def described_groups(admin: BlockingAdminClient, groups: Collection[str], kind: GroupKind) -> list[JavaGroup]:
    match kind:
        case "classic":
            return [as_java.group(group) for group in admin.describe_classic_groups(groups).all().values()]
        case "consumer":
            return [as_java.group(group) for group in admin.describe_consumer_groups(groups).all().values()]
        case "share":
            return [as_java.group(group) for group in admin.describe_share_groups(groups).all().values()]
        case "streams":
            return [as_java.group(group) for group in admin.describe_streams_groups(groups).all().values()]


def share_offsets(admin: BlockingAdminClient, group: str) -> list[object]:
    listed = admin.list_share_group_offsets([group])[group].all()
    return [as_java.share_group_offset(of, offset) for of, offset in sorted(listed.items()) if offset is not None]


def test_group_offsets(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group = new("group")
    admin.alter_consumer_group_offsets(
        group, {TopicPartition(topic, 0): CommittedOffset(7, 0, "why"), TopicPartition(topic, 1): 5}
    ).all()

    def ours() -> list[object]:
        listed = admin.list_consumer_group_offsets([group])[group].all()
        return [as_java.group_offset(of, offset) for of, offset in sorted(listed.items()) if offset is not None]

    check_agreed(ours, lambda: list(java.list_group_offsets(group)))
    check_agreed(
        lambda: described_groups(admin, [group], "classic"), lambda: list(java.describe_groups([group], "classic"))
    )


def test_transactions_and_producers(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    transactional_id, partition = new("transaction"), TopicPartition(topic, 0)

    def check() -> None:
        check_agreed(
            lambda: [
                as_java.transaction(transactional_id, admin.describe_transactions([transactional_id])[transactional_id])
            ],
            lambda: list(java.describe_transactions([transactional_id])),
        )
        check_agreed(
            lambda: sorted(str(as_java.transaction_listing(listed)) for listed in admin.list_transactions().all()),
            lambda: sorted(map(str, java.list_transactions())),
        )
        check_agreed(
            lambda: sorted(str(as_java.producer(one)) for one in admin.describe_producers([partition])[partition]),
            lambda: sorted(map(str, java.describe_producers(as_java.partition(partition)))),
        )

    with java.open_transaction(transactional_id, as_java.partition(partition)):
        check()
    check()
