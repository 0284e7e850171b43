"""``acl_history``: ACLs. The record of a removal has only the id; the rest comes from the record that added the ACL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns import MessageColumns
from kafkawire.logs.folding.columns import Columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment, Values
from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.metadata_decoder import ENCODED, FRAME_SIZE, Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.folding.row_ledger import RowLedger
from kafkawire.logs.tables.decoded_messages import decode_messages
from kafkawire.logs.tables.enum_names import OPERATIONS, PATTERN_TYPES, PERMISSIONS, RESOURCE_TYPES, enum_names
from kafkawire.model.acls.bindings import (
    OPERATION_OF,
    PATTERN_TYPE_OF,
    PERMISSION_TYPE_OF,
    RESOURCE_TYPE_OF,
    AclBinding,
)
from kafkawire.protocol import AccessControlEntryRecord

_FIELDS: Final = (
    "principal", "host", "resource_type", "resource_name", "pattern_type", "operation", "permission_type"
)  # fmt: skip
_shown: Final = attrgetter(*_FIELDS)
"""The fields that the table shows, besides the id."""

_ENTRY: Final = MessageColumns(AccessControlEntryRecord)

_Record: TypeAlias = (
    tuple[Literal["AccessControlEntryRecord"], str, bytes] | tuple[Literal["RemoveAccessControlEntryRecord"], str]
)


class _AclReducer:
    """Adds and removes ACLs by their id. An ACL is kept as the bytes of its record."""

    RECORDS: ClassVar[Needed] = {
        "AccessControlEntryRecord": ("id", ENCODED),
        "RemoveAccessControlEntryRecord": ("id",),
    }

    OWNERS: ClassVar[Owners] = {"AccessControlEntryRecord": "id", "RemoveAccessControlEntryRecord": "id"}

    def __init__(self) -> None:
        self.ledger: Ledger[str] = RowLedger(_is_same, _entries, "id")

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "AccessControlEntryRecord", acl_id, encoded:
                    self.ledger.put(acl_id, encoded, at)
                case "RemoveAccessControlEntryRecord", acl_id:
                    self.ledger.drop(acl_id, at)

    def apply_columns(self, columns: pa.RecordBatch, times: pa.Int64Array, offsets: pa.Int64Array) -> None:
        """See ``ColumnReducer``. A removal has no encoded record."""
        ids, *encoded = columns.columns
        values = encoded[0] if encoded else pa.nulls(len(ids), pa.binary())
        self.ledger.change(cast("pa.StringArray", ids), cast("pa.BinaryArray", values), times, offsets)


def acl_of(values: Sequence[Any]) -> AclBinding:
    """The ACL of the texts and numbers of its record, from the principal to the permission type."""
    principal, host, resource_type, name, pattern_type, operation, permission = values
    return AclBinding(
        RESOURCE_TYPE_OF[resource_type],
        name,
        principal,
        OPERATION_OF[operation],
        PERMISSION_TYPE_OF[permission],
        host,
        PATTERN_TYPE_OF[pattern_type],
    )


def binding_of(encoded: bytes) -> AclBinding:
    """The ACL of an interval."""
    return acl_of(_shown(_entry(encoded)))


def _entry(encoded: bytes) -> AccessControlEntryRecord:
    return AccessControlEntryRecord.decode(encoded[FRAME_SIZE:], encoded[FRAME_SIZE - 1])


def _is_same(held: Values | None, values: Values) -> bool:
    """Whether two records have the same ACL. Bytes may differ in the version, and in what no field has."""
    if not isinstance(held, bytes) or not isinstance(values, bytes):
        return False
    return held == values or _shown(_entry(held)) == _shown(_entry(values))


def _cells(intervals: IntervalColumns[str]) -> Columns:
    values = cast("pa.RecordBatch | Sequence[bytes | None]", intervals.values)
    entries = values if isinstance(values, pa.RecordBatch) else _entries(pa.array(values, pa.binary()))
    return {
        "acl_id": intervals.keys,
        "principal": entries["principal"],
        "host": entries["host"],
        "resource_type": enum_names(entries["resource_type"], RESOURCE_TYPES),
        "resource_type_code": entries["resource_type"],
        "resource_name": entries["resource_name"],
        "pattern_type": enum_names(entries["pattern_type"], PATTERN_TYPES),
        "pattern_type_code": entries["pattern_type"],
        "operation": enum_names(entries["operation"], OPERATIONS),
        "operation_code": entries["operation"],
        "permission": enum_names(entries["permission_type"], PERMISSIONS),
        "permission_code": entries["permission_type"],
    }


def _entries(encoded: pa.BinaryArray) -> pa.RecordBatch:
    """The columns of records; null where there is none."""
    versions = pc.binary_slice(encoded, FRAME_SIZE - 1, FRAME_SIZE).dictionary_encode()
    frames = [(version, FRAME_SIZE) for (version,) in cast("list[bytes]", versions.dictionary.to_pylist())]
    found = decode_messages(_ENTRY, encoded, frames, cast("pa.Int32Array", versions.indices))
    return pa.RecordBatch.from_arrays(list(found.arrays), schema=_ENTRY.schema)


HISTORY: Final = MetadataHistory(
    "acl_history",
    "ACLs, with the time during which each existed",
    {
        "acl_id": pa.string(),
        "principal": pa.string(),
        "host": pa.string(),
        "resource_type": pa.string(),
        "resource_type_code": pa.int8(),
        "resource_name": pa.string(),
        "pattern_type": pa.string(),
        "pattern_type_code": pa.int8(),
        "operation": pa.string(),
        "operation_code": pa.int8(),
        "permission": pa.string(),
        "permission_code": pa.int8(),
    },
    lambda _: _AclReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("principal", "operation", "resource_name", "permission", "resource_type"),
    details=("acl_id",),
)
