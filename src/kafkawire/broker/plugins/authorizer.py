"""The plug-in interface of authorizers (KIP-504, as far as a broker without zones and audits needs it)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from kafkawire.broker.sessions import Session
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType


class Authorizer(ABC):
    """Decides what sessions may do: ``authorizer.class.name=module:Class``.

    The broker stores the ACLs whatever the authorizer is, passes them to it, and calls ``authorize`` before each
    operation. All methods are called from the broker's event loop and should be quick. If one raises, the request fails
    and nothing is changed.

    Example:
        ```python
        from kafkawire.admin import AclOperation, ResourceType
        from kafkawire.broker import Authorizer, Session


        class ReadOnly(Authorizer):  # authorizer.class.name=authorizers:ReadOnly
            def authorize(
                self, session: Session, operation: AclOperation, resource_type: ResourceType, resource_name: str
            ) -> bool:
                return session.principal.name == "admin" or operation is AclOperation.DESCRIBE
        ```
    """

    def configure(self, properties: Mapping[str, str]) -> None:  # noqa: B027 most need nothing
        """Called once before anything else, with all properties of the broker."""

    @abstractmethod
    def authorize(
        self, session: Session, operation: AclOperation, resource_type: ResourceType, resource_name: str
    ) -> bool:
        """Whether a session may perform an operation on a resource.

        Args:
            session: has the principal, the host and the listener.
            operation: the operation, never ``ALL``.
            resource_type: its type.
            resource_name: its name, ``kafka-cluster`` for the cluster; the resource need not exist.
        """

    def authorize_by_resource_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether a session may perform an operation on at least one resource of a type, existing or not.

        Idempotent producers need this right to write to some topic, or ``IDEMPOTENT_WRITE`` on the cluster.
        """
        return False

    def add_acl(self, acl: AclBinding) -> None:  # noqa: B027 some need no ACLs
        """Called with each ACL at the start, and later with each ACL that is created."""

    def remove_acl(self, acl: AclBinding) -> None:  # noqa: B027 some need no ACLs
        """Called with each ACL that is deleted."""

    def close(self) -> None:  # noqa: B027 most have nothing to close
        """Called when the broker stops."""
