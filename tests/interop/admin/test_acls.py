"""ACLs at real brokers: every row of the table of operations, its documented failures, and thousands at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import pytest
from msgspec.structs import replace
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers, SecureBrokers
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.java_answers import JavaAcl
from tests.apache_kafka.releases import broker_releases, is_at_least
from tests.apache_kafka.secure_broker import PASSWORDS, USER, SecureBroker

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.admin.operations.strategies import Strategy
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    SecurityDisabledError,
    UnsupportedVersionError,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PRINCIPAL = "User:interop-acls"
OWN = AclBindingFilter(principal=PRINCIPAL)
ACL = AclBinding(ResourceType.TOPIC, "foo", PRINCIPAL, AclOperation.READ)
ACLS = (
    ACL,
    replace(ACL, pattern_type=PatternType.PREFIXED),
    replace(ACL, resource_name="f", pattern_type=PatternType.PREFIXED),
    replace(ACL, resource_name="*", permission_type=AclPermissionType.DENY, host="10.0.0.1"),
    replace(ACL, resource_name="foobar", operation=AclOperation.ALL),
    AclBinding(ResourceType.GROUP, "foo", PRINCIPAL, AclOperation.READ),
    AclBinding(ResourceType.TRANSACTIONAL_ID, "foo", PRINCIPAL, AclOperation.WRITE),
    AclBinding(ResourceType.DELEGATION_TOKEN, "foo", PRINCIPAL, AclOperation.DESCRIBE),
    AclBinding(ResourceType.USER, "User:foo", PRINCIPAL, AclOperation.CREATE_TOKENS),
    AclBinding.of_cluster(PRINCIPAL, AclOperation.ALTER),
)
FILTERS = (
    OWN,
    replace(OWN, resource_type=ResourceType.TOPIC),
    replace(OWN, resource_type=ResourceType.USER),
    *(
        replace(OWN, resource_name=name, pattern_type=pattern)
        for name in ("foo", "foobar", "*")
        for pattern in (PatternType.LITERAL, PatternType.PREFIXED, PatternType.ANY, PatternType.MATCH)
    ),
    replace(OWN, host="*"),
    replace(OWN, operation=AclOperation.ALL),
    replace(OWN, permission_type=AclPermissionType.DENY),
    replace(OWN, principal="User:nobody"),
    replace(OWN, operation=AclOperation.UNKNOWN),
)


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.fixture
def admin(broker: SecureBroker) -> Iterator[BlockingAdminClient]:
    """Has all rights; the ACLs that a test leaves are deleted."""
    with BlockingAdminClient(broker.broker.address) as client:
        yield client
        client.delete_acls([OWN]).all()


def described(admin: BlockingAdminClient, count: int) -> tuple[AclBinding, ...]:
    """The ACLs of these tests, as soon as there is the given number: brokers apply changes a moment later."""
    return eventually(lambda: admin.describe_acls([OWN])[OWN], lambda acls: len(acls) == count)


def test_acls_are_created_described_and_deleted(
    admin: BlockingAdminClient, java_admin: JavaAdmin, broker: SecureBroker
) -> None:
    assert admin.create_acls(ACLS).all() == dict.fromkeys(ACLS)
    assert described(admin, len(ACLS)) == tuple(sorted(ACLS))
    assert java_acls(java_admin, broker) == sorted(map(as_java, ACLS))
    deleted = admin.delete_acls([acl.to_filter() for acl in ACLS[:3]])
    assert all(of_filter.all() == {acl: None} for acl, of_filter in zip(ACLS, deleted.all().values(), strict=False))
    assert described(admin, len(ACLS) - 3) == tuple(sorted(ACLS[3:]))
    assert set(admin.delete_acls([OWN, OWN]).deleted()) == set(ACLS[3:])
    assert described(admin, 0) == ()


def test_all_strategies_describe_the_same_acls(admin: BlockingAdminClient) -> None:
    """F4, F9."""
    admin.create_acls(ACLS).all()
    described(admin, len(ACLS))
    ways: list[Strategy] = [way for way in get_args(Strategy) if way != "batch"]
    first, *others = [admin.describe_acls([*FILTERS, OWN], strategy=strategy) for strategy in ways]
    assert all(other == first for other in others)
    assert [type(error) for error in first.errors().values()] == [InvalidRequestError]
    assert len(first.values()) == len(FILTERS) - 1
    assert sum(map(len, first.values().values())) > len(FILTERS)


def test_no_release_offers_many_filters_in_one_request(admin: BlockingAdminClient) -> None:
    """F1."""
    assert isinstance(admin.describe_acls([OWN], strategy="batch").errors()[OWN], UnsupportedVersionError)


def test_a_single_filter_still_works_with_a_deprecation_warning(admin: BlockingAdminClient) -> None:
    """F5."""
    with pytest.warns(DeprecationWarning, match="describe_acls"):
        assert admin.describe_acls(AclBindingFilter(principal="User:nobody")) == ()


def test_wrong_acls_fail_alone_and_the_good_one_is_created_once(admin: BlockingAdminClient) -> None:
    """A12, A18, A19."""
    wrong = (
        replace(ACL, resource_type=ResourceType.CLUSTER),
        replace(ACL, pattern_type=PatternType.ANY),
        replace(ACL, resource_name=""),
        replace(ACL, principal="nobody"),
        replace(ACL, operation=AclOperation.CREATE_TOKENS),
    )
    results = admin.create_acls([*wrong, ACL, ACL])
    assert results.values() == {ACL: None}
    assert [type(error) for error in results.errors().values()] == [InvalidRequestError] * len(wrong)
    assert described(admin, 1) == (ACL,)
    admin.create_acls([ACL]).all()  # it is there already
    assert described(admin, 1) == (ACL,)


def test_brokers_store_acls_without_effect(admin: BlockingAdminClient) -> None:
    """A22, A23, A24."""
    vain = [replace(ACL, operation=AclOperation.CREATE_TOKENS), replace(ACL, host="10.0.0")]
    admin.create_acls(vain, allow_without_effect=True).all()
    assert described(admin, 2) == tuple(sorted(vain))


def test_ranges_of_addresses_match_clients_since_4_4(admin: BlockingAdminClient, broker: SecureBroker) -> None:
    """A23."""
    rights = AclBinding.of_cluster(f"User:{USER}", AclOperation.DESCRIBE, host="127.0.0.0/8")
    elsewhere = replace(rights, host="10.0.0.0/8")
    refused = admin.create_acls([rights, elsewhere]).errors()
    if not is_at_least(broker.broker.release, "4.4"):
        assert [type(error) for error in refused.values()] == [InvalidRequestError] * 2
        return
    assert not refused
    login = PlainCredentials(USER, PASSWORDS[USER])
    try:
        with BlockingAdminClient(f"{broker.broker.host}:{broker.sasl_plaintext_port}", credentials=login) as client:
            may = eventually(client.describe_acls, lambda answer: not answer.errors())
            assert {rights, elsewhere} <= set(may.union())
            admin.delete_acls([rights.to_filter()]).all()
            eventually(client.describe_acls, lambda answer: answer.errors())
    finally:
        admin.delete_acls([rights.to_filter(), elsewhere.to_filter()]).all()


def test_without_rights_every_item_gets_an_authorization_error(broker: SecureBroker) -> None:
    """A17."""
    address = f"{broker.broker.host}:{broker.sasl_plaintext_port}"
    with BlockingAdminClient(address, credentials=PlainCredentials(USER, PASSWORDS[USER])) as admin:
        for strategy in ("pipelined", "listing"):
            outcome = admin.describe_acls([OWN, AclBindingFilter()], strategy=strategy)
            assert {type(error) for error in outcome.errors().values()} == {ClusterAuthorizationFailedError}
            assert len(outcome.errors()) == 2
        assert {type(error) for error in admin.create_acls(ACLS).errors().values()} == {ClusterAuthorizationFailedError}
        refused = admin.delete_acls([OWN]).errors()[OWN]
        assert isinstance(refused, ClusterAuthorizationFailedError)
        assert not refused.outcome_unknown


@pytest.mark.parametrize("release", broker_releases())
def test_without_an_authorizer_every_item_gets_the_error_security_disabled(
    kafka_brokers: Brokers, release: str
) -> None:
    """A16."""
    with BlockingAdminClient(kafka_brokers(release).address) as admin:
        assert SecurityDisabledError.code == 54
        for strategy in ("pipelined", "listing"):
            outcome = admin.describe_acls([OWN, AclBindingFilter()], strategy=strategy)
            assert [type(error) for error in outcome.errors().values()] == [SecurityDisabledError] * 2
        assert isinstance(admin.create_acls([ACL]).errors()[ACL], SecurityDisabledError)
        assert isinstance(admin.delete_acls([OWN]).errors()[OWN], SecurityDisabledError)


def test_controllers_serve_acls_too(broker: SecureBroker) -> None:
    controllers = f"{broker.broker.host}:{broker.broker.controller_port}"
    with BlockingAdminClient(bootstrap_controllers=controllers) as admin:
        admin.create_acls([ACL]).all()
        assert described(admin, 1) == (ACL,)
        assert admin.delete_acls([OWN]).deleted() == (ACL,)


def test_twelve_thousand_acls_are_created_and_deleted_in_one_call_each(admin: BlockingAdminClient) -> None:
    """More than a broker accepts in one request; each ACL has an outcome (A27)."""
    acls = [replace(ACL, resource_name=f"topic-{n % 4000}", host=f"10.0.0.{n // 4000}") for n in range(12_000)]
    reported: list[tuple[int, int]] = []
    results = admin.create_acls([*acls, replace(ACL, resource_name="")], progress=lambda *now: reported.append(now))
    assert results.values() == dict.fromkeys(acls)
    assert len(results.errors()) == 1
    assert reported[-1] == (12_001, 12_001)
    assert described(admin, 12_000) == tuple(sorted(acls))
    few = AclBindingFilter(resource_name="topic-7", principal=PRINCIPAL)
    deleted = admin.delete_acls([OWN, few, AclBindingFilter(principal="User:nobody")])
    assert set(deleted[OWN].all()) == set(acls)
    assert set(deleted[few].all()) == {acl for acl in acls if acl.resource_name == "topic-7"}
    assert len(deleted[AclBindingFilter(principal="User:nobody")]) == 0
    assert described(admin, 0) == ()


def as_java(acl: AclBinding) -> tuple[str, ...]:
    return (
        acl.resource_type.name, acl.resource_name, acl.pattern_type.name, acl.principal, acl.host, acl.operation.name,
        acl.permission_type.name,
    )  # fmt: skip


def java_acls(java_admin: JavaAdmin, broker: SecureBroker) -> list[tuple[str, ...]]:
    found: Sequence[JavaAcl] = java_admin.client(broker.broker.address).describe_acls(principal=PRINCIPAL)
    return sorted(
        (a.resource_type, a.resource_name, a.pattern_type, a.principal, a.host, a.operation, a.permission_type)
        for a in found
    )


@pytest.mark.parametrize(
    ("acls", "arguments"),
    [
        (AclBinding.producer(PRINCIPAL, ["a", "b"]), ["--producer", "--topic", "a", "--topic", "b"]),
        (
            AclBinding.producer(PRINCIPAL, ["*"], transactional_ids=["tx"], idempotent=True, host="10.0.0.1"),
            ["--producer", "--topic", "*", "--transactional-id", "tx", "--idempotent", "--allow-host", "10.0.0.1"],
        ),
        (
            AclBinding.producer(
                PRINCIPAL, ["a-"], transactional_ids=["a-"], idempotent=True, pattern_type=PatternType.PREFIXED
            ),
            [
                "--producer",
                "--topic",
                "a-",
                "--transactional-id",
                "a-",
                "--idempotent",
                "--resource-pattern-type",
                "prefixed",
            ],
        ),
        (
            AclBinding.consumer(PRINCIPAL, ["a"], ["g", "h"], pattern_type=PatternType.PREFIXED),
            ["--consumer", "--topic", "a", "--group", "g", "--group", "h", "--resource-pattern-type", "prefixed"],
        ),
        (AclBinding.consumer(PRINCIPAL, ["*"], ["*"]), ["--consumer", "--topic", "*", "--group", "*"]),
    ],
    ids=["producer", "transactional", "prefixed", "consumer", "everything"],
)
def test_sets_of_acls_are_those_that_kafka_acls_makes(
    broker: SecureBroker,
    admin: BlockingAdminClient,
    java_admin: JavaAdmin,
    acls: tuple[AclBinding, ...],
    arguments: list[str],
) -> None:
    tool = java_admin.client(broker.broker.address)
    tool.run_tool("AclCommand", "--add", "--allow-principal", PRINCIPAL, *arguments)
    made = eventually(lambda: admin.describe_acls([OWN])[OWN], lambda found: len(found) == len(acls))
    assert set(made) == set(acls)
    admin.create_acls(acls).all()
