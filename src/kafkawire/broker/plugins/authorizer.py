"""What decides who may do what (KIP-504, as far as a broker without zones and audits needs it)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from kafkawire.broker.sessions import Session
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType

__all__ = ["Authorizer"]


class Authorizer(ABC):
    """Decides what sessions may do: ``authorizer.class.name=module:Class``.

    The broker keeps the ACLs whatever the authorizer is, tells it of them, and asks it before it does anything.
    All methods are called from the broker's event loop and should be quick. If one raises, the request fails and
    nothing of it is done.
    """

    def configure(self, properties: Mapping[str, str]) -> None:  # noqa: B027 most need nothing
        """Called once before anything else, with all properties of the broker."""

    @abstractmethod
    def authorize(
        self, session: Session, operation: AclOperation, resource_type: ResourceType, resource_name: str
    ) -> bool:
        """Whether a session may do something with a resource.

        Args:
            session: whose principal asks, from which host, on which listener.
            operation: one that is asked for, never ``ALL``.
            resource_type: its type.
            resource_name: its name, ``kafka-cluster`` for the cluster; the resource needs not exist.
        """

    def authorize_by_resource_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether it may with at least one resource of a type, were it to exist; no if it is not known.

        Idempotent producers start with either this right to write some topic or ``IDEMPOTENT_WRITE`` on the cluster.
        """
        return False

    def add_acl(self, acl: AclBinding) -> None:  # noqa: B027 some need no ACLs
        """An ACL is there: at the start each one, later each that is created."""

    def remove_acl(self, acl: AclBinding) -> None:  # noqa: B027 some need no ACLs
        """An ACL is gone."""

    def close(self) -> None:  # noqa: B027 most have nothing to let go of
        """The broker stops."""
