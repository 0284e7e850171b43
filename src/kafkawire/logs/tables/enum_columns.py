"""Fields of records that are numbers of an enumeration, and the names of the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.tables.code_names import (
    CONFIG_RESOURCE_TYPES,
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSIONS,
    RESOURCE_TYPES,
    Names,
)
from kafkawire.model.scram import ScramMechanism

__all__ = ["ENUM_FIELDS", "enum_names"]


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


_MECHANISMS: Final = Names(ScramMechanism)

ENUM_FIELDS: Final[Mapping[tuple[str, str], Names]] = {
    ("AccessControlEntryRecord", "resource_type"): RESOURCE_TYPES,
    ("AccessControlEntryRecord", "pattern_type"): PATTERN_TYPES,
    ("AccessControlEntryRecord", "operation"): OPERATIONS,
    ("AccessControlEntryRecord", "permission_type"): PERMISSIONS,
    ("ConfigRecord", "resource_type"): CONFIG_RESOURCE_TYPES,
    ("UserScramCredentialRecord", "mechanism"): _MECHANISMS,
    ("RemoveUserScramCredentialRecord", "mechanism"): _MECHANISMS,
    ("TransactionLogValue", "transaction_status"): Names(_TransactionState),
}
"""The names by message and field."""


def enum_names(codes: ArrowArray, names: Names) -> ArrowArray:
    """The names of a column of numbers; a number without name is ``UNKNOWN(17)``."""
    distinct = pc.unique(codes)
    texts: ArrowArray = pa.array(names.of(each.as_py() for each in distinct), pa.string())
    return texts.take(pc.index_in(codes, distinct))
