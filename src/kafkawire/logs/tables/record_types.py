"""What kind of record a record is, by the numbers in front of it, and its name."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from kafkawire.logs.registry import RecordRegistry
from kafkawire.records.control_records import ControlRecordType
from kafkawire.wire import DecodeError
from kafkawire.wire.varint import read_uvarint

__all__ = ["FRAME_VERSION", "read_metadata_frame", "record_type_names", "snake_case", "upper_snake_case"]

FRAME_VERSION: Final = 1
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LARGEST: Final = 32767


def snake_case(name: str) -> str:
    """``AccessControlEntry`` as ``access_control_entry``."""
    return _WORD.sub("_", name).lower()


@cache
def upper_snake_case(name: str) -> str:
    """``AccessControlEntryRecord`` as ``ACCESS_CONTROL_ENTRY_RECORD``, as Kafka's tools print it."""
    return _WORD.sub("_", name).upper()


def record_type_names(registry: RecordRegistry) -> tuple[str, ...]:
    """What column ``record_type`` of table ``records`` may say, but for numbers without name."""
    coordinators = (each.name for types in registry.coordinators.values() for each in types.values())
    named = map(upper_snake_case, (*registry.metadata.values(), *coordinators))
    return (*named, *(kind.name for kind in ControlRecordType))


def read_metadata_frame(value: bytes) -> tuple[int, int, int]:
    """Record id, record version and where the message begins in the value of a metadata record.

    Raises:
        DecodeError: kind ``truncated`` or ``varint``; kind ``version`` if that of the frame is not known.
    """
    if len(value) >= 3 and value[0] == FRAME_VERSION and value[1] < 128 and value[2] < 128:
        return value[1], value[2], 3
    name = "metadata record"
    frame_version, at = read_uvarint(value, 0, message_name=name)
    if frame_version != FRAME_VERSION:
        raise DecodeError("version", f"frame version {frame_version}; 1 is known", message_name=name, offset=0)
    number, at = read_uvarint(value, at, message_name=name)
    version, end = read_uvarint(value, at, message_name=name)
    if number > _LARGEST or version > _LARGEST:
        raise DecodeError("version", f"record {number}, version {version}", message_name=name, offset=at)
    return number, version, end
