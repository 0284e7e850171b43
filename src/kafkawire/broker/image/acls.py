"""ACLs by the ids that the log gives them."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.admin.acls import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kafkawire.wire import Message

__all__ = ["AclsImage"]


class AclsImage:
    """All ACLs.

    Attributes:
        by_id: id to ACL.
        ids: ACL to id; an ACL is there once.
    """

    def __init__(self) -> None:
        self.by_id: dict[bytes, AclBinding] = {}
        self.ids: dict[AclBinding, Uuid] = {}

    def apply(self, record: AccessControlEntryRecord) -> None:
        """An ACL is added."""
        acl = AclBinding(
            resource_type=ResourceType(record.resource_type),
            resource_name=record.resource_name,
            pattern_type=PatternType(record.pattern_type),
            principal=record.principal,
            host=record.host,
            operation=AclOperation(record.operation),
            permission_type=AclPermissionType(record.permission_type),
        )
        self.by_id[record.id] = acl
        self.ids[acl] = record.id

    def apply_remove(self, record: RemoveAccessControlEntryRecord) -> None:
        """An ACL is gone."""
        del self.ids[self.by_id.pop(record.id)]

    def records(self) -> Iterator[Message]:
        """The records that add all this again."""
        for acl, acl_id in self.ids.items():
            yield AccessControlEntryRecord(
                id=acl_id,
                resource_type=acl.resource_type,
                resource_name=acl.resource_name,
                pattern_type=acl.pattern_type,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission_type,
            )
