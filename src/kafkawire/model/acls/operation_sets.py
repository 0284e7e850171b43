"""Sets of operations as bits: which operations an ACL allows or denies where brokers check them (A24, A25)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from kafkawire.model.acls.bindings import (
    OPERATIONS_OF_RESOURCES,
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import IMPLIED_BY
from kafkawire.model.acls.hosts import is_address_of_client, is_range

CHECKED: Final[Mapping[ResourceType, int]] = {
    resource_type: sum(1 << operation for operation in operations if operation is not AclOperation.ALL)
    for resource_type, operations in OPERATIONS_OF_RESOURCES.items()
}
"""The operations that brokers check on each type of resource."""


def bits_of(acl: AclBinding) -> int:
    """The checked operations that an ACL allows or denies, implied ones too; 0 if it has no effect by itself."""
    if acl.host != WILDCARD and not is_address_of_client(acl.host) and not is_range(acl.host):
        return 0
    return _bits(acl.resource_type, acl.operation, acl.permission_type)


@cache
def _bits(resource_type: ResourceType, operation: AclOperation, permission_type: AclPermissionType) -> int:
    checked = CHECKED.get(resource_type, 0)
    if operation == AclOperation.ALL:
        return checked
    bits = 1 << operation if 0 <= operation < 16 else 0
    if permission_type == AclPermissionType.ALLOW:
        bits |= sum(1 << implied for implied, by in IMPLIED_BY.items() if operation in by)
    return bits & checked


def operations_in(bits: int) -> tuple[AclOperation, ...]:
    """The operations of a set, in Kafka's order."""
    return tuple(AclOperation(code) for code in range(bits.bit_length()) if bits >> code & 1)
