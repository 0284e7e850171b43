"""Fields of records that are numbers of an enumeration, and the names of the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.admin.acls import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.admin.config_resources import ConfigResourceType
from kafkawire.admin.scram import ScramMechanism

__all__ = ["ENUM_FIELDS", "enum_names"]


def _names(enumeration: type[IntEnum]) -> Mapping[int, str]:
    return MappingProxyType({member.value: name for name, member in enumeration.__members__.items()})


_TRANSACTION_STATES: Final[Mapping[int, str]] = MappingProxyType(
    dict(
        enumerate(
            (
                "EMPTY",
                "ONGOING",
                "PREPARE_COMMIT",
                "PREPARE_ABORT",
                "COMPLETE_COMMIT",
                "COMPLETE_ABORT",
                "DEAD",
                "PREPARE_EPOCH_FENCE",
            )
        )
    )
)

ENUM_FIELDS: Final[Mapping[tuple[str, str], Mapping[int, str]]] = {
    ("AccessControlEntryRecord", "resource_type"): _names(ResourceType),
    ("AccessControlEntryRecord", "pattern_type"): _names(PatternType),
    ("AccessControlEntryRecord", "operation"): _names(AclOperation),
    ("AccessControlEntryRecord", "permission_type"): _names(AclPermissionType),
    ("ConfigRecord", "resource_type"): _names(ConfigResourceType),
    ("UserScramCredentialRecord", "mechanism"): _names(ScramMechanism),
    ("RemoveUserScramCredentialRecord", "mechanism"): _names(ScramMechanism),
    ("TransactionLogValue", "transaction_status"): _TRANSACTION_STATES,
}
"""The names by message and field."""


def enum_names(codes: pa.Array, names: Mapping[int, str]) -> pa.Array:
    """The names of a column of numbers; a number without name is ``UNKNOWN(17)``."""
    distinct = pc.unique(codes)
    texts = [None if each is None else names.get(each, f"UNKNOWN({each})") for each in distinct.to_pylist()]
    return pa.array(texts, pa.string()).take(pc.index_in(codes, distinct))
