"""Errors of ACLs and filters, found before anything is sent, with the broker's error code.

A broker does not always answer for one item: an ``ANY`` in an ACL fails the whole request, an ``UNKNOWN`` closes the
connection. So these checks protect the other items of a call.
"""

from __future__ import annotations

from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    OPERATIONS_OF_RESOURCES,
    WILDCARD,
    AclBinding,
    AclBindingFilter,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.hosts import address_as_brokers_write, is_address_of_client, is_range
from kafkawire.model.tolerant_enums import TolerantEnum
from kafkawire.protocol.errors import InvalidRequestError
from kafkawire.wire.kafka_errors import ApiError


def refusal_of_binding(acl: AclBinding) -> ApiError | None:
    """Why a broker refuses to create an ACL, or None if it does not (A12, A18, A22)."""
    for part in (acl.resource_type, acl.pattern_type, acl.operation, acl.permission_type):
        if part.is_unknown or part.name == "ANY" or part is PatternType.MATCH:
            return InvalidRequestError(f"An ACL cannot be created with {_said(part)}.")
    if not acl.resource_name:
        return InvalidRequestError("Invalid empty resource name")
    if acl.resource_type is ResourceType.CLUSTER and acl.resource_name != CLUSTER_NAME:
        return InvalidRequestError(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if ":" not in acl.principal:
        return InvalidRequestError(f"The principal {acl.principal!r} has no type; write it as User:name.")
    return None


def reason_without_effect(acl: AclBinding) -> ApiError | None:
    """Why an ACL that a broker stores never has an effect there, or None if it may (A22, A23, A24).

    A range of addresses has one at brokers since 4.4.
    """
    if acl.principal.startswith(":"):
        return InvalidRequestError(f"The principal {acl.principal!r} has an empty type; write it as User:name.")
    if acl.host != WILDCARD and not is_address_of_client(acl.host) and not is_range(acl.host):
        written = address_as_brokers_write(acl.host)
        reason = "is neither an address nor a range of addresses nor *; names match no client."
        if written is not None:
            reason = f"matches no client, since brokers compare texts; write it as {written}."
        return InvalidRequestError(f"The host {acl.host!r} {reason}")
    if acl.resource_type is ResourceType.USER and acl.pattern_type is PatternType.LITERAL:
        name = acl.resource_name
        if name != WILDCARD and ":" not in name:
            return InvalidRequestError(f"The user {name!r} has no type, and matches no one; write it as User:{name}.")
    possible = OPERATIONS_OF_RESOURCES.get(acl.resource_type)
    if possible is not None and acl.operation not in possible:
        names = ", ".join(operation.name for operation in sorted(possible))
        return InvalidRequestError(
            f"The operation {acl.operation} does not exist on a {acl.resource_type}; {names} do."
        )
    return None


def refusal_of_filter(wanted: AclBindingFilter) -> ApiError | None:
    """Why a filter cannot be sent, or None if it can (A11, A13)."""
    for part in (wanted.resource_type, wanted.pattern_type, wanted.operation, wanted.permission_type):
        if part.is_unknown:
            return InvalidRequestError(f"A filter cannot have {_said(part)}.")
    return None


def _said(part: TolerantEnum) -> str:
    return f"{type(part).__name__}.{part}"
