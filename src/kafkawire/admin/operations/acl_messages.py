"""ACLs and filters as parts of Kafka's messages, and back."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from kafkawire import protocol
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.tolerant_enums import MembersByCode
from kafkawire.wire.engine import native_engine, natively_if_possible

if TYPE_CHECKING:
    from types import ModuleType

    from kafkawire._native import Rows

_RESOURCE_TYPES = MembersByCode(ResourceType)
_PATTERN_TYPES = MembersByCode(PatternType)
_OPERATIONS = MembersByCode(AclOperation)
_PERMISSION_TYPES = MembersByCode(AclPermissionType)
_NAME = attrgetter("resource_name")
_TYPE = attrgetter("resource_type")


def described_acls(resources: Iterable[protocol.DescribeAclsResponse.DescribeAclsResource]) -> list[AclBinding]:
    """The ACLs of an answer, which groups them by resource, sorted: brokers promise no order (A21).

    Equal principals and hosts become one object, so that each further ACL costs about a hundred bytes.
    """
    of_answer = tuple(resources)
    return natively_if_possible(
        lambda: _described_acls(of_answer),
        _native_rows(native_engine()),
        lambda rows: cast("list[AclBinding]", rows.of(of_answer)),
    )


@cache
def _native_rows(engine: ModuleType | None) -> Rows | None:
    """Makes the ACLs in the native engine, if that is in use and knows the form of the classes."""
    if engine is None:
        return None
    response = protocol.DescribeAclsResponse
    try:
        return cast(
            "Rows",
            engine.Rows(AclBinding, response.DescribeAclsResource, "acls", response.AclDescription, _SOURCES),
        )
    except ValueError:
        return None


_SOURCES = (
    ("resource_type", False, "resource_type", _RESOURCE_TYPES),
    ("resource_name", False, "resource_name", None),
    ("principal", True, "principal", None),
    ("operation", True, "operation", _OPERATIONS),
    ("permission_type", True, "permission_type", _PERMISSION_TYPES),
    ("host", True, "host", None),
    ("pattern_type", False, "pattern_type", _PATTERN_TYPES),
)
"""Each attribute of an ACL, whether it is of the ACL in the answer or of its resource, and the members of numbers."""


def _described_acls(resources: Iterable[protocol.DescribeAclsResponse.DescribeAclsResource]) -> list[AclBinding]:
    shared: dict[str, str] = {}
    share = shared.setdefault
    acls: list[AclBinding] = []
    append = acls.append
    types, names = set[int](), set[str]()
    for resource in resources:
        resource_type = _RESOURCE_TYPES[resource.resource_type]
        pattern_type = _PATTERN_TYPES[resource.pattern_type]
        name = resource.resource_name
        types.add(resource.resource_type)
        for acl in resource.acls:
            names.add(name)
            principal, host = acl.principal, acl.host
            append(
                AclBinding(
                    resource_type,
                    name,
                    share(principal, principal),
                    _OPERATIONS[acl.operation],
                    _PERMISSION_TYPES[acl.permission_type],
                    share(host, host),
                    pattern_type,
                )
            )
    # Texts and numbers are compared faster than ACLs, of which then most or all are in order.
    acls.sort(key=_NAME)
    if len(types) > 1:
        acls.sort(key=_TYPE)
    if len(names) < len(acls):
        acls.sort()
    return acls


def deleted_acl(acl: protocol.DeleteAclsResponse.DeleteAclsMatchingAcl) -> AclBinding:
    """The ACL in an answer that was deleted, or could not be deleted."""
    return AclBinding(
        _RESOURCE_TYPES[acl.resource_type],
        acl.resource_name,
        acl.principal,
        _OPERATIONS[acl.operation],
        _PERMISSION_TYPES[acl.permission_type],
        acl.host,
        _PATTERN_TYPES[acl.pattern_type],
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
