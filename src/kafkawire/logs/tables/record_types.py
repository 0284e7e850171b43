"""Names of record types."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from kafkawire.logs.registry import RecordRegistry
from kafkawire.records.control_records import ControlRecordType

_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """``AccessControlEntry`` as ``access_control_entry``."""
    return _WORD.sub("_", name).lower()


@cache
def upper_snake_case(name: str) -> str:
    """``AccessControlEntryRecord`` as ``ACCESS_CONTROL_ENTRY_RECORD``, as Kafka's tools print it."""
    return _WORD.sub("_", name).upper()


def record_type_names(registry: RecordRegistry) -> tuple[str, ...]:
    """The values of column ``record_type`` of table ``records``, except for unknown numbers."""
    coordinators = (each.name for types in registry.coordinators.values() for each in types.values())
    named = map(upper_snake_case, (*registry.metadata.values(), *coordinators))
    return (*named, *(kind.name for kind in ControlRecordType))
