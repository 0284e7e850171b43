"""May they? What handlers ask about each request."""

from __future__ import annotations

from typing import Final, Protocol

from kafkawire.admin.acls import AclOperation, ResourceType
from kafkawire.broker.sessions import Session

__all__ = ["CLUSTER_NAME", "Access", "UnrestrictedAccess"]

CLUSTER_NAME: Final = "kafka-cluster"
"""The name of the one resource of type CLUSTER."""


class Access(Protocol):
    """Decides what sessions may do."""

    def allows(self, session: Session, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Whether a session may do something with a resource."""

    def allows_on_any(self, session: Session, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Whether it may with at least one resource of a type, were it to exist."""


class UnrestrictedAccess:
    """Everybody may do everything: no authorizer is configured."""

    def allows(self, session: Session, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Yes."""
        return True

    def allows_on_any(self, session: Session, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Yes."""
        return True
