"""CSV of operators' commands is that of ``kafkawire tables``."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

from kafkawire.cli.rows.csv_text import csv_lines
from kafkawire.cli.rows.row import Row
from kafkawire.cli.tables.formats import Format
from kafkawire.cli.tables.writing import write_rows

TEXTS = [
    "",
    "plain",
    'says "no"',
    "two\nlines",
    "a,b",
    "=SUM(A1)",
    "+1",
    "-5.5e-3",
    "-orders",
    "@here",
    "\tindented",
    "\r",
    "\uff1dfull",
    "'quoted",
    "1=2",
    "-",
    "+.5",
    "5-",
]


class TextRow(Row, frozen=True):
    """A row.

    Attributes:
        text: a text.
        number: a number.
        flag: yes or no.
    """

    text: str | None
    number: int | None
    flag: bool


ROWS = [TextRow(text, len(text), bool(text)) for text in TEXTS] + [TextRow(None, None, False)]


@pytest.mark.parametrize("safe", [False, True])
def test_rows_are_written_as_tables_are(safe: bool) -> None:
    columns = {name: [getattr(row, name) for row in ROWS] for name in TextRow.__struct_fields__}
    batch = pa.record_batch(columns)
    stream = io.BytesIO()
    write_rows(Format.CSV, [batch], batch.schema, stream, csv_safe=safe)
    lines = csv_lines(ROWS, TextRow.__struct_fields__, for_spreadsheets=safe)
    assert "".join(f"{line}\n" for line in lines) == stream.getvalue().decode()
