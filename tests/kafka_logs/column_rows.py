"""What columns must say of a message, worked out from its class and its layout."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from kafkawire.columns import MessageColumns, Rows
from kafkawire.layout import StructLayout, Uuid
from kafkawire.wire import DecodeError, Message, Struct
from kafkawire.wire.examples import extreme_instances, random_instance
from kafkawire.wire.laws import same


def row_of(message: Message, version: int) -> dict[str, object]:
    """The fields of a message as Arrow gives them back; None where the version lacks a field."""
    return _row(message, message.layouts().of_version(version))


def taken(rows: Rows, names: Sequence[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """The rows with the names of their columns, and which of them have bad text."""
    count = len(rows)
    arrays, bad_text = rows.take()
    found = pa.RecordBatch.from_arrays(arrays, list(names)).to_pylist() if arrays else [{}] * count
    assert len(found) == count
    return found, bad_text


def _row(struct: Struct, layout: StructLayout) -> dict[str, object]:
    return {
        field.attribute: None if field.presence == "absent" else _value(getattr(struct, field.attribute), field.struct)
        for field in layout.fields
    }


def _value(value: object, struct: StructLayout | None) -> object:
    if isinstance(value, Struct):
        assert struct is not None
        return _row(value, struct)
    if isinstance(value, Uuid):
        return str(value)
    if isinstance(value, tuple):
        return [_value(item, struct) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def check_columns_agree(columns: MessageColumns, version: int, buffer: bytes) -> None:
    """On any bytes columns and class read the same, or both fail; text that is not UTF-8 shows when rows are taken."""
    rows = columns.rows()
    done = rows.extend(version, (buffer,), 0)
    assert done == len(rows)
    found, bad_text = taken(rows, columns.schema.names)
    try:
        message = columns.message.decode(buffer, version)
    except DecodeError as error:
        refused: str | None = error.kind
    else:
        refused = None
        assert same_rows(found, [row_of(message, version)])
    assert done == (refused is None) or (done, refused) == (1, "utf8")
    assert bad_text == ([0] if done and refused else [])
    check_append_agrees(columns, version, buffer)


def check_append_agrees(columns: MessageColumns, version: int, buffer: bytes) -> None:
    """The same with bytes that may follow: there is an end or a DecodeError, and nothing else."""
    rows = columns.rows()
    end = _end_or_refusal(lambda: rows.append(version, buffer, 0))
    assert len(rows) == isinstance(end, int)
    _, bad_text = taken(rows, columns.schema.names)
    expected = _end_or_refusal(lambda: columns.message.decode_from(buffer, 0, version)[1])
    assert end == expected or bad_text == [0]
    assert isinstance(expected, str) or not bad_text


def check_alike_agrees(columns: MessageColumns, version: int, buffers: Sequence[bytes], start: int) -> int:
    """What is read of messages of equal shape is what is read of each alone, whole; the number of such messages."""
    read = 0
    for alike in columns.alike(version, pa.array(buffers, pa.binary()), start, least=1):
        found = pa.RecordBatch.from_arrays(alike.arrays, columns.schema.names).to_pylist()
        found = found or [{}] * len(alike.numbers)
        for number, row in zip(alike.numbers.to_pylist(), found, strict=True):
            assert number is not None
            rows = columns.rows()
            assert rows.extend(version, (buffers[number],), start) == 1
            alone, bad_text = taken(rows, columns.schema.names)
            assert not bad_text
            assert same_rows(alone, [row])
            read += 1
    return read


def _end_or_refusal(read: Callable[[], int]) -> int | str:
    try:
        return read()
    except DecodeError as error:
        return str(error)


def same_rows(left: object, right: object) -> bool:
    """Equality in which not-a-number equals itself."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_rows(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_rows, left, right))
    return same(left, right)


def check_columns(columns: MessageColumns, examples: int = 5, places: int = 20) -> int:
    """Hold the columns of a message to its class at every version; the number of buffers that were tried.

    Each value is damaged in about the given number of places.
    """
    rng = random.Random(20)
    tried = 0
    for version in columns.versions:
        layout = columns.message.layouts().of_version(version)
        corners = extreme_instances(columns.message, layout)
        del corners["default"]
        values = [*corners.values(), *(random_instance(rng, columns.message, layout) for _ in range(examples))]
        octets = [value.encode(version) for value in values]
        rows = columns.rows()
        assert rows.extend(version, [b"--" + value for value in octets], 2) == len(rows) == len(values)
        found, bad_text = taken(rows, columns.schema.names)
        assert not bad_text
        assert same_rows(found, [row_of(value, version) for value in values])
        for whole in octets:
            for at in range(0, len(whole), max(len(whole) // places, 1)):
                check_columns_agree(columns, version, whole[:at])
                check_columns_agree(columns, version, whole[:at] + bytes([rng.randrange(256)]) + whole[at + 1 :])
                tried += 2
    return tried
