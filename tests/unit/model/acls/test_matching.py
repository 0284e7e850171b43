"""Which ACLs a filter matches (A3 to A10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest

from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.matching import AclIndex, matches

LITERAL, PREFIXED, ANY, MATCH = PatternType.LITERAL, PatternType.PREFIXED, PatternType.ANY, PatternType.MATCH
ACL = AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)
ANYTHING = AclBindingFilter()

Matches = Callable[[AclBindingFilter, AclBinding], bool]


def _indexed(wanted: AclBindingFilter, acl: AclBinding) -> bool:
    return AclIndex([acl]).matching(wanted) == [acl]


@pytest.fixture(params=[matches, _indexed], ids=["one by one", "index"])
def means(request: pytest.FixtureRequest) -> Matches:
    """Both ways to ask."""
    made: Matches = request.param
    return made


def acl(name: str, pattern_type: PatternType) -> AclBinding:
    return msgspec.structs.replace(ACL, resource_name=name, pattern_type=pattern_type)


def named(name: str | None, pattern_type: PatternType) -> AclBindingFilter:
    return AclBindingFilter(resource_name=name, pattern_type=pattern_type)


def test_a_filter_means_everything_by_default(means: Matches) -> None:
    assert means(AclBindingFilter(), ACL)
    assert means(AclBindingFilter(), AclBinding.of_cluster("User:bob", AclOperation.ALTER))


@pytest.mark.parametrize("resource_type", list(ResourceType)[2:])
def test_any_matches_every_resource_type_and_a_type_matches_itself(means: Matches, resource_type: ResourceType) -> None:
    """A3."""
    assert means(AclBindingFilter(ResourceType.ANY), msgspec.structs.replace(ACL, resource_type=resource_type))
    assert means(AclBindingFilter(resource_type), ACL) is (resource_type is ResourceType.TOPIC)


def test_a_star_is_an_ordinary_name_and_no_wildcard_of_filters(means: Matches) -> None:
    """A4."""
    for pattern_type in (LITERAL, ANY, MATCH):
        assert means(named("*", pattern_type), acl("*", LITERAL))
        assert not means(named("*", pattern_type), acl("foo", LITERAL))
    assert not means(named("*", PREFIXED), acl("foo", PREFIXED))


@pytest.mark.parametrize("pattern_type", [LITERAL, PREFIXED])
def test_a_filter_without_a_name_matches_every_name_of_its_pattern_type(
    means: Matches, pattern_type: PatternType
) -> None:
    """A4."""
    assert means(named(None, pattern_type), acl("foo", pattern_type))
    assert means(named(None, MATCH), acl("foo", pattern_type))
    other = PREFIXED if pattern_type is LITERAL else LITERAL
    assert not means(named(None, pattern_type), acl("foo", other))


def test_the_pattern_type_any_needs_the_equal_name(means: Matches) -> None:
    """A5."""
    for pattern_type in (LITERAL, PREFIXED):
        assert means(named("foo", ANY), acl("foo", pattern_type))
        assert not means(named("foobar", ANY), acl("foo", pattern_type))


def test_a_prefixed_filter_finds_the_equal_prefix_and_not_names_that_begin_with_it(means: Matches) -> None:
    """A6."""
    assert means(named("foo", PREFIXED), acl("foo", PREFIXED))
    assert not means(named("foo", PREFIXED), acl("foobar", PREFIXED))
    assert not means(named("foobar", PREFIXED), acl("foo", PREFIXED))


def test_match_finds_the_acls_that_concern_the_named_resource(means: Matches) -> None:
    """A7."""
    assert means(named("foobar", MATCH), acl("foobar", LITERAL))
    assert means(named("foobar", MATCH), acl("*", LITERAL))
    assert means(named("foobar", MATCH), acl("foo", PREFIXED))
    assert means(named("foobar", MATCH), acl("foobar", PREFIXED))
    assert not means(named("foobar", MATCH), acl("foobarbaz", PREFIXED))
    assert not means(named("foobar", MATCH), acl("foo", LITERAL))
    assert not means(named("foobar", MATCH), acl("*", PREFIXED))
    assert means(named("", MATCH), acl("*", LITERAL))


@pytest.mark.parametrize("star", ["User:alice", "User:*", "*"])
def test_principals_and_hosts_match_equal_text_only(means: Matches, star: str) -> None:
    """A8."""
    said = msgspec.structs.replace(ACL, principal=star, host=star)
    assert means(AclBindingFilter(principal=star, host=star), said)
    for other in ("User:Alice", "User:alic", "", "alice"):
        assert not means(AclBindingFilter(principal=other), said)
        assert not means(AclBindingFilter(host=other), said)


def test_operations_and_permissions_match_themselves_or_any(means: Matches) -> None:
    """A9."""
    everything = msgspec.structs.replace(ACL, operation=AclOperation.ALL)
    assert means(AclBindingFilter(operation=AclOperation.ANY), everything)
    assert means(AclBindingFilter(operation=AclOperation.ALL), everything)
    assert not means(AclBindingFilter(operation=AclOperation.ALL), ACL)
    assert not means(AclBindingFilter(operation=AclOperation.READ), everything)
    assert not means(AclBindingFilter(operation=AclOperation.DESCRIBE), ACL)
    assert means(AclBindingFilter(permission_type=AclPermissionType.ALLOW), ACL)
    assert not means(AclBindingFilter(permission_type=AclPermissionType.DENY), ACL)


TRUTH = """
             LITERAL-foo PREFIXED-foo ANY-foo MATCH-foo MATCH-foobar ANY-
