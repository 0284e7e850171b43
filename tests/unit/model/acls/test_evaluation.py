"""Whether a principal may do an operation, and which ACL decides (A25)."""

from __future__ import annotations

import msgspec
import pytest

from kafkawire.model.acls.bindings import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import AclEvaluator, Decision, Reason

ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
TOPIC, PREFIXED = ResourceType.TOPIC, PatternType.PREFIXED


def topic(name: str, operation: AclOperation = READ, permission_type: AclPermissionType = ALLOW) -> AclBinding:
    return AclBinding(TOPIC, name, "User:alice", operation, permission_type)


def changed(acl: AclBinding, **changes: object) -> AclBinding:
    return msgspec.structs.replace(acl, **changes)


def decided(
    *acls: AclBinding, principal: str = "User:alice", operation: AclOperation = READ, host: str = "10.0.0.1"
) -> Decision:
    return AclEvaluator(acls).decide(principal, operation, TOPIC, "foobar", host)


@pytest.mark.parametrize(
    "acl",
    [
        topic("foobar"),
        topic("*"),
        changed(topic("foo"), pattern_type=PREFIXED),
        changed(topic("foobar"), pattern_type=PREFIXED),
        changed(topic("foobar"), principal="User:*"),
        changed(topic("foobar"), host="10.0.0.1"),
        topic("foobar", AclOperation.ALL),
    ],
)
def test_an_acl_that_applies_allows_and_is_named(acl: AclBinding) -> None:
    """A25."""
    assert decided(acl) == Decision(allowed=True, reason=Reason.ALLOWED, acl=acl)


@pytest.mark.parametrize(
    ("acl", "reason"),
    [
        (topic("foo"), Reason.NO_ACL_ON_RESOURCE),
        (changed(topic("foobarbaz"), pattern_type=PREFIXED), Reason.NO_ACL_ON_RESOURCE),
        (changed(topic("*"), pattern_type=PREFIXED), Reason.NO_ACL_ON_RESOURCE),
        (changed(topic("foobar"), resource_type=ResourceType.GROUP), Reason.NO_ACL_ON_RESOURCE),
        (changed(topic("foobar"), principal="User:bob"), Reason.NO_ACL_APPLIES),
        (changed(topic("foobar"), principal="Group:alice"), Reason.NO_ACL_APPLIES),
        (changed(topic("foobar"), principal="Group:*"), Reason.NO_ACL_APPLIES),
        (changed(topic("foobar"), host="10.0.0.2"), Reason.NO_ACL_APPLIES),
        (changed(topic("foobar"), host="192.168.0.0/16"), Reason.NO_ACL_APPLIES),
        (changed(topic("foobar"), host="10.0.0.0/33"), Reason.NO_ACL_APPLIES),
        (topic("foobar", WRITE), Reason.NO_ACL_APPLIES),
        (topic("foobar", DESCRIBE), Reason.NO_ACL_APPLIES),
    ],
)
def test_acls_of_other_resources_principals_hosts_or_operations_do_not_allow(acl: AclBinding, reason: Reason) -> None:
    """A25."""
    assert decided(acl) == Decision(allowed=False, reason=reason)


@pytest.mark.parametrize(
    "denial",
    [
        topic("foobar", permission_type=DENY),
        topic("*", permission_type=DENY),
        changed(topic("foo", permission_type=DENY), pattern_type=PREFIXED),
        changed(topic("foobar", permission_type=DENY), principal="User:*"),
        topic("foobar", AclOperation.ALL, DENY),
    ],
)
def test_a_denial_wins_for_any_order_of_the_acls(denial: AclBinding) -> None:
    """A25."""
    allowing = topic("foobar", AclOperation.ALL)
    expected = Decision(allowed=False, reason=Reason.DENIED, acl=denial)
    assert decided(allowing, denial) == decided(denial, allowing) == expected


@pytest.mark.parametrize("operation", [READ, WRITE, AclOperation.DELETE, AclOperation.ALTER])
def test_read_write_delete_and_alter_include_describe(operation: AclOperation) -> None:
    """A25."""
    acl = topic("foobar", operation)
    assert decided(acl, operation=DESCRIBE).acl == acl
    assert not decided(acl, operation=AclOperation.DESCRIBE_CONFIGS).allowed


