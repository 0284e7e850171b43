"""Names of the numbers in records. A number without a name becomes ``UNKNOWN(17)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.model.scram import ScramMechanism


class Names(dict[object, str | None]):
    """The names of an enumeration by number; the name of null is null.

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


class _TransactionState(IntEnum):
    """State of a transaction in the log of its coordinator."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7


MECHANISMS: Final = Names(ScramMechanism)

ENUM_FIELDS: Final[Mapping[tuple[str, str], Names]] = {
    ("AccessControlEntryRecord", "resource_type"): RESOURCE_TYPES,
    ("AccessControlEntryRecord", "pattern_type"): PATTERN_TYPES,
    ("AccessControlEntryRecord", "operation"): OPERATIONS,
    ("AccessControlEntryRecord", "permission_type"): PERMISSIONS,
    ("ConfigRecord", "resource_type"): CONFIG_RESOURCE_TYPES,
    ("UserScramCredentialRecord", "mechanism"): MECHANISMS,
    ("RemoveUserScramCredentialRecord", "mechanism"): MECHANISMS,
    ("TransactionLogValue", "transaction_status"): Names(_TransactionState),
}
"""Names by message and field."""


def enum_names(codes: ArrowArray, names: Names) -> ArrowArray:
    """The names of a column of numbers."""
    distinct = pc.unique(codes)
    texts: ArrowArray = pa.array(names.of(each.as_py() for each in distinct), pa.string())
    return texts.take(pc.index_in(codes, distinct))
