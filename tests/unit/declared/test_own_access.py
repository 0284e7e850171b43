"""A plan does not take its caller's own rights away."""

from __future__ import annotations

import pytest

from kafkawire.admin import AclBinding, AclOperation, AclPermissionType, ResourceType, ScramMechanism
from kafkawire.declared.own_access import keep_access, may_take_access
from kafkawire.declared.planned import Action, Item
from kafkawire.declared.planning import plan_of
from kafkawire.declared.state import ClusterState, CredentialState

CALLER = "User:admin"
ALTER = AclBinding.of_cluster(CALLER, AclOperation.ALTER)
CREATE = AclBinding.of_cluster("User:*", AclOperation.CREATE)
OTHER = AclBinding.of_cluster("User:other", AclOperation.ALTER)
DENY = AclBinding.of_cluster(CALLER, AclOperation.ALTER, AclPermissionType.DENY)
DENY_ALL = AclBinding.of_cluster("User:*", AclOperation.ALL, AclPermissionType.DENY, host="10.0.0.1")
OWN_TOPIC = AclBinding(ResourceType.TOPIC, "orders", CALLER, AclOperation.READ)


def kept(
    declared: set[AclBinding], current: set[AclBinding], *, caller: str = CALLER, supers: tuple[str, ...] = ()
) -> dict[Item, tuple[Action, str]]:
    states = ClusterState(acls=frozenset(declared)), ClusterState(acls=frozenset(current))
    plan = keep_access(plan_of(*states, may_delete=lambda _kind, _item: True), current, caller, supers)
    return {item.item: (item.action, item.reason) for item in plan.items}


def test_permissions_of_the_caller_stay() -> None:
    plan = kept(set(), {ALTER, OTHER, OWN_TOPIC})
    assert {acl: action for acl, (action, _) in plan.items()} == {
        ALTER: Action.IMPOSSIBLE,
        OWN_TOPIC: Action.IMPOSSIBLE,
        OTHER: Action.DELETE,
    }
    assert plan[ALTER][1] == "User:admin, who calls, has its own rights by it; let another user delete it"


def test_permissions_of_everybody_stay_if_the_caller_needs_them() -> None:
    action, reason = kept(set(), {CREATE})[CREATE]
    assert action is Action.IMPOSSIBLE
    assert reason == "User:admin, who calls, would lose CREATE on the cluster; let another user do this"
    own = AclBinding.of_cluster(CALLER, AclOperation.CREATE)
    assert kept({own}, {CREATE, own})[CREATE][0] is Action.DELETE


def test_denials_that_concern_the_caller_are_not_created() -> None:
    assert kept({ALTER, DENY}, {ALTER})[DENY][0] is Action.IMPOSSIBLE


def test_denials_from_one_address_count() -> None:
    assert kept({ALTER, DENY_ALL}, {ALTER})[DENY_ALL][0] is Action.IMPOSSIBLE


def test_denials_of_what_the_caller_does_not_have_are_created() -> None:
    assert kept({DENY}, {OTHER})[DENY][0] is Action.CREATE


def test_a_super_user_needs_no_acls() -> None:
    assert kept(set(), {ALTER}, supers=(CALLER,))[ALTER][0] is Action.DELETE


@pytest.mark.parametrize("supers", [(), (CALLER,)])
def test_credentials_of_the_caller_stay(supers: tuple[str, ...]) -> None:
    own, other = ("admin", ScramMechanism.SCRAM_SHA_512), ("other", ScramMechanism.SCRAM_SHA_512)
    current = ClusterState(credentials=dict.fromkeys((own, other), CredentialState(iterations=4096)))
    plan = plan_of(ClusterState(), current, may_delete=lambda _kind, _item: True)
    items = {item.item: item for item in keep_access(plan, (), CALLER, supers).items}
    assert items[other].action is Action.DELETE
    assert items[own].action is Action.IMPOSSIBLE
    assert items[own].reason == "User:admin, who calls, logs in with its credentials; let another user delete it"


def test_acls_of_others_are_not_protected() -> None:
    assert kept(set(), {ALTER}, caller="User:other")[ALTER][0] is Action.DELETE


def test_the_first_acl_of_an_open_cluster_needs_one_of_the_caller() -> None:
    def actions(declared: set[AclBinding]) -> dict[Item, Action]:
        plan = keep_access(
            plan_of(ClusterState(acls=frozenset(declared)), ClusterState()), (), CALLER, allow_everyone_if_no_acl=True
        )
        return {item.item: item.action for item in plan.items}

    everything = AclBinding.of_cluster(CALLER, AclOperation.ALL)
    assert actions({OTHER}) == {OTHER: Action.IMPOSSIBLE}
    assert actions({OTHER, everything}) == {OTHER: Action.CREATE, everything: Action.CREATE}
    assert actions({OWN_TOPIC}) == {OWN_TOPIC: Action.CREATE}


@pytest.mark.parametrize(
    ("declared", "current", "expected"),
    [
        (set(), {ALTER}, "ACLs would be deleted"),
        ({DENY}, set(), "rights on the cluster would be denied"),
        ({OTHER}, set(), "the cluster would get its first ACL, which takes the rights on it from everyone else"),
        ({OTHER, ALTER}, {ALTER}, None),
        ({OWN_TOPIC}, set(), None),
    ],
)
def test_what_could_take_the_rights_of_a_caller_who_is_not_known(
    declared: set[AclBinding], current: set[AclBinding], expected: str | None
) -> None:
    states = ClusterState(acls=frozenset(declared)), ClusterState(acls=frozenset(current))
    plan = plan_of(*states, may_delete=lambda _kind, _item: True)
    assert may_take_access(plan, current, allow_everyone_if_no_acl=True) == expected
