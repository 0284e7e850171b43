"""The expected columns of messages, worked out from the class and the layout of each message."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from tests.made.example_messages import extreme_instances, random_instance

from kafkawire.columns import MessageColumns
from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout
from kafkawire.protocol.record_registries import (
    GROUP_COORDINATOR_RECORDS,
    METADATA_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    STORAGE_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from kafkawire.wire import DecodeError, Message, Struct
from kafkawire.wire.laws import same

_COORDINATORS: Final = (GROUP_COORDINATOR_RECORDS, SHARE_COORDINATOR_RECORDS, TRANSACTION_COORDINATOR_RECORDS)

RECORD_NAMES: Final = sorted(
    {*METADATA_RECORDS.values(), *STORAGE_RECORDS.values()}
    | {name for types in _COORDINATORS for each in types.values() for name in (each.key, each.value)}
)
"""The messages of all records of Kafka's own logs."""


def row_of(message: Message, version: int) -> dict[str, object]:
    """The fields of a message as Arrow gives them back; None where the version lacks a field."""
    return _row(message, message.layouts().of_version(version))


def rows(columns: MessageColumns, arrays: Sequence[Any], count: int) -> list[dict[str, Any]]:
    """The rows of columns, with the names of the fields; Arrow cannot count the rows of a message without fields."""
    found = pa.RecordBatch.from_arrays(list(arrays), columns.schema.names).to_pylist() if arrays else [{}] * count
    assert len(found) == count
    return found


def _row(struct: Struct, layout: StructLayout) -> dict[str, object]:
    return {
        field.attribute: None if field.presence == "absent" else _value(getattr(struct, field.attribute), field)
        for field in layout.fields
    }


def _value(value: object, field: FieldLayout) -> object:
    if isinstance(value, Struct):
        assert field.struct is not None
        return _row(value, field.struct)
    if isinstance(value, tuple):
        return [_value(item, field) for item in value]
    if field.struct is None and FIELD_TYPES[field.type].arrow == "string" and value is not None:
        return str(value)
    return bytes(value) if isinstance(value, memoryview) else value


def check_decoded(columns: MessageColumns, version: int, buffers: Sequence[bytes | None], start: int) -> int:
    """Encoded messages become the columns of what the class reads in each of them; returns how many it can read."""
    octets = pa.array([b"before", *buffers, None], pa.binary()).slice(1, len(buffers))
    found = columns.decode(version, octets, start)
    assert [array.type for array in found.arrays] == columns.schema.types
    nothing = dict.fromkeys(columns.schema.names)
    expected, inexact, read = [], [], 0
    for row, buffer in enumerate(buffers):
        try:
            message, end = (None, 0) if buffer is None else columns.message.decode_from(buffer, start, version)
        except DecodeError:
            message, end = None, -1
        expected.append(nothing if message is None else row_of(message, version))
        read += message is not None
        if buffer is not None and end != len(buffer):
            inexact.append(row)
    assert same_rows(rows(columns, found.arrays, len(buffers)), expected if found.arrays else [{}] * len(buffers))
    assert list(found.inexact) == inexact
    for array in found.arrays:
        array.validate(full=True)
    return read


def same_rows(left: object, right: object) -> bool:
    """Equality in which not-a-number equals itself."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_rows(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_rows, left, right))
    return same(left, right)


def check_messages(columns: MessageColumns, version: int, messages: Sequence[Message]) -> None:
    """The columns of messages have what the messages have, and the types of the schema."""
    decoded = [columns.message.decode(message.encode(version), version) for message in messages]
    arrays = columns.arrays(version, decoded)
    assert [array.type for array in arrays] == columns.schema.types
    assert same_rows(rows(columns, arrays, len(messages)), [row_of(message, version) for message in messages])


def check_columns(columns: MessageColumns, examples: int = 5) -> int:
    """Compare the columns of a message with its class at every version; the number of messages that were tried.

    Extreme and random messages are turned into columns, as objects and as bytes.
    """
    rng = random.Random(20)
    tried = 0
    for version in columns.message.VERSIONS:
        layout = columns.message.layouts().of_version(version)
        corners = extreme_instances(columns.message, layout)
        del corners["default"]
        values = [*corners.values(), *(random_instance(rng, columns.message, layout) for _ in range(examples))]
        check_messages(columns, version, values)
        check_decoded(columns, version, [b"--" + value.encode(version) for value in values], 2)
        tried += len(values)
    return tried
