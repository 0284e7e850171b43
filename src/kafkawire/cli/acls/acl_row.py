"""An ACL as commands print it and read it again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final, TypeVar

import msgspec

from kafkawire.admin import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.cli.items import given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words
from kafkawire.model.tolerant_enums import TolerantEnum
from kafkawire.near_names import did_you_mean

E = TypeVar("E", bound=TolerantEnum)

_NOUNS: Final[Mapping[type[TolerantEnum], str]] = {
    AclOperation: "operation",
    AclPermissionType: "permission",
    PatternType: "type of pattern",
    ResourceType: "type of resource",
}


class AclRow(Row, frozen=True):
    """An ACL.

    Attributes:
        principal: ``User:alice``; ``User:*`` for every user.
        permission: ALLOW or DENY.
        operation: the operation.
        resource_type: type of the resources.
        resource_name: their name, a prefix of their names, or ``*``.
        pattern_type: LITERAL or PREFIXED.
        host: address of the client, or ``*``.
    """

    principal: str
    permission: str
    operation: str
    resource_type: str
    resource_name: str
    pattern_type: str
    host: str

    ROLES: ClassVar = {
        "permission": ColumnRole.KEY,
        "operation": ColumnRole.KEY,
        "resource_type": ColumnRole.KEY,
        "resource_name": ColumnRole.KEY,
    }

    @property
    def row_name(self) -> str:
        """The ACL in words."""
        return item_in_words(_binding(self))

    @classmethod
    def of(cls, acl: AclBinding) -> AclRow:
        """The row of an ACL."""
        return cls(
            acl.principal,
            str(acl.permission_type),
            str(acl.operation),
            str(acl.resource_type),
            acl.resource_name,
            str(acl.pattern_type),
            acl.host,
        )


class AclItem(msgspec.Struct, frozen=True):
    """An ACL in a file: the fields of a row, of which some have a default."""

    principal: str
    operation: str
    resource_type: str
    resource_name: str
    permission: str = "ALLOW"
    pattern_type: str = "LITERAL"
    host: str = "*"


def acls_in(file: Path) -> list[AclBinding]:
    """The ACLs of a file, each once: rows that ``acls list`` prints as JSON or YAML.

    Raises:
        CommandError: the file is malformed.
    """
    return list(dict.fromkeys(map(_binding, given_items(file, AclItem, lambda name: name))))


def _binding(item: AclItem | AclRow) -> AclBinding:
    return AclBinding(
        parsed("resource_type", ResourceType, item.resource_type),
        item.resource_name,
        item.principal,
        parsed("operation", AclOperation, item.operation),
        parsed("permission", AclPermissionType, item.permission),
        item.host,
        parsed("pattern_type", PatternType, item.pattern_type),
    )


def parsed(option: str, enumeration: type[E], text: str) -> E:
    """The member that a text names.

    Raises:
        CommandError: it names none.
    """
    try:
        return enumeration.parse(text)
    except ValueError:
        names = [name for name in enumeration.__members__ if name != "UNKNOWN"]
        remedy = did_you_mean(text, names) or f"give one of {', '.join(names)}"
        message = f"{option}: there is no {_NOUNS[enumeration]} {text!r}; {remedy}"
        raise CommandError(message, ExitCode.USAGE) from None
