"""A review finds exactly the ACLs that can be removed; a minimal set decides as all ACLs, and none of it can go."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.laws.model.acl_strategies import acls, known_acls

from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.minimal_set import minimise_acls
from kafkawire.model.acls.review import FindingKind, review_acls

super_users = st.sampled_from(((), ("User:bob",)))


@settings(max_examples=scaled(200))
@given(st.lists(known_acls, max_size=12, unique=True), super_users)
def test_a_review_finds_the_acls_that_can_be_removed(described: list[AclBinding], supers: tuple[str, ...]) -> None:
    removable = {
        acl
        for acl in described
        if not acl_effects(described, [each for each in described if each != acl], super_users=supers)
    }
    findings = review_acls(described, super_users=supers)
    assert {finding.acl for finding in findings if not finding.remaining} == removable
    assert len({finding.acl for finding in findings}) == len(findings)


@settings(max_examples=scaled(200))
@given(st.lists(acls, max_size=12, unique=True))
def test_a_finding_holds_as_long_as_its_causes_are_there(described: list[AclBinding]) -> None:
    for finding in review_acls(described):
        if finding.kind is not FindingKind.IDLE and not finding.remaining:
            assert not acl_effects([*finding.causes, finding.acl], finding.causes)


@given(st.lists(acls, max_size=12, unique=True))
def test_where_resources_are_open_without_acls_a_finding_leaves_them_closed(described: list[AclBinding]) -> None:
    for finding in review_acls(described, allow_everyone_if_no_acl=True):
        if not finding.remaining:
            without = [acl for acl in described if acl != finding.acl]
            assert not acl_effects(described, without, allow_everyone_if_no_acl=True)


@settings(max_examples=scaled(200))
@given(st.lists(acls, max_size=16, unique=True), super_users, st.booleans(), st.booleans(), st.booleans())
def test_a_minimal_set_decides_as_all_acls(
    described: list[AclBinding], supers: tuple[str, ...], open_to_all: bool, keep_denials: bool, merge: bool
) -> None:
    smallest = minimise_acls(
        described,
        super_users=supers,
        allow_everyone_if_no_acl=open_to_all,
        keep_denials=keep_denials,
        merge=merge,
    )
    assert not acl_effects(described, smallest.acls, super_users=supers, allow_everyone_if_no_acl=open_to_all)
    assert set(smallest.acls) == set(described) - set(smallest.removed) | set(smallest.added)
    assert len(smallest.acls) <= len(described)


@settings(max_examples=scaled(60))  # each tries every choice
@given(st.lists(known_acls, max_size=9, unique=True), super_users)
def test_no_smaller_choice_decides_as_all_acls(described: list[AclBinding], supers: tuple[str, ...]) -> None:
    smallest = minimise_acls(described, super_users=supers, merge=False)
    count = _fewest(described, supers)
    assert len(smallest.acls) == count or (len(smallest.acls) > count and not smallest.is_smallest)
    for acl in smallest.acls:
        assert acl_effects(smallest.acls, [each for each in smallest.acls if each != acl], super_users=supers)


def _fewest(described: list[AclBinding], supers: tuple[str, ...]) -> int:
    """How many of some ACLs decide as all do, by trying every choice."""
    for size in range(len(described) + 1):
        for chosen in combinations(described, size):
            if not acl_effects(described, chosen, super_users=supers):
                return size
    return len(described)
