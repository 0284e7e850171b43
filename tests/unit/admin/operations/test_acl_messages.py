"""ACLs and filters as parts of Kafka's messages (A2, A15)."""

from __future__ import annotations

import pytest

from kafkawire.admin.operations.acl_messages import (
    acl_creation,
    delete_acls_filter,
    deleted_acl,
    describe_acls_filter,
    describe_acls_request,
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
