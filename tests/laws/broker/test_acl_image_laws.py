"""ACLs in the state of a broker: the index finds and decides the same as a search of all, after any changes."""

from __future__ import annotations

from hypothesis import given, strategies as st
from tests.laws.model.acl_strategies import (
    acls,
    filters,
    hosts,
    names,
    operations,
    principals,
    resource_types,
)

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.sessions import Principal, Session
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter, AclOperation, ResourceType
from kafkawire.model.acls.evaluation import AclEvaluator
from kafkawire.model.acls.matching import matches
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord

histories = st.lists(st.tuples(acls, st.booleans()), max_size=30)
"""ACLs that are added, and whether each is removed again in the end."""


def image_of(history: list[tuple[AclBinding, bool]]) -> tuple[AclsImage, list[AclBinding]]:
    """The image, and the ACLs that are left."""
    image = AclsImage()
    added = dict(history)
    for acl in added:
        image.apply(
            AccessControlEntryRecord(
                Uuid.random(),
                acl.resource_type,
                acl.resource_name,
                acl.pattern_type,
                acl.principal,
                acl.host,
                acl.operation,
                acl.permission_type,
            )
        )
    for acl, is_removed in added.items():
        if is_removed:
            image.apply_remove(RemoveAccessControlEntryRecord(image.ids[acl]))
    return image, [acl for acl, is_removed in added.items() if not is_removed]


@given(histories, filters)
def test_it_finds_the_same_as_a_search_of_all(history: list[tuple[AclBinding, bool]], wanted: AclBindingFilter) -> None:
    image, left = image_of(history)
    assert sorted(image.matching(wanted)) == sorted(acl for acl in left if matches(wanted, acl))


@given(histories, st.tuples(principals, operations, resource_types, names, hosts), st.booleans())
def test_it_decides_as_the_evaluator(
    history: list[tuple[AclBinding, bool]],
    question: tuple[str, AclOperation, ResourceType, str, str],
    open_to_all: bool,
) -> None:
    image, left = image_of(history)
    principal, operation, resource_type, name, host = question
    kind, _, who = principal.partition(":")
    authorizer = StandardAuthorizer(image, {"User:bob"}, allow_everyone_if_no_acl=open_to_all)
    decided = authorizer.authorize(Session(Principal(who, kind), host, "PLAINTEXT"), operation, resource_type, name)
    evaluator = AclEvaluator(left, super_users={"User:bob"}, allow_everyone_if_no_acl=open_to_all)
    assert decided == evaluator.decide(*question).allowed


@given(histories)
def test_its_records_make_an_equal_image(history: list[tuple[AclBinding, bool]]) -> None:
    image, left = image_of(history)
    again = AclsImage()
    for record in image.records():
        assert isinstance(record, AccessControlEntryRecord)
        again.apply(record)
    assert again.ids == image.ids
    assert sorted(again.ids) == sorted(left)


@given(histories)
def test_nothing_is_left_of_what_is_removed(history: list[tuple[AclBinding, bool]]) -> None:
    image, left = image_of(history)
    for acl in left:
        image.apply_remove(RemoveAccessControlEntryRecord(image.ids[acl]))
    assert all(not part for part in (image.by_id, image.ids, image._by_pattern, image._patterns_of))
    assert not any(image._prefix_lengths.values())
