"""Writes batches of rows as CSV, JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

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
        form: JSON lines (bytes in base64, times in ISO 8601), CSV (with a line of headings; null is an empty cell, an
            empty text is two quotes, nested values are JSON) or Parquet (unchanged).
        batches: the rows.
        schema: their columns.
        stream: where to write. On a terminal, control characters in CSV are escaped.
        csv_safe: whether texts in CSV that are formulas in a spreadsheet begin with ``'``.
    """
    match form:
        case Format.PARQUET:
            with pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(batch)
        case Format.CSV:
            with pyarrow.csv.CSVWriter(stream, plain_schema(schema)) as writer:
                for batch in batches:
                    plain = as_plain_columns(batch)
                    safe = without_formulas(plain) if csv_safe else plain
                    writer.write(visible_columns(safe) if stream.isatty() else safe)
        case _:
            for batch in batches:
                stream.write(as_json_lines(batch))
