"""The decisions of Kafka's StandardAuthorizer (A25), from an index of the ACLs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.plugins.authorizer import Authorizer
from kafkawire.broker.sessions import Session
from kafkawire.model.acls.bindings import (
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import EVERYBODY, applies, applies_since_4_4, deciding_acl
from kafkawire.model.acls.hosts import is_within

_ANY_NAME = "hardcode"
"""The name that Kafka uses to check a right that does not depend on the name."""


class StandardAuthorizer(Authorizer):
    """Allows an operation that an ACL allows and none denies.

    Args:
        acls: the broker's current ACLs.
        super_users: principals that may do everything, ``User:admin``.
        allow_everyone_if_no_acl: whether everyone may use a resource without ACLs.
        ranges: whether ACLs of a range of addresses have clients, as in Kafka 4.4 (A23).
    """

    def __init__(
        self, acls: AclsImage, super_users: Collection[str], *, allow_everyone_if_no_acl: bool, ranges: bool = False
    ) -> None:
        self._acls = acls
        self._super_users = frozenset(super_users)
        self._allow_everyone_if_no_acl = allow_everyone_if_no_acl
        self._ranges = ranges
        self._applies = applies_since_4_4 if ranges else applies

    def authorize(
        self, session: Session, operation: AclOperation, resource_type: ResourceType, resource_name: str
    ) -> bool:
        """The decision of A25."""
        principal = str(session.principal)
        if principal in self._super_users:
            return True
        concerning = self._acls.of_principals(resource_type, resource_name, (principal, EVERYBODY))
        deciding = deciding_acl(acl for acl in concerning if self._applies(acl, principal, operation, session.host))
        if deciding is not None:
            return deciding.permission_type == AclPermissionType.ALLOW
        return self._allow_everyone_if_no_acl and not self._acls.concerns(resource_type, resource_name)

    def authorize_by_resource_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether a name is allowed and not denied by an ACL that matches it; implied operations do not count."""
        if self.authorize(session, operation, resource_type, _ANY_NAME):
            return True
        principal = str(session.principal)
        relevant = [
            acl
            for acl in self._acls.of_type(resource_type, {principal, EVERYBODY})
            if self._has_host(acl.host, session.host) and acl.operation in (operation, AclOperation.ALL)
        ]
        return _allows_some_name(relevant)

    def _has_host(self, of_acl: str, host: str) -> bool:
        return is_within(host, of_acl) if self._ranges else of_acl in (host, WILDCARD)


def _allows_some_name(acls: Iterable[AclBinding]) -> bool:
    allowed: set[tuple[PatternType, str]] = set()
    denied: set[tuple[PatternType, str]] = set()
    for acl in acls:
        names = denied if acl.permission_type == AclPermissionType.DENY else allowed
        names.add((acl.pattern_type, acl.resource_name))
    everything = (PatternType.LITERAL, WILDCARD)
    if everything in denied:
        return False
    return everything in allowed or any(_is_allowed(pattern, denied) for pattern in allowed)


def _is_allowed(allowed: tuple[PatternType, str], denied: set[tuple[PatternType, str]]) -> bool:
    pattern_type, name = allowed
    if pattern_type == PatternType.LITERAL and allowed in denied:
        return False
    return not any((PatternType.PREFIXED, name[:length]) in denied for length in range(1, len(name) + 1))
