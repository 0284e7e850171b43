"""Writes batches of rows for programs: as JSON, YAML, CSV, Parquet or Arrow. Memory holds one batch."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from io import IOBase
from typing import BinaryIO, Final, Protocol, cast

import msgspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from kafkawire.cli.tables.cells import as_json_lines, as_plain_columns, plain_schema, visible_columns, without_formulas
from kafkawire.cli.tables.formats import Format


def write_rows(
    form: Format, batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: BinaryIO, *, csv_safe: bool = False
) -> None:
    """Write rows for programs.

    Args:
        form: how. JSON, JSON lines and YAML have the same values: times in ISO 8601, bytes in base64. CSV has a line of
            headings; null is an empty cell, an empty text is two quotes, nested values are JSON. Parquet and Arrow have
            all types unchanged.
        batches: the rows.
        schema: their columns.
        stream: where to write. On a terminal, control characters in CSV are escaped.
        csv_safe: whether texts in CSV that are formulas in a spreadsheet begin with ``'``.
    """
    match form:
        case Format.CSV:
            with pyarrow.csv.CSVWriter(stream, plain_schema(schema)) as writer:
                for batch in batches:
                    plain = as_plain_columns(batch)
                    safe = without_formulas(plain) if csv_safe else plain
                    writer.write(visible_columns(safe) if stream.isatty() else safe)
        case Format.PARQUET:
            _write_batches(pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd"), batches)
        case Format.ARROW:
            _write_batches(pa.ipc.new_file(cast("IOBase", stream), schema), batches)
        case Format.ARROWS:
            _write_batches(pa.ipc.new_stream(cast("IOBase", stream), schema), batches)
        case Format.JSON:
            _write_json(batches, stream)
        case Format.YAML:
            _write_yaml(batches, stream)
        case _:
            for batch in batches:
                stream.write(as_json_lines(batch))


class _BatchWriter(Protocol):
    def write_batch(self, batch: pa.RecordBatch) -> None: ...


def _write_batches(opened: AbstractContextManager[_BatchWriter], batches: Iterable[pa.RecordBatch]) -> None:
    with opened as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_json(batches: Iterable[pa.RecordBatch], stream: BinaryIO) -> None:
    """An array with an object on each line. A run that fails leaves it without its end, so that no reader takes it."""
    between = b"[\n"
    for batch in batches:
        if batch.num_rows:
            lines = as_json_lines(batch).removesuffix(b"\n")
            stream.write(between + lines.replace(b"\n", b",\n"))  # JSON escapes those in texts
            between = b",\n"
    stream.write(b"[]\n" if between == b"[\n" else b"\n]\n")


_YAML_WIDTH: Final = 1 << 20
"""Characters of a line: texts are not folded."""


def _write_yaml(batches: Iterable[pa.RecordBatch], stream: BinaryIO) -> None:
    """A document for each row, with the values that JSON has."""
    import yaml  # noqa: PLC0415 only this form needs it

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    decoder = msgspec.json.Decoder()
    for batch in batches:
        rows = map(decoder.decode, as_json_lines(batch).splitlines())
        text = yaml.dump_all(
            rows, Dumper=dumper, explicit_start=True, sort_keys=False, allow_unicode=True, width=_YAML_WIDTH
        )
        stream.write(text.encode())
