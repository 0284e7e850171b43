"""Splitting the ACLs that a filter matches into few portions of limited size (A27)."""

from __future__ import annotations

from msgspec.structs import replace

from kafkawire.admin.operations.acl_portions import portions
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter, AclOperation, PatternType, ResourceType
from kafkawire.model.acls.matching import matches

ACL = AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)
EVERYTHING = AclBindingFilter()


def acls_of(topics: int, principals: int) -> list[AclBinding]:
    return [
        replace(ACL, resource_name=f"topic-{topic}", principal=f"User:{principal}", operation=operation)
        for topic in range(topics)
        for principal in range(principals)
        for operation in (AclOperation.READ, AclOperation.WRITE)
    ]


def test_acls_below_the_limit_are_one_portion() -> None:
    acls = acls_of(2, 2)
    (portion,) = portions(EVERYTHING, acls, 8)
    assert (portion.wanted, portion.acls) == (EVERYTHING, acls)


def test_nothing_is_one_empty_portion() -> None:
    (portion,) = portions(EVERYTHING, [], 1)
    assert portion.acls == []


def test_the_fewest_parts_that_fit_are_taken() -> None:
    by_operation = [portion.wanted for portion in portions(EVERYTHING, acls_of(10, 4), 40)]
    assert by_operation == [
        AclBindingFilter(operation=AclOperation.READ),
        AclBindingFilter(operation=AclOperation.WRITE),
    ]
    by_principal = [portion.wanted for portion in portions(EVERYTHING, acls_of(10, 4), 20)]
    assert by_principal == [AclBindingFilter(principal=f"User:{n}") for n in range(4)]


def test_where_no_attribute_is_enough_several_are_taken() -> None:
    acls = acls_of(3, 3)
    parts = list(portions(EVERYTHING, acls, 1))
    assert [len(portion.acls) for portion in parts] == [1] * len(acls)
    for portion in parts:
        assert [acl for acl in acls if matches(portion.wanted, acl)] == portion.acls


def test_a_match_filter_is_split_into_exact_patterns() -> None:
    affecting = AclBindingFilter(ResourceType.TOPIC, "foo", pattern_type=PatternType.MATCH)
    acls = [
        ACL,
        replace(ACL, resource_name="*"),
        replace(ACL, resource_name="f", pattern_type=PatternType.PREFIXED),
        replace(ACL, pattern_type=PatternType.PREFIXED),
    ]
    found = [(portion.wanted.resource_name, portion.wanted.pattern_type) for portion in portions(affecting, acls, 1)]
    assert found == [
        ("foo", PatternType.LITERAL),
        ("*", PatternType.LITERAL),
        ("f", PatternType.PREFIXED),
        ("foo", PatternType.PREFIXED),
    ]