LITERAL-foo       x           -          x        x          -         x
PREFIXED-foo      -           x          x        x          x         x
PREFIXED-f        -           -          -        x          x         x
LITERAL-*         -           -          -        x          x         x
LITERAL-foobar    -           -          -        -          x         x
"""


def _truth() -> Iterable[tuple[str, str, bool]]:
    heading, *rows = TRUTH.strip().splitlines()
    for row in rows:
        pattern, *cells = row.split()
        yield from ((pattern, wanted, cell == "x") for wanted, cell in zip(heading.split(), cells, strict=True))


@pytest.mark.parametrize(("pattern", "wanted", "expected"), list(_truth()))
def test_filters_match_as_the_table_shows(means: Matches, pattern: str, wanted: str, expected: bool) -> None:
    """A10."""
    of_acl, of_filter = pattern.split("-"), wanted.split("-")
    asked = named(of_filter[1] or None, PatternType[of_filter[0]])
    assert means(asked, acl(of_acl[1], PatternType[of_acl[0]])) is expected


UNHEARD_OF = AclBinding(
    ResourceType(99), "foo", "User:alice", AclOperation(99), AclPermissionType(99), pattern_type=PatternType(99)
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (ANYTHING, True),
        (named("foo", ANY), True),
        (named(None, MATCH), True),
        (named("foo", MATCH), False),
        (named("foo", LITERAL), False),
        (AclBindingFilter(ResourceType.TOPIC), False),
        (AclBindingFilter(operation=AclOperation.READ), False),
        (AclBindingFilter(permission_type=AclPermissionType.ALLOW), False),
        (AclBindingFilter(ResourceType.UNKNOWN), False),
        (UNHEARD_OF.to_filter(), True),
    ],
)
def test_kip_140_any_also_matches_unknown_values(means: Matches, wanted: AclBindingFilter, expected: bool) -> None:
    assert means(wanted, UNHEARD_OF) is expected


def test_an_index_keeps_the_order_of_the_acls() -> None:
    acls = [acl("foo", PREFIXED), acl("*", LITERAL), acl("bar", LITERAL), acl("f", PREFIXED), acl("foo", LITERAL)]
    index = AclIndex(acls)
    assert index.matching(ANYTHING) == acls
    assert index.matching(named("foo", MATCH)) == [acls[0], acls[1], acls[3], acls[4]]
    assert index.matching(named("*", MATCH)) == [acls[1]]
    assert index.matching(named("nothing", ANY)) == []


def test_an_index_does_not_search_every_acl() -> None:
    """One pass for the first filter by principal; 500 filters over 5 000 ACLs would be 2 500 000 comparisons."""
    looks = 0

    class Counted(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal looks
            looks += 1
            return str(self) == str(other)

        __hash__ = str.__hash__

    acls = [msgspec.structs.replace(ACL, principal=Counted(f"User:{n % 500}")) for n in range(5000)]
    index = AclIndex(acls)
    found = [index.matching(AclBindingFilter(principal=f"User:{n}")) for n in range(500)]
    assert [len(acls) for acls in found] == [10] * 500
    assert looks <= len(acls) + len(found)
