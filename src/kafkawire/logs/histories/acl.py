"""``acl_history``: ACLs. The record of a removal has only the id; the rest comes from the record that added the ACL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import pyarrow as pa

from kafkawire.layout import Uuid
from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.intervals import Interval, Ledger, Moment
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.tables.enum_names import OPERATIONS, PATTERN_TYPES, PERMISSIONS, RESOURCE_TYPES
from kafkawire.logs.times import TIMESTAMP
from kafkawire.model.acls.bindings import (
    OPERATION_OF,
    PATTERN_TYPE_OF,
    PERMISSION_TYPE_OF,
    RESOURCE_TYPE_OF,
    AclBinding,
)
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kafkawire.wire import Message

_VALUES = 7


class _AclReducer:
    """Adds and removes ACLs by their id, as plain bytes: Python's garbage collector would visit each Uuid."""

    RECORDS: ClassVar[frozenset[str]] = frozenset({"AccessControlEntryRecord", "RemoveAccessControlEntryRecord"})

    def __init__(self) -> None:
        self.ledger: Ledger[bytes] = Ledger()

    def apply(self, record: Message, at: Moment) -> None:
        """See ``StateReducer``."""
        match record:
            case AccessControlEntryRecord():
                values = (
                    record.principal,
                    record.host,
                    record.resource_type,
                    record.resource_name,
                    record.pattern_type,
                    record.operation,
                    record.permission_type,
                )
                self.ledger.put(bytes(record.id), values, at)
            case RemoveAccessControlEntryRecord():
                self.ledger.drop(record.id, at)


def acl_of(values: Sequence[Any]) -> AclBinding:
    """The ACL of the values of an interval: the texts and numbers of its record."""
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


def _cells(intervals: Sequence[Interval[bytes]]) -> Columns:
    principals, hosts, resource_types, names, pattern_types, operations, permissions = value_columns(
        [interval.values for interval in intervals], _VALUES
    )
    return {
        "acl_id": [str(Uuid(interval.key)) for interval in intervals],
        "principal": principals,
        "host": hosts,
        "resource_type": RESOURCE_TYPES.of(resource_types),
        "resource_type_code": resource_types,
        "resource_name": names,
        "pattern_type": PATTERN_TYPES.of(pattern_types),
        "pattern_type_code": pattern_types,
        "operation": OPERATIONS.of(operations),
        "operation_code": operations,
        "permission": PERMISSIONS.of(permissions),
        "permission_code": permissions,
    }


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
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
        "from_offset": pa.int64(),
        "to_offset": pa.int64(),
        "added_by_snapshot": pa.bool_(),
    },
    lambda _: _AclReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("principal", "operation", "resource_name", "permission", "resource_type"),
    details=("acl_id",),
)
