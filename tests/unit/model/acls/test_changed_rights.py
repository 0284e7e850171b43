"""The rights that differ: on names which all principals have ACLs on, and from ranges of addresses."""

from __future__ import annotations

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, ResourceType
from kafkawire.model.acls.effects import acl_effects

TOPIC, READ, DENY = ResourceType.TOPIC, AclOperation.READ, AclPermissionType.DENY


def test_a_denial_that_another_one_repeats_on_the_only_name_changes_nothing() -> None:
    repeated = AclBinding(TOPIC, "*", "User:alice", READ, DENY)
    left = [AclBinding(TOPIC, "orders", "User:*", READ), AclBinding(TOPIC, "orders", "User:alice", READ, DENY)]
    assert acl_effects([repeated, *left], left).effects == ()


def test_a_right_on_all_names_is_new_except_on_those_that_all_principals_have() -> None:
    before = [AclBinding(TOPIC, name, "User:*", READ) for name in ("invoices", "orders")]
    before.append(AclBinding(TOPIC, "orders", "User:alice", READ, DENY))
    effects = acl_effects(before, [*before, AclBinding(TOPIC, "*", "User:alice", READ)])
    assert effects.sentences() == [
        "User:alice may READ and DESCRIBE all topics (except invoices and orders) for the first time"
    ]


OF_RANGE = AclBinding(TOPIC, "orders", "User:alice", READ, host="10.0.0.0/8")
DENIED_IN_RANGE = AclBinding(TOPIC, "orders", "User:alice", READ, DENY, host="10.0.0.1")


def test_a_change_of_a_host_in_a_range_is_said_not_to_be_clear() -> None:
    assert acl_effects([OF_RANGE], [OF_RANGE, DENIED_IN_RANGE]).sentences() == [
        "not clear: User:alice may READ topic orders from 10.0.0.0/8; other ACLs are about hosts in the range"
    ]


def test_an_acl_of_an_unknown_kind_is_said_not_to_be_clear() -> None:
    unknown = AclBinding(TOPIC, "orders", "User:alice", READ, AclPermissionType(9))
    (sentence,) = acl_effects([], [unknown]).sentences()
    assert sentence.startswith("not clear: ")
    assert sentence.endswith("; this version does not know its kind")


def test_at_brokers_before_4_4_a_range_has_no_effect() -> None:
    assert acl_effects([DENIED_IN_RANGE], [DENIED_IN_RANGE, OF_RANGE], ranges=False).sentences() == []
