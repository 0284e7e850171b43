"""Every table of the catalogue as a terminal shows it, at three widths: six of its rows, and the notes below."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pytest
from rich.cells import cell_len

from kafkawire.cli.rows.terminal_table import notes_of
from kafkawire.cli.tables.terminal import terminal_table
from kafkawire.logs import ReadOptions, read_table, table_named, table_names

HERE = Path(__file__).parent
LOGS = "tests/fixtures/kafka-4.3.1/logs"
ROWS = 6


def shown(name: str, width: int) -> str:
    """A table with rows from all of its logs, so that columns differ as they do in whole tables."""
    options = ReadOptions(cluster="Wl3fPXUxQzKPcGKWUzVBnA")
    table = table_named(name, options)
    rows = pa.Table.from_batches(read_table(name, LOGS, options), schema=table.schema)
    places = sorted({number * (rows.num_rows - 1) // (ROWS - 1) for number in range(ROWS)}) if rows.num_rows else []
    made = terminal_table(rows.take(pa.array(places, pa.int64())).to_batches(), table.schema, table.roles)
    text = io.StringIO()
    made.print(text, width=width)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert all(cell_len(line) <= width for line in lines), name
    return "\n".join((f"# {name}", "", *lines, *notes_of(made, "-o wide shows all columns, --columns chooses"), "", ""))


@pytest.mark.parametrize("width", [80, 100, 200])
def test_tables_fit_and_show_what_matters_first(
    width: int, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE.parents[2])
    text = "\n".join(shown(name, width) for name in table_names())
    golden = HERE / f"{width}.txt"
    if update_golden:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8"), "pytest tests/golden --update-golden writes the file; read its diff"
