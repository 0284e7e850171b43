"""A part of what a change of ACLs means."""

from __future__ import annotations

from enum import Enum

import msgspec

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.acls.hosts import is_within
from kafkawire.model.acls.regions import Exemption, ResourceRegion
from kafkawire.model.selections import Selection


class RightChange(Enum):
    """Whether a right is gained or lost."""

    GAINED = "gained"
    LOST = "lost"


class AclEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that principals gain or lose: each of them, each operation, from each host, on each resource.

    Attributes:
        change: whether they gain or lose them.
        principals: who.
        operations: which operations, in Kafka's order.
        resource_type: type of the resources.
        resources: their names.
        hosts: from which hosts.
        exemptions: principals that do not, on some of the resources.
    """

    change: RightChange
    principals: Selection
    operations: tuple[AclOperation, ...]
    resource_type: ResourceType
    resources: tuple[ResourceRegion, ...]
    hosts: Selection
    exemptions: tuple[Exemption, ...] = ()

    def concerns(
        self, principal: str, operation: AclOperation, resource_type: ResourceType, resource_name: str, host: str
    ) -> bool:
        """Whether it is about one right."""
        return (
            resource_type == self.resource_type
            and operation in self.operations
            and principal in self.principals
            and any(is_within(host, name) for name in self.hosts.names) is not self.hosts.others
            and any(resource_name in region for region in self.resources)
            and not any(
                principal == exemption.principal and any(resource_name in region for region in exemption.resources)
                for exemption in self.exemptions
            )
        )


class AclOpening(msgspec.Struct, frozen=True, kw_only=True):
    """Resources that get their first ACL or lose their last one, where those without ACLs are open to everyone.

    Attributes:
        is_open: whether they have no ACLs after the change.
        resource_type: type of the resources.
        resources: their names.
    """

    is_open: bool
    resource_type: ResourceType
    resources: tuple[ResourceRegion, ...]
