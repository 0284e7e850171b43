"""Names of what the logs have as numbers. A number without a name is kept: ``UNKNOWN(17)``."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResourceType

__all__ = ["CONFIG_RESOURCE_TYPES", "OPERATIONS", "PATTERN_TYPES", "PERMISSIONS", "RESOURCE_TYPES", "Names"]


class Names(dict[object, str | None]):
    """The names of an enumeration by their numbers; null has none.

    Args:
        enumeration: the class.
    """

    def __init__(self, enumeration: type[IntEnum]) -> None:
        super().__init__({member.value: name for name, member in enumeration.__members__.items()})
        self[None] = None

    def of(self, codes: Iterable[object]) -> list[str | None]:
        """The names of a column of numbers."""
        return [self[code] for code in codes]

    def __missing__(self, code: object) -> str | None:
        return f"UNKNOWN({code})"


RESOURCE_TYPES = Names(ResourceType)
PATTERN_TYPES = Names(PatternType)
OPERATIONS = Names(AclOperation)
PERMISSIONS = Names(AclPermissionType)
CONFIG_RESOURCE_TYPES = Names(ConfigResourceType)
