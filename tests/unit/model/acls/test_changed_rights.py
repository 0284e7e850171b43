"""The rights that differ on names which all principals have ACLs on."""

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
