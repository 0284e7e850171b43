"""Answers to DescribeAcls whose resources are ACLs (A14, A21)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.hypothesis_profiles import scaled

from kafkawire.admin.operations.acl_listing import AclListing
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.protocol import DescribeAclsResponse
from kafkawire.wire import DecodeError, UnsupportedVersionError

Resource = DescribeAclsResponse.DescribeAclsResource
Description = DescribeAclsResponse.AclDescription
Result = DescribeAclsResponse.DescribeAclsFilterResult

RESOURCES = (
    Resource(2, "foo", 4, (Description("User:bob", "*", 3, 3), Description("User:alice", "10.0.0.1", 4, 2))),
    Resource(4, "kafka-cluster"),
    Resource(3, "g", 3, (Description("User:bob", "*", 3, 3),)),
)
ACLS = (
    AclBinding(
        ResourceType.TOPIC,
        "foo",
        "User:alice",
        AclOperation.WRITE,
        AclPermissionType.DENY,
        "10.0.0.1",
        PatternType.PREFIXED,
    ),
    AclBinding(ResourceType.TOPIC, "foo", "User:bob", AclOperation.READ, pattern_type=PatternType.PREFIXED),
    AclBinding(ResourceType.GROUP, "g", "User:bob", AclOperation.READ),
)

pytestmark = pytest.mark.usefixtures("each_engine")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_acls_that_an_answer_groups_by_resource_are_one_sorted_tuple(version: int) -> None:
    """A21."""
    sent = DescribeAclsResponse(throttle_time_ms=7, error_message=None, resources=RESOURCES).encode(version)
    listing, end = AclListing.decode_from(b"??" + sent + b"?", 2, version)
    assert end == 2 + len(sent)
    assert (listing.throttle_time_ms, listing.error_code, listing.error_message) == (7, 0, None)
    assert listing.resources == ACLS
    assert AclListing.decode(sent, version) == listing


def test_names_are_literal_in_version_0() -> None:
    """A15."""
    sent = DescribeAclsResponse(resources=(Resource(2, "foo", 3, (Description("User:a", "*", 3, 3),)),)).encode(0)
    assert AclListing.decode(sent, 0).resources == (AclBinding(ResourceType.TOPIC, "foo", "User:a", AclOperation.READ),)


def test_each_filter_has_acls_of_its_own() -> None:
    """KIP-888."""
    results = (Result(0, None, RESOURCES), Result(31, "no", ()), Result(0, None, RESOURCES[2:]))
    listing = AclListing.decode(DescribeAclsResponse(filter_results=results).encode(4), 4)
    assert [each.resources for each in listing.filter_results] == [ACLS, (), ACLS[2:]]
    assert [each.error_code for each in listing.filter_results] == [0, 31, 0]
    assert [each.error_message for each in listing.filter_results] == [None, "no", None]


def test_numbers_of_a_newer_broker_are_kept() -> None:
    """A14."""
    unknown = Resource(99, "foo", 5, (Description("User:alice", "*", 16, 77),))
    sent = DescribeAclsResponse(resources=(unknown,)).encode(3)
    (acl,) = AclListing.decode(sent, 3).resources
    assert acl.is_unknown
    parts = (acl.resource_type, acl.pattern_type, acl.operation, acl.permission_type)
    assert tuple(map(int, parts)) == (99, 5, 16, 77)
    assert (acl.resource_name, acl.principal) == ("foo", "User:alice")


CODES = st.sampled_from([2, 3, 4])
TEXTS = st.text("ab\0é\U0001f600", max_size=9).map(lambda text: "common-" * (len(text) > 3) + text)
ANY_RESOURCES = st.lists(
    st.builds(
        Resource,
        CODES | st.sampled_from([-7, 0, 99]),
        TEXTS,
        CODES,
        st.lists(st.builds(Description, TEXTS, TEXTS, CODES, CODES), max_size=5).map(tuple),
    ),
    max_size=12,
)


def sorted_acls(resources: Iterable[Resource]) -> tuple[AclBinding, ...]:
    made = (
        AclBinding(
            ResourceType(resource.resource_type),
            resource.resource_name,
            acl.principal,
            AclOperation(acl.operation),
            AclPermissionType(acl.permission_type),
            acl.host,
            PatternType(resource.pattern_type),
        )
        for resource in resources
        for acl in resource.acls
    )
    return tuple(sorted(made))


@settings(max_examples=scaled(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_RESOURCES)
def test_acls_are_sorted_by_their_attributes(resources: list[Resource]) -> None:
    """A21."""
    sent = DescribeAclsResponse(resources=tuple(resources)).encode(3)
    assert AclListing.decode(sent, 3).resources == sorted_acls(resources)


@settings(max_examples=scaled(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_RESOURCES, st.data())
def test_damaged_octets_are_read_or_refused_as_the_response_is(resources: list[Resource], data: st.DataObject) -> None:
    version = data.draw(st.sampled_from([3, 4]))
    whole = (
        DescribeAclsResponse(resources=tuple(resources))
        if version < 4
        else DescribeAclsResponse(filter_results=(Result(0, "", tuple(resources)),))
    )
    octets = bytearray(whole.encode(version))
    for _ in range(data.draw(st.integers(1, 3))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    sent = bytes(octets)[: data.draw(st.integers(len(octets) // 2, len(octets)))]
    refusals = []
    for cls in (DescribeAclsResponse, AclListing):
        try:
            cls.decode_from(sent, 0, version)
        except DecodeError as error:
            refusals.append(str(error))
    if refusals:
        assert refusals == refusals[:1] * 2
        return
    response, end = DescribeAclsResponse.decode_from(sent, 0, version)
    listing, listing_end = AclListing.decode_from(sent, 0, version)
    assert listing_end == end
    assert listing.resources == sorted_acls(response.resources)
    assert [each.resources for each in listing.filter_results] == [
        sorted_acls(each.resources) for each in response.filter_results
    ]


def test_other_versions_are_refused() -> None:
    with pytest.raises(UnsupportedVersionError):
        AclListing.decode_from(b"", 0, 5)


def test_many_acls_of_an_answer_share_equal_texts() -> None:
    """Far below the 1 KB an ACL that a listing of hundreds of thousands may cost."""
    acls = tuple(Description(f"User:{n % 100:0100}", "*", 3, 3) for n in range(10_000))
    sent = DescribeAclsResponse(resources=(Resource(2, "foo", 3, acls),)).encode(3)
    del acls
    AclListing.decode(sent, 3)
    tracemalloc.start()
    try:
        described = AclListing.decode(sent, 3).resources
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(described) == 10_000
    assert kept / len(described) < 150
    assert peak / len(described) < 500
