"""Effects of a change of ACLs: exactly the decisions of the evaluator that differ."""

from __future__ import annotations

from itertools import product

from hypothesis import given, strategies as st
from tests.laws.model.acl_strategies import OPERATIONS, RESOURCE_TYPES, acls

from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.evaluation import AclEvaluator
from kafkawire.model.acls.operation_sets import CHECKED
from kafkawire.model.acls.right_changes import RightChange

Right = tuple[str, AclOperation, ResourceType, str, str]

PRINCIPALS = ("User:alice", "User:bob", "Group:alice", "User:nameless")
NAMES = ("f", "foo", "foobar", "fop", "*", "b", "foob", "nameless", "ba", "")
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")

RIGHTS: list[Right] = [
    (principal, operation, resource_type, name, host)
    for principal, operation, resource_type, name, host in product(PRINCIPALS, OPERATIONS, RESOURCE_TYPES, NAMES, HOSTS)
    if CHECKED[resource_type] >> operation & 1
]
"""A right in each cell that the ACLs of the strategies can make."""

sets = st.lists(acls, max_size=12)
super_users = st.sampled_from(((), ("User:bob",)))


@given(sets, sets, sets, super_users, st.booleans())
def test_effects_are_the_decisions_that_differ(
    removed: list[AclBinding],
    added: list[AclBinding],
    common: list[AclBinding],
    supers: tuple[str, ...],
    open_to_all: bool,
) -> None:
    before, after = [*common, *removed], [*common, *added]
    found = acl_effects(before, after, super_users=supers, allow_everyone_if_no_acl=open_to_all)
    evaluators = [
        AclEvaluator(each, super_users=supers, allow_everyone_if_no_acl=open_to_all) for each in (before, after)
    ]
    for right in RIGHTS:
        was, may = (evaluator.decide(*right).allowed for evaluator in evaluators)
        expected = None if was == may else RightChange.GAINED if may else RightChange.LOST
        assert found.of(*right) is expected, right
        assert sum(effect.concerns(*right) for effect in found.effects) <= 1
