"""Cells as text: times in ISO 8601 UTC with microseconds, bytes in base64, nested values as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
import yaml
from hypothesis import given, strategies as st

from kafkawire.cli.tables.cells import as_json_lines
from kafkawire.cli.tables.formats import Format
from kafkawire.cli.tables.writing import write_rows

TYPES: Mapping[str, pa.DataType] = {
    "time": pa.timestamp("us", tz="UTC"),
    "name": pa.string(),
    "raw": pa.binary(),
    "replicas": pa.list_(pa.int32()),
    "parts": pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("raw", pa.binary())])),
    "count": pa.int64(),
    "rate": pa.float64(),
    "tombstone": pa.bool_(),
}
SCHEMA = pa.schema(TYPES)
ROWS = [
    {
        "time": datetime(2026, 3, 1, 12, 30, 0, 250, tzinfo=UTC),
        "name": 'a "quoted", name\nin two lines',
        "raw": b"\x00\xff",
        "replicas": [1, 2],
        "parts": [{"key": "k", "raw": b"\x01"}],
        "count": 2**62,
        "rate": 0.5,
        "tombstone": True,
    },
    dict.fromkeys(SCHEMA.names),
    {**dict.fromkeys(SCHEMA.names), "name": "", "time": datetime(2026, 3, 1, tzinfo=UTC)},
]


def written(form: Format, schema: pa.Schema = SCHEMA) -> bytes:
    stream = io.BytesIO()
    write_rows(form, [pa.RecordBatch.from_pylist(ROWS, schema=schema)] * 2, schema, stream)
    return stream.getvalue()


def test_json_has_nan_and_infinity_as_kafka_spells_them() -> None:
    rates = pa.record_batch({"rate": [float("nan"), float("inf"), float("-inf"), -0.0, None, 0.5]})
    cells = [json.loads(line)["rate"] for line in as_json_lines(rates).splitlines()]
    assert cells == ["NaN", "Infinity", "-Infinity", 0, None, 0.5]


def test_json_lines_have_one_object_per_line() -> None:
    lines = [json.loads(line) for line in written(Format.JSONL).decode().splitlines()]
    assert len(lines) == 6
    assert lines[0] == {
        "time": "2026-03-01T12:30:00.000250Z",
        "name": 'a "quoted", name\nin two lines',
        "raw": "AP8=",
        "replicas": [1, 2],
        "parts": [{"key": "k", "raw": "AQ=="}],
        "count": 2**62,
        "rate": 0.5,
        "tombstone": True,
    }
    assert lines[1] == dict.fromkeys(SCHEMA.names)
    assert lines[2]["time"] == "2026-03-01T00:00:00.000000Z"


def test_csv_has_headings_and_distinguishes_null_from_an_empty_string() -> None:
    text = written(Format.CSV).decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == SCHEMA.names
    assert rows[1] == [
        "2026-03-01T12:30:00.000250Z",
        'a "quoted", name\nin two lines',
        "AP8=",
        "[1,2]",
        '[{"key":"k","raw":"AQ=="}]',
        str(2**62),
        "0.5",
        "true",
    ]
    assert text.splitlines()[3] == ",,,,,,,"
    assert text.splitlines()[4] == '"2026-03-01T00:00:00.000000Z","",,,,,,'
    assert len(rows) == 7


def test_parquet_preserves_types_and_values() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(written(Format.PARQUET)))
    assert table.schema.equals(SCHEMA)
    assert table.to_pylist() == ROWS * 2


def test_json_is_one_document_and_yaml_one_for_each_row() -> None:
    lines = [json.loads(line) for line in written(Format.JSONL).decode().splitlines()]
    assert json.loads(written(Format.JSON)) == lines
    assert list(yaml.safe_load_all(written(Format.YAML))) == lines


def test_a_run_that_fails_leaves_json_without_its_end() -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist(ROWS, schema=SCHEMA)
        raise OSError

    stream = io.BytesIO()
    with pytest.raises(OSError):  # noqa: PT011 the test raises it
        write_rows(Format.JSON, failing(), SCHEMA, stream)
    with pytest.raises(json.JSONDecodeError):
        json.loads(stream.getvalue())


@given(st.lists(st.text(), max_size=4))
def test_every_text_survives_yaml(texts: list[str]) -> None:
    batch = pa.record_batch({"text": pa.array([text.encode("utf-8", "replace").decode() for text in texts])})
    stream = io.BytesIO()
    write_rows(Format.YAML, [batch.cast(pa.schema({"text": pa.string()}))], batch.schema, stream)
    read = list(yaml.safe_load_all(stream.getvalue().decode()))
    assert read == batch.cast(pa.schema({"text": pa.string()})).to_pylist()


@pytest.mark.parametrize(("form", "read"), [(Format.ARROW, pa.ipc.open_file), (Format.ARROWS, pa.ipc.open_stream)])
def test_arrow_is_unchanged(form: Format, read: Callable[[bytes], Any]) -> None:
    table = read(written(form)).read_all()
    assert table.schema.equals(SCHEMA)
    assert table.to_pylist() == ROWS * 2


@pytest.mark.parametrize("form", [each for each in Format if not each.is_for_people])
def test_every_format_can_hold_a_table_without_rows(form: Format) -> None:
    stream = io.BytesIO()
    write_rows(form, [], SCHEMA, stream)
    match form:
        case Format.CSV:
            assert stream.getvalue() == b",".join(f'"{name}"'.encode() for name in SCHEMA.names) + b"\n"
        case Format.PARQUET:
            assert pyarrow.parquet.read_schema(io.BytesIO(stream.getvalue())).equals(SCHEMA)
        case Format.ARROW:
            assert pa.ipc.open_file(stream.getvalue()).schema.equals(SCHEMA)
        case Format.ARROWS:
            assert pa.ipc.open_stream(stream.getvalue()).schema.equals(SCHEMA)
        case Format.JSON:
            assert json.loads(stream.getvalue()) == []
        case _:
            assert stream.getvalue() == b""
