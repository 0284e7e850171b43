"""ACLs and filters as parts of Kafka's messages, and back."""

from __future__ import annotations

from typing import Any

from kafkawire import protocol
from kafkawire.model.acls.bindings import (
    OPERATION_OF,
    PATTERN_TYPE_OF,
    PERMISSION_TYPE_OF,
    RESOURCE_TYPE_OF,
    AclBinding,
    AclBindingFilter,
    PatternType,
    ResourceType,
)


def deleted_acl(acl: protocol.DeleteAclsResponse.DeleteAclsMatchingAcl) -> AclBinding:
    """The ACL in an answer that was deleted, or could not be deleted."""
    return AclBinding(
        RESOURCE_TYPE_OF[acl.resource_type],
        acl.resource_name,
        acl.principal,
        OPERATION_OF[acl.operation],
        PERMISSION_TYPE_OF[acl.permission_type],
        acl.host,
        PATTERN_TYPE_OF[acl.pattern_type],
    )


def acl_creation(acl: AclBinding) -> protocol.CreateAclsRequest.AclCreation:
    """An ACL as an item of a protocol.CreateAclsRequest."""
    return protocol.CreateAclsRequest.AclCreation(
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        resource_pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )


def describe_acls_request(wanted: AclBindingFilter, version: int) -> protocol.DescribeAclsRequest:
    """A protocol.DescribeAclsRequest of a version that holds one filter, 0 to 3."""
    return protocol.DescribeAclsRequest(**_filter_fields(wanted, version))


def describe_acls_filter(wanted: AclBindingFilter) -> protocol.DescribeAclsRequest.DescribeAclsFilter:
    """A filter as an item of a protocol.DescribeAclsRequest of version 4 (KIP-888)."""
    return protocol.DescribeAclsRequest.DescribeAclsFilter(**_filter_fields(wanted))


def delete_acls_filter(wanted: AclBindingFilter, version: int) -> protocol.DeleteAclsRequest.DeleteAclsFilter:
    """A filter as an item of a protocol.DeleteAclsRequest."""
    return protocol.DeleteAclsRequest.DeleteAclsFilter(**_filter_fields(wanted, version))


def _filter_fields(wanted: AclBindingFilter, version: int = 4) -> dict[str, Any]:
    """The fields of a filter, which have the same names in all requests.

    Version 0 has no patterns: every name is literal, so that any pattern means these (A15).
    """
    is_literal = version == 0 and wanted.pattern_type is PatternType.ANY
    return {
        "resource_type_filter": wanted.resource_type,
        "resource_name_filter": wanted.resource_name,
        "pattern_type_filter": PatternType.LITERAL if is_literal else wanted.pattern_type,
        "principal_filter": wanted.principal,
        "host_filter": wanted.host,
        "operation": wanted.operation,
        "permission_type": wanted.permission_type,
    }


def lowest_version(acl: AclBinding | AclBindingFilter) -> int:
    """The lowest version of the ACL requests that can express an ACL or a filter (A15)."""
    if acl.resource_type is ResourceType.USER:
        return 3
    return 0 if acl.pattern_type in (PatternType.LITERAL, PatternType.ANY) else 1
