"""ACLs and filters as parts of Kafka's messages (A2, A14, A15, A21)."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kafkawire.admin.operations.acl_messages import (
    acl_creation,
    delete_acls_filter,
    deleted_acl,
    describe_acls_filter,
    describe_acls_request,
    described_acls,
    lowest_version,
)
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.protocol import (
    CreateAclsRequest,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)

ACL = AclBinding(
    ResourceType.TOPIC,
    "foo",
    "User:alice",
    AclOperation.WRITE,
    AclPermissionType.DENY,
    "10.0.0.1",
    PatternType.PREFIXED,
)


def test_the_pattern_type_is_literal_by_default() -> None:
    """A2."""
    assert CreateAclsRequest.AclCreation().resource_pattern_type == PatternType.LITERAL
    assert AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ).pattern_type is PatternType.LITERAL


def test_acls_that_an_answer_groups_by_resource_become_one_list() -> None:
    """A21."""
    resources = (
        DescribeAclsResponse.DescribeAclsResource(
            resource_type=2,
            resource_name="foo",
            pattern_type=4,
            acls=(
                DescribeAclsResponse.AclDescription("User:alice", "10.0.0.1", 4, 2),
                DescribeAclsResponse.AclDescription("User:bob", "*", 3, 3),
            ),
        ),
        DescribeAclsResponse.DescribeAclsResource(resource_type=4, resource_name="kafka-cluster"),
        DescribeAclsResponse.DescribeAclsResource(
            resource_type=3, resource_name="g", acls=(DescribeAclsResponse.AclDescription("User:bob", "*", 3, 3),)
        ),
    )
    sent = DescribeAclsResponse(resources=resources).encode(3)
    assert described_acls(DescribeAclsResponse.decode(sent, 3).resources) == [
        ACL,
        AclBinding(ResourceType.TOPIC, "foo", "User:bob", AclOperation.READ, pattern_type=PatternType.PREFIXED),
        AclBinding(ResourceType.GROUP, "g", "User:bob", AclOperation.READ),
    ]


CODES = st.sampled_from([2, 3, 4])
TEXTS = st.text("ab\0é\U0001f600", max_size=9).map(lambda text: "common-" * (len(text) > 3) + text)


@pytest.mark.usefixtures("each_engine")
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    resources=st.lists(
        st.builds(
            DescribeAclsResponse.DescribeAclsResource,
            CODES | st.sampled_from([-7, 0, 99]),
            TEXTS,
            CODES,
            st.lists(st.builds(DescribeAclsResponse.AclDescription, TEXTS, TEXTS, CODES, CODES), max_size=5),
        ),
        max_size=12,
    )
)
def test_acls_are_sorted_by_their_attributes(resources: list[DescribeAclsResponse.DescribeAclsResource]) -> None:
    """A21."""
    sent = DescribeAclsResponse(resources=tuple(resources)).encode(3)
    assert described_acls(DescribeAclsResponse.decode(sent, 3).resources) == sorted(
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


def test_answers_that_a_program_makes_are_read_too() -> None:
    class Name(str):
        __slots__ = ()

    acl = DescribeAclsResponse.AclDescription(Name("User:alice"), "*", AclOperation.READ, 3)
    resource = DescribeAclsResponse.DescribeAclsResource(2, Name("foo"), 3, [acl])
    assert described_acls([resource]) == [AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)]
    for lone in ("\ud800", "\udfff"):
        resource = DescribeAclsResponse.DescribeAclsResource(2, lone, 3, (acl,))
        assert [found.resource_name for found in described_acls([resource])] == [lone]


def test_numbers_of_a_newer_broker_are_kept() -> None:
    """A14."""
    described = DescribeAclsResponse.AclDescription("User:alice", "*", 16, 77)
    resource = DescribeAclsResponse.DescribeAclsResource(99, "foo", 5, (described,))
    (acl,) = described_acls([resource])
    assert acl.is_unknown
    parts = (acl.resource_type, acl.pattern_type, acl.operation, acl.permission_type)
    assert tuple(map(int, parts)) == (99, 5, 16, 77)
    assert (acl.resource_name, acl.principal) == ("foo", "User:alice")


def test_a_deleted_acl_is_read_back() -> None:
    matching = DeleteAclsResponse.DeleteAclsMatchingAcl(0, None, 2, "foo", 4, "User:alice", "10.0.0.1", 4, 2)
    assert deleted_acl(matching) == ACL


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_acl_is_sent(version: int) -> None:
    sent = CreateAclsRequest(creations=(acl_creation(ACL),)).encode(version)
    (creation,) = CreateAclsRequest.decode(sent, version).creations
    assert creation == CreateAclsRequest.AclCreation(2, "foo", 4, "User:alice", "10.0.0.1", 4, 2)


WANTED = AclBindingFilter(ResourceType.TOPIC, None, "User:alice", AclOperation.READ)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_filter_is_sent(version: int) -> None:
    describe = describe_acls_request(WANTED, version)
    assert DescribeAclsRequest.decode(describe.encode(version), version) == DescribeAclsRequest(
        2, None, 1, "User:alice", None, 3, 1
    )
    delete = DeleteAclsRequest(filters=(delete_acls_filter(WANTED, version),))
    (wanted,) = DeleteAclsRequest.decode(delete.encode(version), version).filters
    assert wanted == DeleteAclsRequest.DeleteAclsFilter(2, None, 1, "User:alice", None, 3, 1)


def test_filters_are_sent_together() -> None:
    describe = DescribeAclsRequest(filters=(describe_acls_filter(WANTED), describe_acls_filter(AclBindingFilter())))
    assert DescribeAclsRequest.decode(describe.encode(4), 4).filters == (
        DescribeAclsRequest.DescribeAclsFilter(2, None, 1, "User:alice", None, 3, 1),
        DescribeAclsRequest.DescribeAclsFilter(1, None, 1, None, None, 1, 1),
    )


def test_version_0_sends_any_pattern_type_as_literal() -> None:
    """A15."""
    sent = describe_acls_request(AclBindingFilter(), 0).encode(0)
    assert DescribeAclsRequest.decode(sent, 0) == DescribeAclsRequest(1, None, 3, None, None, 1, 1)
    assert delete_acls_filter(AclBindingFilter(), 0).pattern_type_filter == PatternType.LITERAL


@pytest.mark.parametrize(
    ("said", "version"),
    [
        (AclBindingFilter(), 0),
        (AclBindingFilter(pattern_type=PatternType.LITERAL), 0),
        (AclBindingFilter(pattern_type=PatternType.MATCH), 1),
        (AclBindingFilter(pattern_type=PatternType.PREFIXED), 1),
        (ACL, 1),
        (AclBindingFilter(ResourceType.USER), 3),
        (AclBinding(ResourceType.USER, "User:bob", "User:alice", AclOperation.CREATE_TOKENS), 3),
    ],
)
def test_the_lowest_version_that_expresses_a_filter_or_acl_is_found(
    said: AclBinding | AclBindingFilter, version: int
) -> None:
    """A15."""
    assert lowest_version(said) == version


@pytest.mark.usefixtures("one_engine")
def test_many_acls_of_an_answer_share_equal_strings() -> None:
    """Far below the 1 KB an ACL that a listing of hundreds of thousands may cost."""
    acls = tuple(DescribeAclsResponse.AclDescription(f"User:{n % 100:0100}", "*", 3, 3) for n in range(10_000))
    sent = DescribeAclsResponse(resources=(DescribeAclsResponse.DescribeAclsResource(2, "foo", 3, acls),)).encode(3)
    del acls
    tracemalloc.start()
    try:
        described = described_acls(DescribeAclsResponse.decode(sent, 3).resources)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(described) == 10_000
    assert kept / len(described) < 150
    assert peak / len(described) < 500
