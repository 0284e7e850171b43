"""ACLs: two ways to match agree, two ways to decide agree."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given, strategies as st
from tests.laws.model.acl_strategies import (
    acls,
    filters,
    hosts,
    known_acls,
    names,
    operations,
    principals,
    resource_types,
)

from kafkawire.admin.operations.acl_listing import AclListing
from kafkawire.admin.operations.acl_messages import acl_creation
from kafkawire.admin.operations.acl_portions import portions
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import AclEvaluator
from kafkawire.model.acls.matching import AclIndex, matches
from kafkawire.protocol import DescribeAclsResponse

_READ_LIKE = ("READ", "WRITE", "DELETE", "ALTER")


@given(st.lists(acls, max_size=30), st.lists(filters, max_size=8))
def test_an_index_finds_the_same_as_a_search_of_all(
    described: list[AclBinding], wanted: list[AclBindingFilter]
) -> None:
    index = AclIndex(described)
    for one in wanted:
        assert index.matching(one) == [acl for acl in described if matches(one, acl)]


@given(acls, acls)
def test_the_filter_of_an_acl_means_it_and_no_other(acl: AclBinding, other: AclBinding) -> None:
    assert matches(acl.to_filter(), acl)
    assert matches(acl.to_filter(), other) == (acl == other)


@given(filters, acls)
def test_a_looser_filter_means_no_less(wanted: AclBindingFilter, acl: AclBinding) -> None:
    default = AclBindingFilter()
    for attribute in ("resource_type", "principal", "operation", "permission_type", "host"):
        looser = msgspec.structs.replace(wanted, **{attribute: getattr(default, attribute)})
        assert matches(looser, acl) >= matches(wanted, acl)


@given(st.lists(acls, max_size=10))
def test_created_acls_are_described(created: list[AclBinding]) -> None:
    resources = []
    for acl in created:
        item = acl_creation(acl)
        entry = DescribeAclsResponse.AclDescription(item.principal, item.host, item.operation, item.permission_type)
        resources.append(
            DescribeAclsResponse.DescribeAclsResource(
                item.resource_type, item.resource_name, item.resource_pattern_type, (entry,)
            )
        )
    sent = DescribeAclsResponse(resources=resources).encode(3)
    assert AclListing.decode(sent, 3).resources == tuple(sorted(created))


Question = tuple[str, AclOperation, ResourceType, str, str]
questions: st.SearchStrategy[Question] = st.tuples(principals, operations, resource_types, names, hosts)


@given(st.lists(known_acls, max_size=12), questions, st.booleans())
def test_the_evaluator_decides_as_a_plain_reading_of_the_rules(
    described: list[AclBinding], question: Question, open_to_all: bool
) -> None:
    decision = AclEvaluator(described, allow_everyone_if_no_acl=open_to_all).decide(*question)
    assert decision.allowed == _may(described, question, open_to_all)
    if decision.acl is not None:
        assert decision.acl in described
        assert decision.acl.permission_type == (AclPermissionType.ALLOW if decision.allowed else AclPermissionType.DENY)


def _may(described: Sequence[AclBinding], question: Question, open_to_all: bool) -> bool:
    principal, operation, resource_type, name, host = question
    of_resource = [acl for acl in described if acl.resource_type == resource_type and _is_about(acl, name)]
    if not of_resource:
        return open_to_all
    allowed = False
    for acl in of_resource:
        if acl.principal not in {"User:*", principal} or acl.host not in {"*", host}:
            continue
        said = {operation.name, "ALL"}
        if acl.permission_type == AclPermissionType.DENY:
            if acl.operation.name in said:
                return False
        else:
            said |= set(_READ_LIKE) if operation.name == "DESCRIBE" else set()
            said |= {"ALTER_CONFIGS"} if operation.name == "DESCRIBE_CONFIGS" else set()
            allowed = allowed or acl.operation.name in said
    return allowed


def _is_about(acl: AclBinding, name: str) -> bool:
    if acl.pattern_type == PatternType.LITERAL:
        return acl.resource_name in {name, "*"}
    return name[: len(acl.resource_name)] == acl.resource_name


@given(st.lists(acls, unique=True, max_size=30), filters, st.integers(min_value=1, max_value=5))
def test_portions_of_a_filter_match_its_acls_each_once(
    there: list[AclBinding], wanted: AclBindingFilter, limit: int
) -> None:
    meant = [acl for acl in there if matches(wanted, acl)]
    parts = list(portions(wanted, meant, limit))
    assert sorted(acl for portion in parts for acl in portion.acls) == sorted(meant)
    for portion in parts:
        assert len(portion.acls) <= limit
        assert [acl for acl in there if matches(portion.wanted, acl)] == list(portion.acls)
