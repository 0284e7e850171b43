"""The smallest choice of ACLs, in cases that laws meet seldom."""

from __future__ import annotations

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, ResourceType
from kafkawire.model.acls.minimal_set import minimise_acls
from kafkawire.model.acls.review import FindingKind, review_acls

TOPIC, DENY = ResourceType.TOPIC, AclPermissionType.DENY


def test_what_only_keeps_a_resource_closed_may_need_a_denial() -> None:
    """Without ACLs the topic is open, and what is left alone must not allow what was denied."""
    acls = [
        AclBinding(TOPIC, "orders", "User:etl", AclOperation.READ),
        AclBinding(TOPIC, "orders", "User:etl", AclOperation.ALL, DENY),
    ]
    assert minimise_acls(acls).acls == ()
    (kept,) = minimise_acls(acls, allow_everyone_if_no_acl=True).acls
    assert kept.permission_type is DENY


def test_a_denial_of_an_address_is_needed_while_a_range_with_it_is_allowed() -> None:
    """A23."""
    of_range = AclBinding(TOPIC, "orders", "User:etl", AclOperation.READ, host="10.0.0.0/8")
    denial = AclBinding(TOPIC, "orders", "User:etl", AclOperation.READ, DENY, host="10.0.0.5")
    of_all = AclBinding(TOPIC, "orders", "User:etl", AclOperation.READ)
    assert minimise_acls([of_range, denial]).removed == ()
    assert review_acls([of_range, denial]) == []
    assert minimise_acls([of_range, of_all]).removed == (of_range,)
    (finding,) = review_acls([denial, of_range, of_all])
    assert (finding.acl, finding.kind) == (of_range, FindingKind.REDUNDANT)


def test_operations_become_all_only_where_that_is_wanted() -> None:
    acls = [
        AclBinding(ResourceType.USER, "alice", "User:etl", operation)
        for operation in (AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS)
    ]
    assert minimise_acls(acls, merge=False).removed == ()
    (merged,) = minimise_acls(acls).added
    assert merged.operation is AclOperation.ALL


def test_a_guard_is_kept_where_that_is_wanted() -> None:
    guard = AclBinding(TOPIC, "orders", "User:etl", AclOperation.ALL, DENY)
    assert minimise_acls([guard]).removed == (guard,)
    assert minimise_acls([guard], keep_denials=True).acls == (guard,)
