"""Cells of Arrow as text: times in ISO 8601, bytes in base64, nested values as JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final, cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.cli.rows.json_text import visible_json
from kafkawire.cli.visible import visible
from kafkawire.logs.spreadsheets import FORMULA, NUMBER, QUOTE

_ENCODER: Final = msgspec.json.Encoder()
_AFTER_DATE: Final = len("2026-03-01")
_AFTER_TIME: Final = len("2026-03-01 12:30:00.000250")
_KEPT_ROW_CLASSES: Final = 8
_MANY_OCTETS: Final = 4 * 1024 * 1024
_WORDS: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def as_json_lines(batch: pa.RecordBatch) -> bytes:
    """A JSON object for each row, each on a line of its own."""
    row_class = _row_class(tuple(batch.schema.names))
    columns = [_json_cells(column) for column in batch.columns]
    return visible_json(_ENCODER.encode_lines(list(map(row_class, *columns))))


def _json_cells(column: pa.Array[Any]) -> list[object]:
    """Cells for JSON, which has finite numbers only: the others are words, as in Kafka's own JSON."""
    cells: list[object] = _with_texts_for_times(column).to_pylist()
    if pa.types.is_floating(column.type) and pc.all(pc.is_finite(column)).as_py() is False:
        return [_WORDS.get(str(cell), cell) for cell in cells]
    return cells


@lru_cache(_KEPT_ROW_CLASSES)
def _row_class(names: tuple[str, ...]) -> Callable[..., object]:
    """A class for the cells of a row: takes a fraction of the time of a dict for each row."""
    attributes = {f"cell_{number}": name for number, name in enumerate(names)}
    return msgspec.defstruct("Row", list(attributes), rename=attributes, gc=False)


def as_plain_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows with columns of numbers, texts and booleans only."""
    columns = [_plain(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=plain_schema(batch.schema))


def without_formulas(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Plain columns with ``'`` before texts that are formulas in a spreadsheet; numbers are not."""
    return _with_texts(batch, _quoted_formulas)


def visible_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Plain columns with all control characters escaped."""
    return _with_texts(batch, lambda column: pa.array(map(_visible_cell, column.to_pylist()), pa.string()))


def _with_texts(batch: pa.RecordBatch, changed: Callable[[pa.StringArray], pa.StringArray]) -> pa.RecordBatch:
    columns = [changed(column) if isinstance(column, pa.StringArray) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _quoted_formulas(column: pa.StringArray) -> pa.StringArray:
    formula = pc.match_substring_regex(column, FORMULA)
    number = pc.match_substring_regex(column, NUMBER)
    quoted = pc.replace_substring_regex(column, r"^", QUOTE, max_replacements=1)
    return cast("pa.StringArray", pc.if_else(pc.and_not(formula, number), quoted, column))


def _visible_cell(cell: str | None) -> str | None:
    return None if cell is None else visible(cell)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the batches of ``as_plain_columns``."""
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return kind if number else pa.string()


def _plain(column: pa.Array[Any]) -> pa.Array[Any]:
    if pa.types.is_timestamp(column.type):
        return _with_texts_for_times(column)
    if pa.types.is_nested(column.type):
        return pa.array([None if cell is None else _json(cell) for cell in column.to_pylist()], pa.string())
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return pa.array([_base64(cell) for cell in _octets(column)], pa.binary()).cast(pa.string())
    return column.cast(_plain_type(column.type))


def _with_texts_for_times(column: pa.Array[Any]) -> pa.Array[Any]:
    """Times are in UTC: without the zone, Arrow needs no time zone database. Years have four digits."""
    if not pa.types.is_timestamp(column.type):
        return column
    printed: pa.Array[Any] = column.cast(pa.timestamp("us")).cast(pa.string())
    with_t = pc.utf8_replace_slice(printed, _AFTER_DATE, _AFTER_DATE + 1, "T")
    return pc.utf8_replace_slice(with_t, _AFTER_TIME, _AFTER_TIME, "Z")


def _json(cell: object) -> str:
    return _ENCODER.encode(cell).decode()


def _octets(column: pa.Array[Any]) -> Iterable[bytes | pa.Buffer | None]:
    """The cells of a column of bytes; large ones are not copied, to save memory."""
    if column.nbytes < _MANY_OCTETS:
        cells: list[bytes | None] = column.to_pylist()
        return cells
    return (cell.as_buffer() for cell in column)


def _base64(cell: bytes | pa.Buffer | None) -> bytes | None:
    return None if cell is None else base64.b64encode(cell)