@pytest.mark.parametrize("operation", [AclOperation.CREATE, AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE_CONFIGS])
def test_create_and_operations_on_configs_do_not_include_describe(operation: AclOperation) -> None:
    """A25."""
    assert not decided(topic("foobar", operation), operation=DESCRIBE).allowed


def test_alter_configs_includes_describe_configs() -> None:
    """A25."""
    acl = topic("foobar", AclOperation.ALTER_CONFIGS)
    assert decided(acl, operation=AclOperation.DESCRIBE_CONFIGS).acl == acl
    denial = topic("foobar", AclOperation.DESCRIBE_CONFIGS, DENY)
    assert decided(acl, denial, operation=AclOperation.DESCRIBE_CONFIGS).acl == denial
    assert decided(acl, denial, operation=AclOperation.ALTER_CONFIGS).allowed


def test_denying_read_leaves_describe_allowed() -> None:
    """A25."""
    denial = topic("foobar", READ, DENY)
    allowing = topic("foobar", AclOperation.ALL)
    assert decided(denial, allowing, operation=READ).acl == denial
    assert decided(denial, allowing, operation=DESCRIBE).acl == allowing


def test_the_wildcard_principal_matches_principals_of_any_type() -> None:
    """A25."""
    acl = changed(topic("foobar"), principal="User:*")
    assert decided(acl, principal="Group:admins").acl == acl


def test_denials_do_not_apply_to_a_super_user() -> None:
    """A25."""
    evaluator = AclEvaluator([topic("foobar", permission_type=DENY)], super_users=["User:alice"])
    decision = evaluator.decide("User:alice", READ, TOPIC, "foobar", "10.0.0.1")
    assert decision == Decision(allowed=True, reason=Reason.SUPER_USER)


@pytest.mark.parametrize(
    "closing",
    [
        changed(topic("foobar"), principal="User:bob"),
        changed(topic("foobar", permission_type=DENY), principal="User:bob"),
        changed(topic("foo"), principal="User:bob", pattern_type=PREFIXED),
        changed(topic("*"), principal="User:bob"),
    ],
)
def test_any_acl_of_a_resource_closes_it_to_everyone_else(closing: AclBinding) -> None:
    """A25."""
    elsewhere = changed(topic("elsewhere"), principal="User:bob")
    for acls, expected in (
        ([], Decision(allowed=True, reason=Reason.NO_ACL_ON_RESOURCE)),
        ([elsewhere], Decision(allowed=True, reason=Reason.NO_ACL_ON_RESOURCE)),
        ([elsewhere, closing], Decision(allowed=False, reason=Reason.NO_ACL_APPLIES)),
    ):
        evaluator = AclEvaluator(acls, allow_everyone_if_no_acl=True)
        assert evaluator.decide("User:alice", READ, TOPIC, "foobar", "10.0.0.1") == expected


def test_acls_of_newer_brokers_are_returned_as_unclear_and_decide_nothing() -> None:
    """A14."""
    allowing = topic("foobar")
    of_permission = topic("foobar", permission_type=AclPermissionType(9))
    of_pattern = changed(topic("foobar", permission_type=DENY), pattern_type=PatternType(9))
    elsewhere = changed(of_pattern, resource_type=ResourceType.GROUP)
    of_others = changed(of_pattern, principal="User:bob")
    decision = decided(of_permission, of_pattern, elsewhere, of_others, allowing)
    assert decision == Decision(True, Reason.ALLOWED, allowing, unclear=(of_permission, of_pattern))


@pytest.mark.parametrize("operation", [AclOperation.UNKNOWN, AclOperation.ANY, AclOperation.ALL])
def test_operations_of_filters_are_never_allowed(operation: AclOperation) -> None:
    with pytest.raises(ValueError, match="not an operation of a client"):
        decided(topic("foobar"), operation=operation)


def test_no_resource_is_of_a_type_of_filters() -> None:
    with pytest.raises(ValueError, match="not a type of resources"):
        AclEvaluator([]).decide("User:alice", READ, ResourceType.ANY, "foobar", "10.0.0.1")
