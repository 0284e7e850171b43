"""May they? What handlers ask about each request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from kafkawire.broker.plugins.authorizer import Authorizer
from kafkawire.broker.sessions import Session
from kafkawire.model.acls.bindings import CLUSTER_NAME, OPERATIONS_OF_RESOURCES, AclOperation, ResourceType

__all__ = ["CLUSTER_NAME", "Access", "AuthorizedAccess", "UnrestrictedAccess"]

_ASKED_FOR: Final = {kind: operations - {AclOperation.ALL} for kind, operations in OPERATIONS_OF_RESOURCES.items()}


class Access(Protocol):
    """Decides what sessions may do."""

    @property
    def is_restricted(self) -> bool:
        """Whether there is an authorizer; without one there are no ACLs either (A16)."""

    def allows(self, session: Session, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Whether a session may do something with a resource."""

    def allows_on_cluster(self, session: Session, operation: AclOperation) -> bool:
        """Whether a session may do something with the cluster."""

    def allows_on_any(self, session: Session, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Whether it may with at least one resource of a type, were it to exist."""

    def operations(self, session: Session, resource_type: ResourceType, name: str) -> int:
        """All that a session may do with a resource, as the bits of answers: bit n for the operation n (A26).

        Nothing for who may not even ``DESCRIBE`` it.
        """


class UnrestrictedAccess:
    """Everybody may do everything: no authorizer is configured."""

    is_restricted = False

    def allows(self, session: Session, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Yes."""
        return True

    def allows_on_cluster(self, session: Session, operation: AclOperation) -> bool:
        """Yes."""
        return True

    def allows_on_any(self, session: Session, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Yes."""
        return True

    def operations(self, session: Session, resource_type: ResourceType, name: str) -> int:
        """All that the type has."""
        return _bits(_ASKED_FOR[resource_type])


class AuthorizedAccess:
    """Asks an authorizer."""

    is_restricted = True

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def allows(self, session: Session, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """What the authorizer says."""
        return self._authorizer.authorize(session, operation, resource_type, name)

    def allows_on_cluster(self, session: Session, operation: AclOperation) -> bool:
        """What the authorizer says."""
        return self._authorizer.authorize(session, operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def allows_on_any(self, session: Session, operation: AclOperation, resource_type: ResourceType) -> bool:
        """What the authorizer says."""
        return self._authorizer.authorize_by_resource_type(session, operation, resource_type)

    def operations(self, session: Session, resource_type: ResourceType, name: str) -> int:
        """The bits of what the authorizer allows."""
        if not self.allows(session, AclOperation.DESCRIBE, resource_type, name):
            return 0
        asked = _ASKED_FOR[resource_type]
        return _bits(operation for operation in asked if self.allows(session, operation, resource_type, name))


def _bits(operations: Iterable[AclOperation]) -> int:
    return sum(1 << operation for operation in operations)
